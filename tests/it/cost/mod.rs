//! What a run costs: in its golden, against a budget, in reports; and mistakes that only cost.

pub(crate) mod estimates;
pub(crate) mod faults;
pub(crate) mod trial;

pub(crate) const TESTS: &[&[crate::Test]] = &[trial::TESTS];

use crate::support::tree::{Tree, project};

/// A project with one of Retake's own scenarios whose golden holds what its calls cost. `cost` is the value of the option; the service
/// makes the mistake `before` while the golden is written.
pub(crate) fn costly(scenario: &str, cost: &str, before: &str) -> Tree {
    let tree = Tree::with_own_suite(&[scenario]);
    let suite = project("scenarios/suite.toml");
    let (_, suite) = suite.split_once("form = \"fail\" }").unwrap();
    tree.write("scenarios/suite.toml", &format!("cost = {cost}\nlinger = \"0ms\"\n{suite}"));
    tree.runner("bare").env("UPDATE_GOLDEN", "1").env("GATEWAY_MUTANT", before).run().exits(0);
    tree
}
