//! The proof before a fixture or golden is written: two replays must agree. The second one has another work folder, other ports,
//! another day, and random delays before its answers. If several tool calls were made at once and the ids in events do not tell
//! their order, three more must agree with them. If they disagree, the report names what varies, and a rule or option that allows it.
//!
//! `prove` runs the `replays`, and one more that asks by a `mark` where the model's words go; `told` has what only several runs show, and
//! `agreement` the outcome. If they disagree, `inquiry` finds out what varies, in rounds of a `diagnosis` and a replay with the rules found so far (`tried`), and `unproven` reports it. If only the golden varies, `loosening` finds the option
//! that leaves that place open. `mend` finds rules for calls that missed in a test.
//!
//! The other modules work on texts: `vary` compares two texts and finds a `rule` for each place that differs. For this it uses
//! rule `candidates`, the `context` of the place, known `forms` (dates, ids and so on), and the `order` of items.

mod agreement;
mod candidates;
mod context;
mod diagnosis;
mod forms;
mod inquiry;
mod loosening;
mod mark;
mod mend;
mod order;
mod prove;
mod replays;
mod rule;
mod told;
mod tried;
mod unmoved;
mod unproven;
mod vary;

pub(crate) use agreement::Agreed;
pub(crate) use loosening::Loosening;
pub(crate) use mend::{Mend, mend};
pub(crate) use prove::prove;
pub(crate) use replays::{Proof, await_next_second};
