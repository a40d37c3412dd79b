//! One run: the project, what is to be done with it, each scenario's run and verdict, and what is written.

pub(crate) mod commands;
mod declared_secrets;
mod fixtures;
pub(crate) mod golden;
pub(crate) mod project;
pub(crate) mod proof;
#[cfg(feature = "record")]
pub(crate) mod record;
pub(crate) mod runner;
pub(crate) mod trial;
