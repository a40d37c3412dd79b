//! What must never be written: the known forms of secrets, the values of declared variables, and how a text, a JSON
//! body or a stream loses them. Pure, but that `shown` remembers the secrets of this run.
//!
//! Recording scrubs with every known form before a byte reaches a file, and a fixture lists those that fired. Replay
//! scrubs each call by the same functions with exactly those, before its key is computed: a call then has the same key
//! whether it holds the secret or what stands in its place, and a fixture without the list keeps version 1's key.
//!
//! A replacement is never itself a secret of any form, so scrubbing twice is scrubbing once.

mod encoded;
mod environment;
mod forms;
mod scrub;
mod shown;
mod stream;
#[cfg(test)]
mod tests;

pub use environment::Secrets;
pub use scrub::{Fired, Scrub};
pub(crate) use shown::{hide, shown, shown_json};
