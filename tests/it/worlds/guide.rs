//! Follows the page of the guide about worlds: a recorded scenario, a line that says SILENT, and the service mended.

use crate::support::fixtures::{self, turn};
use crate::support::tree::{Tree, undated};

tests! { the_page_about_worlds_ends_with_a_service_that_was_mended }

const PAGE: &str = include_str!("../../../harness/guide/worlds.md");

/// The code blocks of the page in a language, in their order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A project with the page's first service and its recording, and with more fields of the system.
pub(crate) fn recorded(system: &str) -> Tree {
    let (tree, toml) = (Tree::empty(), blocks("toml"));
    tree.write("app.py", blocks("python")[0]);
    tree.write("scenarios/suite.toml", &format!("{}{system}", toml[0]));
    tree.write("scenarios/poem/scenario.toml", toml[1]);
    let poem = turn(None, "Write a poem", "Roses are red, violets are blue, this is for you.");
    fixtures::write(&tree, "poem", vec![poem]);
    tree.retake().args(&["test", "--update"]).run().exits(0);
    tree
}

fn the_page_about_worlds_ends_with_a_service_that_was_mended() {
    let (tree, toml) = (recorded(""), blocks("toml"));
    let [_, mended] = blocks("python")[..] else { panic!("two versions of the service") };
    let golden = tree.read("goldens/poem.snap");

    let scenario = tree.read("scenarios/poem/scenario.toml");
    tree.write("scenarios/poem/scenario.toml", &format!("{}{scenario}", toml[2]));
    let red = tree.retake().args(&["test"]).run().exits(1);
    let [said, table] = blocks("text")[..] else { panic!("what the page shows") };
    red.says(&[said.trim()]);
    tree.retake().args(&["explain", "poem", "--world", "turn1/cut-clean/3"]).run().exits(1);

    let app = tree.read("app.py");
    let (before, rest) = app.split_once("def pieces").unwrap();
    let (_, after) = rest.split_once("class Service").unwrap();
    tree.write("app.py", &format!("{before}{mended}\nclass Service{after}"));
    tree.retake().args(&["test", "--update"]).run().exits(0);
    assert_eq!(undated(&tree.read("goldens/poem.snap")), undated(&golden));
    let committed = tree.read("goldens/worlds/poem.snap");
    assert!(!committed.contains("SILENT"), "{committed}");
    assert!(table.lines().all(|line| committed.contains(line)), "{committed}");
    tree.retake().args(&["test"]).run().exits(0);
}
