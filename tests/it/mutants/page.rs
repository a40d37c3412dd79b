//! Checks that the scenarios with a page notice the mistakes in the page.

use super::list;
use crate::support::tree::{Tree, project};

tests!(each_mistake_of_the_page_is_noticed);

fn each_mistake_of_the_page_is_noticed() {
    let tree = Tree::with_suite(&project("scenarios/suite.toml"));
    for file in [
        "scenarios/page_answer/scenario.toml",
        "scenarios/page_broken_stream/scenario.toml",
        "scenarios/page_history/scenario.toml",
        "fixtures/whole_run.json",
        "fixtures/page_broken_stream.json",
        "goldens/page_answer.snap",
    ] {
        tree.write(file, &project(file));
    }
    let play = &|mistake: &str| tree.runner("page").env("GATEWAY_MUTANT", mistake).env("CI", "1").run();
    play("none").exits(0);
    let mistakes: Vec<String> = list::read().remove("page").unwrap().into_keys().collect();
    // Each run mostly waits for something that the page does not show.
    for some in mistakes.chunks(3) {
        std::thread::scope(|scope| {
            for mistake in some {
                scope.spawn(move || assert_eq!(play(mistake).code, Some(101), "{mistake}"));
            }
        });
    }
}
