//! The message about an additional call: one that was made on top of the recorded ones.

use super::difference::Difference;
use super::messages::said_last;
use crate::lookup::Lookup;
use retake_base::cause::CauseKind;

/// Describes additional calls for the first line of a failure. There are `times` of them, and `lookup` is the first one. `place`
/// says where it was made: `before turns[0] (…)`.
pub(super) fn one_more(lookup: &Lookup, times: usize, place: &str) -> Difference {
    let who = lookup.caller.as_ref().map_or_else(|| "the service".to_owned(), |caller| format!("`{caller}`"));
    let often = if times == 1 { "once more".to_owned() } else { format!("{times} more times") };
    let first = if times == 1 { "" } else { "first " };
    let said = said_last(&lookup.conversation);
    Difference::of(CauseKind::CalledAgain, format!("{who} asks {often} than recorded, {first}{place}: {said}")).by(&who)
}
