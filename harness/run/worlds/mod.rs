//! Worlds: a scenario run again with a fault at each place of its recorded run, of the model, the client, the process or the tools, and what
//! the service does then.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | which worlds a scenario has |
//! | `client` | where the client leaves, comes back or comes a second time, and what it got |
//! | `process` | where the system is killed or a tool fails, and what may be done twice then |
//! | `left` | what a service asked that was never recorded |
//! | `stay` | one run of the scenario on a system that runs already |
//! | `batch` | worlds on a system of their own, and whether it is sick after them |
//! | `judge` | what it did in a world, beside the recorded run |
//! | `matrix` | all worlds of a scenario, in parallel |
//! | `sent` | what a service sent, as far as verdicts compare it |
//! | `verdict` | what the service did, and why |
//! | `table` | the verdicts as lines, which are a golden |
//! | `test` | the trial `NAME::worlds`: the table compared with its golden |
//! | `command` | `retake worlds` |

mod batch;
mod client;
mod command;
mod judge;
mod left;
mod matrix;
mod plan;
mod process;
mod sent;
mod stay;
mod table;
mod test;
mod verdict;

pub(super) use command::run;
pub(super) use test::{accept, has_worlds, name_of, test};

/// The end of the names of trials that run the worlds of a scenario.
pub(crate) const TRIAL: &str = "::worlds";
