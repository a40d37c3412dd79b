//! Worlds: a scenario run again with a fault at each place of its recorded run, of the model, the client, the process or the tools, and what
//! the service does then.

mod batch;
mod judge;
mod matrix;
mod places;
mod received;
mod sent;
mod stay;
mod table;
mod test;
mod verdict;

pub(super) use test::{accept, has_worlds, name_of, run, test};

/// The end of the names of trials that run the worlds of a scenario.
pub(crate) const TRIAL: &str = "::worlds";
