//! Which differences follow from earlier ones, as a table. What follows from another difference is not named on the first line.

use super::difference::Difference;
use super::words::fragments;
use retake_base::cause::CauseKind as Kind;

/// One row: a difference of one of the kinds `later` follows from an earlier one of the kinds `earlier`, if this is given.
struct Row {
    earlier: &'static [Kind],
    later: &'static [Kind],
    given: Given,
    #[cfg_attr(not(test), expect(dead_code, reason = "the reason is for readers, and names the row in a test"))]
    why: &'static str,
}

/// What has to be given besides the kinds. All but the last two are about calls of the same caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// Nothing else.
    SameCaller,
    /// The later one lacks tool calls or results.
    LaterLacksTools,
    /// The earlier one does.
    EarlierLacksTools,
    /// Both do.
    BothLackTools,
    /// The same was done to both messages: both were cut at the end.
    SameDone,
    /// Both texts of the later one have the same lines, in another order.
    SameLines,
    /// The words that changed are the same, or occur in the later texts.
    SameWords,
}

/// Messages that are missing.
const CUT: &[Kind] = &[Kind::MessageMissing, Kind::HistoryShortened];
/// Tools that are called in another way.
const OTHER_CALL: &[Kind] = &[Kind::ToolArgument, Kind::ToolName];
/// Any kind.
const AGAIN: &[Kind] = &[Kind::CalledAgain];
const ANY: &[Kind] = &[];

const TABLE: [Row; 17] = [
    row(CUT, CUT, Given::SameCaller, "each later call has the same history"),
    row(&[Kind::MessageExtra], &[Kind::MessageExtra], Given::SameCaller, "each later call has the same history"),
    row(&[Kind::MessageOrder], &[Kind::MessageOrder], Given::SameCaller, "each later call has the same history"),
    row(&[Kind::NoMessages], &[Kind::NoMessages], Given::SameCaller, "no call of the caller has messages"),
    row(&[Kind::ToolCallId], &[Kind::ToolCallId], Given::SameCaller, "each later call has the same history"),
    row(&[Kind::MessageText], &[Kind::MessageText], Given::SameDone, "the same is done to each message"),
    row(&[Kind::MessageType], &[Kind::MessageType], Given::SameDone, "the same is done to each message"),
    row(&[Kind::ToolName], &[Kind::ToolName], Given::BothLackTools, "calls that were lost stay lost"),
    row(OTHER_CALL, &[Kind::ToolResult], Given::SameCaller, "a tool that is called otherwise returns something else"),
    row(OTHER_CALL, CUT, Given::LaterLacksTools, "a tool that is not called returns nothing"),
    row(CUT, &[Kind::ToolCallId], Given::SameCaller, "a result stays behind when its call is missing"),
    row(CUT, &[Kind::ToolResult], Given::EarlierLacksTools, "a tool that is not called returns nothing"),
    row(AGAIN, AGAIN, Given::SameCaller, "a caller that asks more often does so each time"),
    row(AGAIN, &[Kind::MessageExtra], Given::SameCaller, "the additional answer is in the history"),
    row(&[Kind::ToolCallId], &[Kind::ToolResult], Given::SameCaller, "a result of no call is that of no tool"),
    row(&[Kind::MessageOrder], ANY, Given::SameLines, "a text that is made from the messages has their order"),
    row(ANY, ANY, Given::SameWords, "the same change is seen again at another place"),
];

const fn row(earlier: &'static [Kind], later: &'static [Kind], given: Given, why: &'static str) -> Row {
    Row { earlier, later, given, why }
}

/// A text that is shorter than this occurs in others by chance, so finding it there means nothing.
const TELLING: usize = 4;

/// Whether a difference follows from an earlier one.
pub(super) fn follows(earlier: &Difference, later: &Difference) -> bool {
    earlier.cause == later.cause || TABLE.iter().any(|row| row.fits(earlier, later))
}

impl Row {
    fn fits(&self, earlier: &Difference, later: &Difference) -> bool {
        let is_of = |kinds: &[Kind], it: &Difference| kinds.is_empty() || kinds.contains(&it.cause.kind);
        let same_caller = earlier.who == later.who;
        is_of(self.earlier, earlier)
            && is_of(self.later, later)
            && match self.given {
                Given::SameCaller => same_caller,
                Given::LaterLacksTools => same_caller && later.of_tools,
                Given::EarlierLacksTools => same_caller && earlier.of_tools,
                Given::BothLackTools => same_caller && earlier.of_tools && later.of_tools,
                Given::SameDone => same_caller && !later.done.is_empty() && earlier.done == later.done,
                Given::SameLines => lines(&later.recorded) == lines(&later.called),
                Given::SameWords => same_words(earlier, later),
            }
    }
}

/// Returns the lines of a text, sorted.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn same_words(earlier: &Difference, later: &Difference) -> bool {
    if earlier.has_no_text() || later.has_no_text() {
        return false;
    }
    let (before, after) = fragments(&earlier.recorded, &earlier.called);
    // A text that quotes another one may escape its quotation marks, and put other marks around it.
    let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).replace('\\', "");
    let has = |text: &str, part: &str| text.contains(part) || text.replace('\\', "").contains(&bare(part));
    let telling = bare(before).len().max(bare(after).len()) >= TELLING;
    let own = fragments(&later.recorded, &later.called);
    own == (before, after) || (telling && has(&later.recorded, before) && has(&later.called, after))
}

#[cfg(test)]
mod tests;
