//! Secrets, which must never be written: their known forms, the values of declared variables, and how to remove them from a
//! text, a JSON body or a stream. Pure, except that `shown` remembers the secrets of this run.
//!
//! Recording scrubs with every known form before a byte reaches a file, and the fixture lists the forms that fired. Replay
//! scrubs each call with the same functions and exactly the listed forms, before it computes the call's key. So a call has the
//! same key whether it contains the secret or its placeholder, and the keys of a fixture without a list are those of version 1.
//!
//! A placeholder never matches any form itself, so scrubbing twice gives the same result as scrubbing once.

mod base64_run;
mod broken_base64;
mod environment;
mod forms;
mod in_json;
mod likeness;
mod private_key;
mod scrub;
mod shown;
pub(crate) mod stream;
mod suspects;
mod table;
#[cfg(test)]
mod tests;
mod tokens;
mod value;
mod view;

pub use environment::{Secrets, names_secret};
pub(crate) use in_json::change_keys;
pub use scrub::{Fired, Scrub};
pub use shown::{hide, shown, shown_json};
pub use suspects::{Suspected, Suspects};
