//! One run: the project, what is to be done with it, each scenario's run and verdict, and what is written.
//!
//! | file | holds |
//! |---|---|
//! | [`runner`] | the `main` of a suite: what it does, in order |
//! | `action` | what may be asked of a runner; a file each does it: `test`, `record`, `accept`, `audit` |
//! | `policy`, `restart`, `filter` | what may be written; the environment that this needs; which scenarios are wanted |
//! | [`project`] | what all scenarios of a run share: `fixtures`, `declared_secrets`, `commands` that resolve a failure |
//! | `run_log`, `told`, `logged` | the data of a run: what is known of it; its parts; written when it ends |
//! | `slots` | who plays when, and who lingers |
//! | `trial`, `verdict` | one scenario's run; what is to be said of it |
//! | `findings`, `failing`, `second_look`, `advice` | what is wrong with it; why it failed; what is still wrong where a miss is got over; what resolves it |
//! | [`golden`] | insta |
//! | `tools` | recorded calls of tools, executed again |
//! | `proof` | two runs that agree |
//! | `orphans`, `unused_names` | files that belong to no scenario; names of callers that name nobody |

mod accept;
pub(crate) mod action;
mod advice;
mod audit;
pub(crate) mod commands;
mod declared_secrets;
mod failing;
mod filter;
mod findings;
pub(crate) mod fixtures;
pub(crate) mod golden;
mod logged;
mod orphans;
pub(crate) mod policy;
pub(crate) mod project;
pub(crate) mod proof;
#[cfg(feature = "record")]
pub(crate) mod record;
pub(crate) mod restart;
mod run_log;
pub(crate) mod runner;
mod second_look;
mod slots;
mod test;
mod told;
pub(crate) mod tools;
mod trial;
mod unused_names;
pub(crate) mod verdict;
pub(crate) mod waiting;
