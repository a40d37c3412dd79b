//! Recording: scenarios, the proxy, resumed recordings, the proof, secrets, and durable steps.

pub(crate) mod cassettes;
pub(crate) mod clock;
pub(crate) mod compressed;
mod damaged;
pub(crate) mod dated;
pub(crate) mod durable;
pub(crate) mod durable_agent;
pub(crate) mod encoded_secrets;
pub(crate) mod four_ways;
#[cfg(unix)]
pub(crate) mod full_disk;
mod minted;
pub(crate) mod parallel;
pub(crate) mod places;
pub(crate) mod processes;
pub(crate) mod proof;
pub(crate) mod provider_keys;
pub(crate) mod proxy;
pub(crate) mod recording;
pub(crate) mod relay;
pub(crate) mod relay_tls;
#[cfg(unix)]
pub(crate) mod rerecording;
pub(crate) mod resuming;
pub(crate) mod rounds;
#[cfg(target_os = "linux")]
pub(crate) mod runner_process;
pub(crate) mod secret_ways;
pub(crate) mod secrets;
pub(crate) mod suspects;
pub(crate) mod traced;
pub(crate) mod traces;
pub(crate) mod varying;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    compressed::TESTS,
    durable::TESTS,
    encoded_secrets::TESTS,
    four_ways::TESTS,
    #[cfg(unix)]
    full_disk::TESTS,
    minted::TESTS,
    parallel::TESTS,
    places::TESTS,
    proof::TESTS,
    proxy::TESTS,
    provider_keys::TESTS,
    recording::TESTS,
    relay::TESTS,
    relay_tls::TESTS,
    #[cfg(unix)]
    rerecording::TESTS,
    resuming::TESTS,
    #[cfg(target_os = "linux")]
    runner_process::TESTS,
    secret_ways::TESTS,
    secrets::TESTS,
    suspects::TESTS,
    traced::TESTS,
    traces::TESTS,
];
