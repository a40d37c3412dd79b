//! What users get wrong when they ask for worlds, checks and forks: each mistake is answered with what to write instead, and nothing
//! is left.

use crate::worlds::guide::recorded;

tests! { each_mistake_in_asking_is_answered_and_leaves_nothing,
    each_mistake_in_the_field_worlds_is_answered_with_its_place,
    a_torn_file_of_a_fork_names_the_command_that_removes_it,
}

const ASKED: &[(&[&str], &str)] = &[
    (&["worlds", "poem", "--turn", "9"], "no turn of these scenarios can meet such a fault"),
    (&["worlds", "poem", "--turn", "0"], "0 is not in 1.."),
    (&["worlds", "poem", "--world", "cut-claen"], "did you mean `cut-clean`?"),
    (&["worlds", "peom"], "did you mean `poem`?"),
    (&["fork", "poem", "--from", "1", "--set", "temperature"], "expected FIELD=VALUE"),
    (&["fork", "poem", "--from", "1", "--model", "=gpt"], "expected VALUE, or CALLER=VALUE"),
    (&["fork", "poem", "--from", "1", "--prompt-file", "nowhere.txt"], "nowhere.txt"),
    (&["fork", "poem", "--from", "1", "--times", "0"], "0 is not in 1.."),
    (&["fork", "accept", "poem-1.1"], "there is no fork `poem-1.1`"),
    (&["fork", "sweep", "poem-7"], "there is no fork `poem-7`"),
    (&["check"], "<NAME|FIXTURE>"),
    (&["check", "poem", "--requests", "nowhere.yaml"], "nowhere.yaml"),
];

fn each_mistake_in_asking_is_answered_and_leaves_nothing() {
    let tree = recorded("");
    let before = tree.files();
    for (args, says) in ASKED {
        tree.retake().args(args).run().exits(2).says(&[says]);
    }
    assert_eq!(tree.files(), before);
    assert!(!tree.has(".retake/forks"));
}

fn each_mistake_in_the_field_worlds_is_answered_with_its_place() {
    let tree = recorded("");
    let good = tree.read("scenarios/poem/scenario.toml");
    for (worlds, says) in [
        ("3", "true, false, \"all\", a fault, or a list of faults and families"),
        ("[\"nothin\"]", "did you mean `nothing`?"),
        ("{ off = \"all\" }", "unknown field `off`"),
        ("{ max = 70000 }", "70000"),
    ] {
        tree.write("scenarios/poem/scenario.toml", &format!("worlds = {worlds}\n{good}"));
        tree.retake().args(&["test"]).run().exits(1).says(&["scenarios/poem/scenario.toml:1:", says]);
    }
}

fn a_torn_file_of_a_fork_names_the_command_that_removes_it() {
    let tree = recorded("");
    tree.write(".retake/forks/poem-1/fork.json", "{\n  \"format\": \"retake-fo");
    let accept = tree.retake().args(&["fork", "accept", "poem-1.1"]).run().exits(2);
    accept.says(&["forks/poem-1/fork.json", "not a fork", "to remove all forks: retake fork sweep"]);
    tree.retake().args(&["fork", "sweep"]).run().exits(0).says(&["1 fork removed"]);
}
