//! What is done with a project, and how the command hands it over to a runner: in variables, since libtest's arguments
//! are not ours.

pub(crate) use super::filter::Wanted;
use crate::error::{Error, Result};

/// The variable that hands an action over, and the one that names its scenarios.
const ACTION: &str = "RETAKE_ACTION";
/// The action that tests, with arguments that are for scenarios alone.
const TEST: &str = "test";
/// The same, with filters of ours.
const TEST_OF: &str = "test-of";
const NAMES: &str = "RETAKE_ACTION_NAMES";

/// What a runner does with a project.
#[derive(Debug)]
pub(crate) enum Action {
    /// Tests the scenarios.
    Test(Wanted),
    /// Records scenarios by name or a part of it.
    #[cfg(feature = "record")]
    Record(Vec<String>, RecordOptions),
}

impl Action {
    /// What the command handed over in the environment, else a test with these arguments.
    ///
    /// # Errors
    /// An action that this runner does not know.
    pub(super) fn asked_for(args: Vec<String>) -> Result<Action> {
        let Ok(action) = std::env::var(ACTION) else { return Ok(Action::Test(Wanted::of_crate(args))) };
        if action == TEST {
            return Ok(Action::Test(Wanted::of_scenarios(Vec::new(), args)));
        }
        let names = std::env::var(NAMES).unwrap_or_default();
        let names = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if action == TEST_OF {
            return Ok(Action::Test(Wanted::of_scenarios(names, args)));
        }
        #[cfg(feature = "record")]
        if let Some(options) = RecordOptions::parse(&action) {
            return Ok(Action::Record(names, options));
        }
        Err(Error::new(format!("{ACTION}={action:?}: this runner cannot do that"))
            .help("the `retake` command and the `retake` library differ in version, or a feature is off"))
    }

    /// Whether it writes fixtures.
    pub(super) fn records(&self) -> bool {
        !matches!(self, Action::Test(_))
    }
}

/// The variables by which a runner is told to test, with arguments that are for scenarios alone, those that a filter fits.
#[cfg(feature = "cli")]
pub(crate) fn to_test(filters: &[String]) -> Vec<(&'static str, String)> {
    match filters {
        [] => vec![(ACTION, TEST.to_owned())],
        filters => vec![(ACTION, TEST_OF.to_owned()), (NAMES, filters.join(","))],
    }
}

/// The variables by which a runner is told to record.
#[cfg(all(feature = "cli", feature = "record"))]
pub(crate) fn handed_over(names: &[String], options: RecordOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// How scenarios are recorded.
#[cfg(feature = "record")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordOptions {
    /// Records each scenario that has a recording of its own.
    pub(crate) all: bool,
    /// Answers what equals a recorded call from the recording.
    pub(crate) resume: bool,
    /// Writes what does not stand its proof, with a mark.
    pub(crate) accept_unstable: bool,
}

#[cfg(feature = "record")]
impl RecordOptions {
    const WORDS: [&str; 3] = ["--resume", "--accept-unstable", "--all"];

    /// The action and the options, as a runner is told of them: one that does not know an option then refuses it.
    #[cfg(feature = "cli")]
    fn print(self) -> String {
        let set = [self.resume, self.accept_unstable, self.all];
        let words = Self::WORDS.into_iter().zip(set).filter(|(_, set)| *set).map(|(word, _)| word);
        std::iter::once("record").chain(words).collect::<Vec<_>>().join(" ")
    }

    fn parse(action: &str) -> Option<RecordOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some("record")).then(RecordOptions::default)?;
        for word in words {
            match Self::WORDS.iter().position(|known| *known == word)? {
                0 => options.resume = true,
                1 => options.accept_unstable = true,
                _ => options.all = true,
            }
        }
        Some(options)
    }
}
