//! The proof that stands before each file that is written: two replays must agree, the second in another work folder, on
//! other ports, on another day, and with its answers shaken in time. Where they do not, the report names what varied, and
//! the rule that would mend it.
//!
//! `prove` runs `replays`; where they do not agree, `inquiry` finds in rounds of `diagnosis` and of `tried` rules what varies,
//! and `unproven` reports it. Where it is a pin of the golden alone, `loosening` finds the option that leaves it open; `mend` finds the rules for a single run that missed. Of texts alone: `vary` compares two, by `candidates` of each place, their `context`, the
//! `forms` of what varies and the `order` of items; each gives a `rule`.

mod candidates;
mod context;
mod date;
mod diagnosis;
mod differing;
mod forms;
mod inquiry;
mod loosening;
mod mend;
mod order;
mod prove;
mod replays;
mod rule;
mod tried;
mod unproven;
mod vary;

pub(crate) use mend::{Mend, mend};
pub(crate) use prove::prove;
#[cfg(feature = "record")]
pub(crate) use replays::Proof;
