//! The proof that stands before each file that is written: two replays must agree, the second in another work folder, on
//! other ports, on another day, and with its answers shaken in time. Where they do not, the report names what varied, and
//! the rule that would mend it.

mod date;
mod diagnosis;
mod forms;
mod order;
mod prove;
mod vary;

#[cfg(feature = "record")]
pub(crate) use prove::Proof;
pub(crate) use prove::prove;
