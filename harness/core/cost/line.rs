//! What a caller's calls cost as people read it: the line in a golden, the row of a table, how two of them compare.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;

use super::CallerCost;
use crate::key::normalize::regex;
use retake_base::text::{counted, in_thousands};

/// How much more or less input is the same, in percent.
const OF_INPUT: usize = 5;
/// How much more or less of a prefix is the same, in percent of it.
const OF_PREFIX: u64 = 10;

/// The line of a caller in a golden.
const LINE_OF_GOLDEN: &str = r"^(.+?)  (\S+) calls?, (\S+) bytes, (\S+) \+ (\S+) tokens(?:, prefix (\d+) %)?(?:, (ends|varies) at (/.*?))?(?:, (\d+) marked from (/.*))?$";

/// The head of a table of these.
pub const HEAD: [&str; 6] = ["caller", "calls", "tokens read", "written", "a cache keeps", "cost"];

/// A cost as it is written in tables.
pub fn in_money(cost: Option<f64>) -> String {
    cost.map_or("–".to_owned(), |cost| format!("{cost:.4}"))
}

impl Display for CallerCost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [bytes, input, output] = [self.bytes as u64, self.input, self.output].map(in_thousands);
        write!(f, "{}  {}, {bytes} bytes, {input} + {output} tokens", self.caller, counted(self.calls, "call"))?;
        self.prefix.iter().try_for_each(|prefix| write!(f, ", prefix {prefix} %"))?;
        let how = if self.varies { "varies at" } else { "ends at" };
        self.ends.iter().try_for_each(|place| write!(f, ", {how} {place}"))?;
        self.marks.iter().try_for_each(|(calls, place)| write!(f, ", {calls} marked from {place}"))
    }
}

impl CallerCost {
    /// Reads a line; `None` if it is none.
    pub fn parse(line: &str) -> Option<CallerCost> {
        static LINE: LazyLock<Regex> = LazyLock::new(|| regex(LINE_OF_GOLDEN));
        let found = LINE.captures(line)?;
        let text = |nth: usize| found.get(nth).map(|text| text.as_str().to_owned());
        Some(CallerCost {
            caller: text(1)?,
            calls: number(text(2))?,
            bytes: number(text(3))?,
            input: number(text(4))?,
            output: number(text(5))?,
            prefix: number(text(6)),
            varies: text(7).is_some_and(|how| how == "varies"),
            ends: text(8),
            marks: number(text(9)).zip(text(10)),
            ..CallerCost::default()
        })
    }

    /// The row of a table.
    pub fn row(&self) -> [String; 6] {
        let [calls, input, output] = [self.calls as u64, self.input, self.output].map(in_thousands);
        let kept = self.prefix.map_or("–".to_owned(), |percent| format!("{percent} %"));
        [self.caller.clone(), calls, input, output, kept, in_money(self.money)]
    }

    /// Where the prefix ends, between these texts, and how much it is of the calls.
    pub(super) fn in_words(&self, (one, other): &(String, String)) -> String {
        let varies = if self.varies { " and differs from run to run" } else { "" };
        let ends = self.ends.as_ref().map(|place| format!("ends at {place} ({one:?} → {other:?}){varies},"));
        let (ends, kept) = (ends.as_deref().unwrap_or("is"), percent(self.prefix));
        format!("{}: the cacheable prefix {ends} {kept} of {} tokens", self.caller, in_thousands(self.input))
    }

    /// What a run costs beside what a golden says: as there, if it is the same within what is allowed.
    pub fn beside(&self, golden: &[CallerCost]) -> CallerCost {
        golden.iter().find(|was| was.caller == self.caller && sentences(was, self).is_empty()).unwrap_or(self).clone()
    }
}

fn number<N: FromStr>(text: Option<String>) -> Option<N> {
    text?.replace(',', "").parse().ok()
}

/// How what a run costs differs from what a golden says, in sentences.
pub fn differences(golden: &[CallerCost], run: &[CallerCost]) -> Vec<String> {
    let gone = golden.iter().filter(|was| run.iter().all(|is| is.caller != was.caller));
    let gone = gone.map(|was| format!("{}: no call; {} before", was.caller, was.calls));
    let others = run.iter().flat_map(|is| match golden.iter().find(|was| was.caller == is.caller) {
        Some(was) => sentences(was, is),
        None => vec![format!("{}: the golden does not hold what its {} cost", is.caller, counted(is.calls, "call"))],
    });
    others.chain(gone).collect()
}

fn sentences(was: &CallerCost, is: &CallerCost) -> Vec<String> {
    let (caller, calls) = (&is.caller, counted(is.calls, "call"));
    let marked = |cost: &CallerCost| match &cost.marks {
        Some((calls, place)) => format!("{calls} marked for the cache, from {place}"),
        None => "no call is marked for the cache".to_owned(),
    };
    let [kept_before, kept] = [was, is].map(|cost| cost.prefix.unwrap_or_default());
    let is_kept = is.ends == was.ends && kept.abs_diff(kept_before) * 100 <= kept_before * OF_PREFIX + 100;
    let found = [
        // What varies is measured only if the golden says that nothing does.
        (!was.varies && (is.varies || !is_kept)).then(|| format!("{}; {} before", is.words, percent(was.prefix))),
        (was.marks != is.marks).then(|| format!("{caller}: {calls}, {}; {} before", marked(is), marked(was))),
        (was.calls != is.calls).then(|| format!("{caller}: {calls}; {} before", was.calls)),
        (was.bytes.abs_diff(is.bytes) * 100 > was.bytes * OF_INPUT)
            .then(|| format!("{caller}: {} tokens read; {} before", in_thousands(is.input), in_thousands(was.input))),
    ];
    found.into_iter().flatten().collect()
}

fn percent(percent: Option<u64>) -> String {
    percent.map_or("none".to_owned(), |percent| format!("{percent} %"))
}
