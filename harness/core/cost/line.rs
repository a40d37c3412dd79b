//! The line of a caller in a golden: its text, and how two of them compare.

use std::fmt::{self, Display, Formatter};

use super::CallerCost;
use retake_base::text::{counted, in_thousands};

/// How much more or less input is the same, in percent.
const OF_INPUT: usize = 5;
/// How much more or less of a prefix is the same, in percent of it.
const OF_PREFIX: u64 = 10;

impl Display for CallerCost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (bytes, input, output) =
            (in_thousands(self.bytes as u64), in_thousands(self.input), in_thousands(self.output));
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
        let (caller, fields) = line.split_once("  ")?;
        let mut cost = CallerCost { caller: caller.to_owned(), ..CallerCost::default() };
        for field in fields.split(", ") {
            match field.split(' ').collect::<Vec<_>>()[..] {
                [calls, "call" | "calls"] => cost.calls = number(calls)?,
                [bytes, "bytes"] => cost.bytes = number(bytes)?,
                [input, "+", output, "tokens"] => (cost.input, cost.output) = (number(input)?, number(output)?),
                ["prefix", percent, "%"] => cost.prefix = Some(number(percent)?),
                [calls, "marked", "from", place] => cost.marks = Some((number(calls)?, place.to_owned())),
                _ => {
                    let (how, place) = field.split_once(" at ")?;
                    (cost.varies, cost.ends) = (how == "varies", Some(place.to_owned()));
                }
            }
        }
        Some(cost)
    }

    /// Where the prefix ends, and how much it is of the calls, in words.
    pub fn prefix_in_words(&self) -> String {
        let (one, other) = &self.texts;
        let varies = if self.varies { " and differs from run to run" } else { "" };
        let ends = self.ends.as_ref().map(|place| format!("ends at {place} ({one:?} → {other:?}){varies},"));
        let (ends, kept) = (ends.unwrap_or_else(|| "is".to_owned()), percent(self.prefix));
        format!("{}: the cacheable prefix {ends} {kept} of {} tokens", self.caller, in_thousands(self.input))
    }

    /// What a run costs beside what a golden says: as there, if it is the same within what is allowed.
    #[must_use]
    pub fn beside(self, golden: &[CallerCost]) -> CallerCost {
        match golden.iter().find(|was| was.caller == self.caller) {
            Some(was) if sentences(was, &self).is_empty() => was.clone(),
            _ => self,
        }
    }
}

fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    text.replace(',', "").parse().ok()
}

/// How what a run costs differs from what a golden says, in sentences.
pub fn differences(golden: &[CallerCost], run: &[CallerCost]) -> Vec<String> {
    let of = |all: &'_ [CallerCost], caller: &str| all.iter().position(|cost| cost.caller == caller);
    let gone = golden.iter().filter(|was| of(run, &was.caller).is_none());
    let gone = gone.map(|was| format!("{}: no call; {} before", was.caller, was.calls));
    let others = run.iter().flat_map(|is| match of(golden, &is.caller) {
        Some(at) => sentences(&golden[at], is),
        None => vec![format!("{}: the golden does not hold what its {} cost", is.caller, counted(is.calls, "call"))],
    });
    others.chain(gone).collect()
}

fn sentences(was: &CallerCost, is: &CallerCost) -> Vec<String> {
    let (caller, calls, mut found) = (&is.caller, counted(is.calls, "call"), Vec::new());
    let is_near = |was: u64, is: u64| was.abs_diff(is) * 100 <= was * OF_PREFIX + 100;
    let is_same = was.prefix.zip(is.prefix).map_or(was.prefix == is.prefix, |(was, is)| is_near(was, is));
    // What varies is measured only if the golden says that nothing does.
    if !was.varies && (is.varies || is.ends != was.ends || !is_same) {
        found.push(format!("{}; {} before", is.prefix_in_words(), percent(was.prefix)));
    }
    if was.marks != is.marks {
        let marks = |cost: &CallerCost| {
            let none = || "no call is marked for the cache".to_owned();
            cost.marks
                .as_ref()
                .map_or_else(none, |(marked, place)| format!("{marked} marked for the cache, from {place}"))
        };
        found.push(format!("{caller}: {calls}, {}; {} before", marks(is), marks(was)));
    }
    if was.calls != is.calls {
        found.push(format!("{caller}: {calls}; {} before", was.calls));
    }
    if was.bytes.abs_diff(is.bytes) * 100 > was.bytes * OF_INPUT {
        found.push(format!("{caller}: {} tokens read; {} before", in_thousands(is.input), in_thousands(was.input)));
    }
    found
}

fn percent(percent: Option<u64>) -> String {
    percent.map_or("none".to_owned(), |percent| format!("{percent} %"))
}
