//! `cost` in a suite: what goldens hold, what fails, and where it is shown.

use super::costly;
use crate::support::tree::Tree;

tests! {
    a_golden_holds_what_calls_cost_and_a_clock_in_the_prompt_is_named,
    what_varies_is_said_when_a_golden_is_written_and_is_no_failure_then,
    a_budget_names_what_is_beyond_it,
    what_calls_cost_is_shown_in_each_report,
    nothing_is_measured_where_nobody_asks,
    a_cost_that_is_none_is_refused_with_its_place,
}

const NAME: &str = "write_read_file";
const GOLDEN: &str = "goldens/write_read_file.snap";
const SUITE: &str = "scenarios/suite.toml";

/// The lines of the golden's block.
fn block(tree: &Tree) -> String {
    tree.read(GOLDEN).split("\n\n\ncost\n\n").nth(1).unwrap_or_default().to_owned()
}

fn a_golden_holds_what_calls_cost_and_a_clock_in_the_prompt_is_named() {
    let tree = costly(NAME, "true", "none");
    let block = block(&tree);
    let [lead, title] = block.lines().collect::<Vec<_>>()[..] else { panic!("{block}") };
    assert!(lead.starts_with("lead_agent  3 calls, ") && lead.ends_with(" %"), "{lead}");
    assert!(title.starts_with("middleware:title  1 call, ") && title.ends_with(" tokens"), "{title}");
    let run = |mistake: &str| tree.runner("bare").env("CI", "1").env("GATEWAY_MUTANT", mistake).run();
    run("none").exits(0);
    let clock = run("dearer_clock").exits(101);
    let first = clock.all();
    let first = first.lines().find(|line| line.contains("lead_agent: the cacheable prefix")).unwrap().to_owned();
    assert!(first.contains("ends at /messages/0/content (\"…"), "{first}");
    assert!(first.contains("and differs from run to run, ") && first.contains(" tokens; "), "{first}");
    tree.replace(GOLDEN, lead, &lead.replacen("3 calls", "4 calls", 1));
    run("none").exits(101).says(&["lead_agent: 3 calls; 4 before"]);
}

fn what_varies_is_said_when_a_golden_is_written_and_is_no_failure_then() {
    let tree = costly(NAME, "true", "none");
    let update =
        |mistake: &str| tree.runner("bare").env("UPDATE_GOLDEN", "1").env("GATEWAY_MUTANT", mistake).run().exits(0);
    update("dearer_clock")
        .says(&["write_read_file: warning: lead_agent: the cacheable prefix ends at /messages/0/content ("]);
    assert!(block(&tree).contains(", varies at /messages/0/content\n"), "{}", block(&tree));
    let clock = || tree.runner("bare").env("CI", "1").env("GATEWAY_MUTANT", "dearer_clock").run();
    clock().exits(0);
    // A budget counts what it says.
    tree.replace(SUITE, "cost = true", "cost = { cached = \"80%\" }");
    clock().exits(101).says(&["lead_agent: the cacheable prefix ends at /messages/0/content", "; less than 80 %"]);
    tree.replace(SUITE, "cost = { cached = \"80%\" }", "cost = true");
    update("none").never_says("warning");
    assert!(!block(&tree).contains("varies"), "{}", block(&tree));
}

fn a_budget_names_what_is_beyond_it() {
    let tree = costly(NAME, "true", "none");
    let run = |cost: &str| {
        let suite = tree.read(SUITE);
        let (first, rest) = suite.split_once('\n').unwrap();
        assert!(first.starts_with("cost = "));
        tree.write(SUITE, &format!("cost = {cost}\n{rest}"));
        tree.runner("bare").env("CI", "1").run()
    };
    run("{ calls = 4, input = \"2k\", cached = \"10%\" }").exits(0);
    run("{ calls = 3 }").exits(101).says(&["write_read_file: 4 model calls, more than 3", "retake explain --cost"]);
    run("{ input = 100 }").exits(101).says(&[" tokens read, more than 100"]);
    run("{ cached = \"99%\" }").exits(101).says(&["lead_agent: the cacheable prefix is ", "; less than 99 %"]);
    run("{ callers = { lead_agent = { calls = 2 } } }").exits(101).says(&["lead_agent: 3 model calls, more than 2"]);
    run("{ callers = { lead_agent = { input = \"0k\", cached = \"99%\" } } }").exits(101).says(&[
        "lead_agent: ",
        " tokens read, more than 0",
        "; less than 99 %",
    ]);
}

fn what_calls_cost_is_shown_in_each_report() {
    let tree = costly(NAME, "true", "none");
    tree.replace(
        SUITE,
        "cost = true\n",
        "cost = true\nprices = { gpt-4o-mini = { input = 1.0, cached = 0.1, output = 2.0 } }\n",
    );
    tree.runner("bare").env("CI", "1").run().exits(0);
    let shown = tree.retake().args(&["explain", "--cost", NAME]).run().exits(0);
    shown.says(&["write_read_file: what its model calls cost", "caller", "lead_agent", " %  "]);
    let json = tree.retake().args(&["explain", "--json", NAME]).run().exits(0).all();
    assert!(json.contains("\"cost\":") && json.contains("\"caller\": \"lead_agent\""), "{json}");
    tree.retake().args(&["report", "--form", "markdown"]).run().says(&["| `write_read_file` | lead_agent | 3 | "]);
    tree.retake().args(&["report", "--no-open"]).run().exits(0);
    assert!(tree.read(".retake/report.html").contains("What the calls cost"));
}

fn nothing_is_measured_where_nobody_asks() {
    let tree = costly(NAME, "false", "none");
    assert!(!tree.read(GOLDEN).contains("\ncost\n"), "{}", tree.read(GOLDEN));
    tree.runner("bare").env("CI", "1").env("GATEWAY_MUTANT", "dearer_clock").run().exits(0);
    tree.retake().args(&["explain", "--cost", NAME]).run().says(&["what its model calls cost was not measured"]);
    // Who asks for it later is told that the golden lacks it.
    tree.replace(SUITE, "cost = false", "cost = true");
    tree.runner("bare")
        .env("CI", "1")
        .run()
        .exits(101)
        .says(&["lead_agent: the golden does not hold what its 3 calls cost"]);
}

fn a_cost_that_is_none_is_refused_with_its_place() {
    for (cost, says) in [
        ("\"much\"", "true, or a table with `calls`, `input` and `cached`"),
        ("{ input = \"many\" }", "`many` is no number of tokens"),
        ("{ input = -1 }", "a number of tokens is not negative"),
        ("{ cached = \"800%\" }", "`800%` is no share"),
        ("{ cashed = \"80%\" }", "cached"),
    ] {
        let tree = Tree::with_suite(&format!("cost = {cost}\n"));
        tree.runner("bare").run().says(&["scenarios/suite.toml:", says]);
    }
}
