//! The relay: the only place that reaches a provider. It has the providers' keys and speaks TLS, for a recorder in another process
//! that has neither.
//!
//! | file | holds |
//! |---|---|
//! | `start` | the relay as a server on loopback, with a key of its own |
//! | `handler` | a call, passed on; and what the relay answers for itself |
//! | `providers` | the providers: addresses, and how each of them takes its key |
//! | `outward` | connections to providers: certificates, and the machine's proxy |
//! | `answer` | an answer on its way back, while it arrives |
//! | `keys` | the providers' keys, which are removed from what comes back |
//! | `runner` | the runner that records: without a provider's key in its environment |

mod answer;
mod handler;
mod keys;
mod outward;
mod providers;
pub(crate) mod runner;
mod sigv4;
mod start;

pub(crate) use providers::{Upstreams, variables};
pub(crate) use start::{Running, for_https};
