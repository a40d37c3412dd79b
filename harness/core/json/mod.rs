//! JSON as Python's `json` module reads and prints it.
//!
//! Keys are hashes of text that a Python program printed (KEY.md, section 2), so each number has to be printed exactly as
//! Python prints it: integers of any size, `repr` of floats, `-0` as `0`, `1e400` as `Infinity`. `serde_json::Value` does
//! none of this, and its feature `arbitrary_precision` would change how every crate in a user's build handles numbers.

mod error;
mod finite;
mod ordered;
mod parser;
mod parts;
mod printer;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod written;

pub use error::JsonError;
pub use finite::unreadable_number;
pub(crate) use ordered::python_repr_at;
pub use parser::MAX_DEPTH;
pub use parts::Step;
pub use printer::Layout;
pub use text::JsonText;
pub use value::{Json, Object};
pub use written::Written;
