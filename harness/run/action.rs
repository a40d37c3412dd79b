//! What is done with a project, and how the command hands it over to a runner: in variables, since libtest's arguments
//! are not ours.

pub(crate) use super::filter::Wanted;
#[cfg(feature = "cli")]
pub(crate) use super::filter::fits;
use crate::error::{Error, Result};
use crate::events::Detail;

/// The variable that hands an action over, and the one that names its scenarios.
const ACTION: &str = "RETAKE_ACTION";
/// The action that tests, with arguments that are for scenarios alone.
const TEST: &str = "test";
/// The same, with filters of ours.
const TEST_OF: &str = "test-of";
/// The action that accepts what waits.
const ACCEPT: &str = "accept";
const NAMES: &str = "RETAKE_ACTION_NAMES";
/// The variable by which a runner begins nothing any more once a scenario failed.
const FAIL_FAST: &str = "RETAKE_FAIL_FAST";

/// What a runner does with a project.
#[derive(Debug)]
pub(crate) enum Action {
    /// Tests the scenarios.
    Test(Wanted),
    /// Audits scenarios by name or a part of it, all where none is named.
    Audit(Vec<String>, AuditOptions),
    /// Accepts what waits for scenarios by name; all where there is no name.
    Accept(Vec<String>),
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
        let fail_fast = std::env::var(FAIL_FAST).is_ok_and(|set| !matches!(&*set, "" | "0"));
        let test = |wanted: Wanted| Ok(Action::Test(wanted.failing_fast(fail_fast)));
        let Ok(action) = std::env::var(ACTION) else { return test(Wanted::of_crate(args)) };
        if action == TEST {
            return test(Wanted::of_scenarios(Vec::new(), args));
        }
        let names = std::env::var(NAMES).unwrap_or_default();
        let names: Vec<String> = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if action == TEST_OF {
            return test(Wanted::of_scenarios(names, args));
        }
        if action == ACCEPT {
            return Ok(Action::Accept(names));
        }
        if let Some(options) = AuditOptions::parse(&action) {
            return Ok(Action::Audit(names, options));
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
        !matches!(self, Action::Test(_) | Action::Accept(_) | Action::Audit(..))
    }

    /// Whether it writes nothing but what it prints.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self, Action::Audit(..))
    }

    /// Whether it writes goldens, whatever else is asked for.
    pub(super) fn accepts(&self) -> bool {
        matches!(self, Action::Accept(_))
    }
}

/// The variables by which a runner is told to test, with arguments that are for scenarios alone, those that a filter fits,
/// until the first one fails.
#[cfg(feature = "cli")]
pub(crate) fn to_test(filters: &[String], fail_fast: bool) -> Vec<(&'static str, String)> {
    let mut variables = match filters {
        [] => vec![(ACTION, TEST.to_owned())],
        filters => vec![(ACTION, TEST_OF.to_owned()), (NAMES, filters.join(","))],
    };
    variables.extend(fail_fast.then(|| (FAIL_FAST, "1".to_owned())));
    variables
}

/// The variables by which a runner is told to accept what waits.
#[cfg(feature = "cli")]
pub(crate) fn to_accept(names: &[String]) -> [(&'static str, String); 2] {
    [(ACTION, ACCEPT.to_owned()), (NAMES, names.join(","))]
}

/// The variables by which a runner is told to record.
#[cfg(all(feature = "cli", feature = "record"))]
pub(crate) fn to_record(names: &[String], options: RecordOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// The variables by which a runner is told to audit.
#[cfg(feature = "cli")]
pub(crate) fn to_audit(names: &[String], options: AuditOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// How scenarios are audited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AuditOptions {
    /// Prints JSON.
    pub(crate) json: bool,
    /// Lists all that went unnoticed.
    pub(crate) all: bool,
    /// The least score that is no failure, from 0 to 1.
    pub(crate) min_score: Option<f64>,
    /// How much goldens are taken to hold, in place of what their scenarios say.
    pub(crate) detail: Option<Detail>,
}

impl AuditOptions {
    const NAME: &str = "audit";

    /// The action and the options, as a runner is told of them.
    #[cfg(feature = "cli")]
    fn print(self) -> String {
        let AuditOptions { json, all, min_score, detail } = self;
        let words = [json.then(|| "--json".to_owned()), all.then(|| "--all".to_owned())];
        let values = [min_score.map(|least| format!("--min-score={least}")), detail.map(|it| format!("--detail={it}"))];
        let words = words.into_iter().chain(values).flatten();
        std::iter::once(Self::NAME.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn parse(action: &str) -> Option<AuditOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some(Self::NAME)).then(AuditOptions::default)?;
        for word in words {
            match word.split_once('=') {
                None if word == "--json" => options.json = true,
                None if word == "--all" => options.all = true,
                Some(("--min-score", least)) => options.min_score = Some(least.parse().ok()?),
                Some(("--detail", detail)) => options.detail = Some(detail.parse().ok()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// How scenarios are recorded.
#[cfg(feature = "record")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RecordOptions {
    /// Records each scenario that has a recording of its own.
    pub(crate) all: bool,
    /// Answers what equals a recorded call from the recording.
    pub(crate) resume: bool,
    /// Writes what does not stand its proof, with a mark.
    pub(crate) accept_unstable: bool,
    /// Leaves what is committed as it is, and what was recorded beside it, for a person to decide.
    pub(crate) propose: bool,
}

#[cfg(feature = "record")]
impl RecordOptions {
    const WORDS: [&str; 4] = ["--resume", "--accept-unstable", "--all", "--propose"];

    /// The action and the options, as a runner is told of them: one that does not know an option then refuses it.
    #[cfg(feature = "cli")]
    fn print(self) -> String {
        let set = [self.resume, self.accept_unstable, self.all, self.propose];
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
                2 => options.all = true,
                _ => options.propose = true,
            }
        }
        Some(options)
    }
}
