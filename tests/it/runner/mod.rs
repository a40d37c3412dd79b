//! The runner and the command: what they find, print and write.

pub(crate) mod carried;
pub(crate) mod command;
pub(crate) mod discovery;
pub(crate) mod doctor;
pub(crate) mod elsewhere;
pub(crate) mod filters;
pub(crate) mod first_files;
mod first_hour;
pub(crate) mod flags;
pub(crate) mod harness;
pub(crate) mod hundredth;
pub(crate) mod kept;
pub(crate) mod panics;
#[cfg(unix)]
pub(crate) mod probed;
pub(crate) mod routers;
pub(crate) mod time_limits;
pub(crate) mod updating;
#[cfg(unix)]
pub(crate) mod watched;
#[cfg(unix)]
pub(crate) mod whole;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    carried::TESTS,
    command::TESTS,
    discovery::TESTS,
    doctor::TESTS,
    filters::TESTS,
    first_files::TESTS,
    first_hour::TESTS,
    elsewhere::TESTS,
    flags::TESTS,
    harness::TESTS,
    hundredth::TESTS,
    kept::TESTS,
    panics::TESTS,
    #[cfg(unix)]
    probed::TESTS,
    time_limits::TESTS,
    updating::TESTS,
    #[cfg(unix)]
    watched::TESTS,
    #[cfg(unix)]
    whole::TESTS,
];
