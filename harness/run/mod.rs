//! One run of a project: its action, each scenario's trial and verdict, and the files that it writes.
//!
//! | file | contains |
//! |---|---|
//! | [`runner`] | the `main` of a suite |
//! | `action` | the actions of a runner; `test`, `record`, `accept`, `audit`, `check` and `fork` carry them out |
//! | `policy` | what the run may write |
//! | `filter`, `shard` | which scenarios to run; which of them one of several CI jobs runs |
//! | [`project`] | what all scenarios of a run share, with its `fixtures`, `declared_secrets` and `commands` |
//! | `data`, `logged` | the data of runs: made of a run's parts; written when the run ends |
//! | `slots` | which scenario runs when, and which ones linger |
//! | `trial`, `stay`, `verdict` | one scenario's run; what happens on its stage; whether it passed |
//! | `foreign` | what a run says that is not the service's own |
//! | `egress` | what is said about connections that leave the stage |
//! | `findings`, `drifted` | what is wrong with a run; calls that differ from their turns in a check |
//! | `failing` | the failure of a run |
//! | `second_look`, `advice` | a second replay, which answers misses; what resolves the failure |
//! | [`golden`] | goldens, through insta |
//! | `cost` | what the model calls of a scenario cost |
//! | `tools` | scenarios that call recorded tools again |
//! | `proof` | the replays that must agree before a file is written |
//! | `orphans` | files without a scenario, and settings that name an unknown caller |
//! | `interrupt` | the signals that end a recording, or a server |
//! | `waiting` | goldens and fixtures that wait for a decision |
//! | `worlds` | a scenario run with each fault of the model |

mod accept;
pub(crate) mod action;
mod advice;
mod audit;
pub(crate) mod check;
pub(crate) mod commands;
mod cost;
mod data;
mod declared_secrets;
mod drifted;
mod egress;
mod failing;
mod filter;
mod findings;
pub(crate) mod fixtures;
mod foreign;
mod fork;
pub(crate) mod golden;
pub(crate) mod interrupt;
mod logged;
mod orphans;
pub(crate) mod policy;
pub(crate) mod project;
pub(crate) mod proof;
pub(crate) mod record;
pub(crate) mod runner;
mod second_look;
pub(crate) mod shard;
mod slots;
mod stay;
mod test;
mod tool_ids;
pub(crate) mod tools;
mod trial;
pub(crate) mod verdict;
pub(crate) mod waiting;
pub(crate) mod worlds;
