//! JSON as Python's `json` module reads and prints it.
//!
//! Keys are hashes of text that a Python program printed (KEY.md, section 2), so numbers have to survive a read and a
//! print to the byte: integers of any size, `repr` of floats, `-0` as `0`, `1e400` as `Infinity`. `serde_json::Value`
//! keeps none of these, and its `arbitrary_precision` would change number handling for every crate of a user's build.

mod control;
mod error;
mod parser;
mod parts;
mod printer;
mod sorted_map;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod written;

pub use error::JsonError;
pub use parser::MAX_DEPTH;
pub(crate) use parts::Step;
pub use printer::Layout;
pub use text::JsonText;
pub use value::{Json, Object};
pub use written::Written;
