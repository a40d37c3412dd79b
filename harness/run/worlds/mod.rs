//! Worlds: a scenario run again with a fault at each place of its recorded run, of the model, the client, the process or the tools, and what
//! the service does then.
//!
//! | file | contents |
//! |---|---|
//! | `places` | which worlds a scenario has, on each side |
//! | `stay` | one run of the scenario on a system that runs already |
//! | `batch` | worlds on a system of their own, and whether it is sick after them |
//! | `judge` | what it did in a world, beside the recorded run |
//! | `received` | what came to a client that came back, or to two of them |
//! | `matrix` | all worlds of a scenario, in parallel |
//! | `sent` | what a service sent, as far as verdicts compare it |
//! | `verdict` | what the service did, and why |
//! | `table` | the verdicts as lines, which are a golden |
//! | `test` | the trial `NAME::worlds`: the table compared with its golden |
//! | `command` | `retake worlds` |

mod batch;
mod command;
mod judge;
mod matrix;
mod places;
mod received;
mod sent;
mod stay;
mod table;
mod test;
mod verdict;

pub(super) use command::run;
pub(super) use test::{accept, has_worlds, name_of, test};

/// The end of the names of trials that run the worlds of a scenario.
pub(crate) const TRIAL: &str = "::worlds";
