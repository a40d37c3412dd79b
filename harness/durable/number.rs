//! The numbers of runs and steps.

use std::fmt;
use std::str::FromStr;

/// The number of a step: the number of its run, and its position in that run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StepNumber {
    pub(super) run: String,
    pub(super) position: usize,
}

impl StepNumber {
    /// Whether a run is inside this step, at any depth.
    pub(super) fn holds(&self, run: &str) -> bool {
        run.strip_prefix(&self.to_string()).is_some_and(|inside| inside.starts_with('.'))
    }
}

impl fmt::Display for StepNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.run, self.position)
    }
}

impl FromStr for StepNumber {
    type Err = String;

    fn from_str(text: &str) -> Result<StepNumber, String> {
        let plain = |part: &str| part.parse::<usize>().ok().filter(|n| n.to_string() == part);
        let (run, position) = text.rsplit_once('.').unwrap_or_default();
        let whole = text.split('.').count().is_multiple_of(2) && run.split('.').all(|part| plain(part).is_some());
        let position = plain(position).filter(|_| whole);
        let position = position.ok_or_else(|| format!("expected the number of a step, such as 0.2, found {text:?}"))?;
        Ok(StepNumber { run: run.to_owned(), position })
    }
}
