//! What keeps a growing project in order: `retake prune` and `retake rename`.

use crate::support::fixtures::{self, turn};
use crate::support::tree::{SCENARIOS, Tree};

tests! { prune_takes_out_what_no_scenario_asked_for,
    prune_keeps_what_it_knows_nothing_about,
    a_renamed_scenario_keeps_its_recording_its_golden_and_those_who_use_them,
}

const NAME: &str = "write_read_file";
const FIXTURE: &str = "fixtures/write_read_file.json";

fn prune_takes_out_what_no_scenario_asked_for() {
    let tree = Tree::of(&[NAME]);
    fixtures::edit(&tree, NAME, |_| {});
    let sound = tree.read(FIXTURE);
    fixtures::edit(&tree, NAME, |turns| turns.insert(0, turn(Some("old_agent"), "hello?", "Nobody asks this.")));
    let with_more = tree.read(FIXTURE);
    tree.runner("gateway").run().exits(101);
    let told = tree.retake().args(&["prune", "--dry-run"]).run().exits(0);
    told.says(&["would go: 1 turn", "turn 1 by `old_agent`: Nobody asks this."]);
    assert_eq!(tree.read(FIXTURE), with_more);
    tree.retake().arg("prune").env("CI", "1").run().exits(2);
    tree.retake().arg("prune").run().exits(0);
    assert_eq!(tree.read(FIXTURE), sound);
    tree.runner("gateway").run().exits(0);
    // Each scenario of this project asks for all of its recording.
    let all = Tree::of(&SCENARIOS);
    all.runner("gateway").run().exits(0);
    let before = all.files();
    all.retake().arg("prune").run().exits(0);
    assert_eq!(all.files(), before);
}

fn prune_keeps_what_it_knows_nothing_about() {
    let tree = Tree::of(&[NAME]);
    let before = tree.read(FIXTURE);
    let prune = || tree.retake().arg("prune").run().exits(1);
    prune().says(&["kept, since write_read_file has not run here yet: retake test write_read_file"]);
    // A run that broke off has not asked for everything.
    tree.replace("scenarios/write_read_file/scenario.toml", "first = \"metadata\"", "first = \"other\"");
    tree.runner("gateway").run().exits(101);
    prune().says(&["kept, since the last run of write_read_file missed a call or did not come to its end"]);
    assert_eq!(tree.read(FIXTURE), before);
}

fn a_renamed_scenario_keeps_its_recording_its_golden_and_those_who_use_them() {
    let tree = Tree::of(&[NAME, "suggestions"]);
    let text = tree.read("scenarios/write_read_file/scenario.toml");
    tree.scenario("again", &format!("fixture = \"write_read_file\"\n{text}"));
    let golden = tree.read("goldens/write_read_file.snap");
    tree.write("goldens/again.snap", &golden.replace("scenarios/write_read_file/", "scenarios/again/"));
    tree.runner("gateway").run().exits(0);
    tree.retake().args(&["rename", NAME, "suggestions"]).run().exits(2).says(&["this name is taken"]);
    tree.retake().args(&["rename", "write_file", "notes"]).run().exits(2).says(&["did you mean `write_read_file`?"]);
    tree.retake().args(&["rename", NAME, "Notes"]).run().exits(2).says(&["cannot be the name of a scenario"]);
    let rename = || tree.retake().args(&["rename", NAME, "notes"]);
    rename().env("CI", "true").run().exits(2).says(&["renaming with CI set"]);
    tree.write("goldens/write_read_file.snap.new", &golden);
    tree.write("goldens/worlds/write_read_file.snap", &golden);
    rename().run().exits(0).says(&["fixtures/notes.json", "goldens/worlds/notes.snap"]);
    assert!(tree.files().keys().all(|file| !file.contains(NAME)), "{:?}", tree.files().keys());
    assert!(tree.read("scenarios/again/scenario.toml").starts_with("fixture = \"notes\""));
    assert!(tree.read("fixtures/notes.json").contains("\"scenario\": \"notes\""));
    for golden in ["goldens/notes.snap.new", "goldens/worlds/notes.snap"] {
        assert!(tree.read(golden).contains("input_file: scenarios/notes/scenario.toml"), "{golden}");
        tree.remove(golden);
    }
    let run = tree.runner("gateway").run().exits(0);
    assert_eq!(
        run.trials().keys().copied().collect::<Vec<_>>(),
        ["again", "notes", "retake::no_orphans", "suggestions"]
    );
    run.never_says("was recorded for scenario");
}
