//! Recording: scenarios, the proxy, resumed recordings, the proof, secrets, and durable steps.

pub(crate) mod cassettes;
pub(crate) mod compressed;
pub(crate) mod dated;
pub(crate) mod durable;
pub(crate) mod durable_agent;
pub(crate) mod encoded_secrets;
#[cfg(unix)]
pub(crate) mod full_disk;
pub(crate) mod parallel;
pub(crate) mod proof;
pub(crate) mod proxy;
pub(crate) mod recording;
#[cfg(unix)]
pub(crate) mod rerecording;
pub(crate) mod resuming;
pub(crate) mod rounds;
pub(crate) mod secrets;
pub(crate) mod suspects;
pub(crate) mod traces;
pub(crate) mod varying;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    compressed::TESTS,
    durable::TESTS,
    encoded_secrets::TESTS,
    #[cfg(unix)]
    full_disk::TESTS,
    parallel::TESTS,
    proof::TESTS,
    proxy::TESTS,
    recording::TESTS,
    #[cfg(unix)]
    rerecording::TESTS,
    resuming::TESTS,
    secrets::TESTS,
    suspects::TESTS,
    traces::TESTS,
];
