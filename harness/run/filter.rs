//! Which scenarios to run: by libtest's arguments, and by the filters of the `retake` command.

use libtest_mimic::Arguments;

use super::project::Project;
use super::shard::Shard;
use super::{orphans, worlds};
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_scenario::name_of;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The scenarios that a user wants to run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Wanted {
    /// libtest's arguments, as they were typed. Another runner gets them as its own.
    #[serde(skip)]
    pub(super) args: Vec<String>,
    /// Parts of names, or folders of scenarios in the form `hello/`. A scenario has to match one of them. libtest itself takes
    /// only one part of a name. If the list is empty, all scenarios are wanted.
    filters: Vec<String>,
    /// Whether the arguments are meant for scenarios only, not for all test programs of a crate. If so, a filter that matches
    /// nothing is an error.
    of_scenarios: bool,
    /// Which of the wanted scenarios to run, and how.
    pub(super) options: TestOptions,
}

/// Which of the wanted scenarios to run, and how.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TestOptions {
    /// Whether to start no further scenario after the first failure.
    pub fail_fast: bool,
    /// Tags, one of which a scenario has to have. `!slow` stands for scenarios without the tag `slow`, all of which hold.
    pub tags: Vec<String>,
    /// The part of the scenarios that this job runs.
    pub shard: Option<Shard>,
}

impl TestOptions {
    /// Sets what is not set as the environment says: `RETAKE_FAIL_FAST=1`, `RETAKE_TAGS=slow,!flaky` and `RETAKE_SHARD=2/5`.
    pub fn or_of_environment(mut self) -> Result<TestOptions> {
        let set = |name: &str| std::env::var(name).ok().filter(|set| !set.is_empty());
        self.fail_fast |= set("RETAKE_FAIL_FAST").is_some_and(|set| set != "0");
        if self.tags.is_empty() {
            self.tags = set("RETAKE_TAGS").iter().flat_map(|tags| tags.split(',')).map(str::to_owned).collect();
        }
        if self.shard.is_none() {
            self.shard = set("RETAKE_SHARD").map(|shard| shard.parse()).transpose()?;
        }
        Ok(self)
    }
}

impl Wanted {
    /// For a runner that cargo started, maybe together with other test programs.
    pub fn of_crate(args: Vec<String>) -> Wanted {
        Wanted { args, filters: Vec::new(), of_scenarios: false, options: TestOptions::default() }
    }

    /// For a runner whose arguments are meant for scenarios only: those that match one of the filters and libtest's arguments.
    pub fn of_scenarios(filters: Vec<String>, args: Vec<String>) -> Wanted {
        Wanted { args, filters, of_scenarios: true, options: TestOptions::default() }
    }

    /// Sets which of the wanted scenarios to run, and how.
    pub fn with(self, options: TestOptions) -> Wanted {
        Wanted { options, ..self }
    }

    /// Whether the whole project is run.
    pub(super) fn is_whole(&self) -> bool {
        let Arguments { filter: None, skip, list: false, .. } = self.arguments() else { return false };
        skip.is_empty() && self.filters.is_empty() && self.options.tags.is_empty() && self.options.shard.is_none()
    }

    /// Returns a test by the name of a trial: whether its scenario has one of the wanted tags. Without wanted tags, every trial has.
    /// Fails if no scenario has one of these tags.
    pub(super) fn tagged(&self, project: &Project) -> Result<impl Fn(&str) -> bool + use<>> {
        let of = project.discovered.sound().map(|scenario| (scenario.name.clone(), scenario.tags.clone()));
        // Without wanted tags, nobody asks for those of a scenario.
        let of: BTreeMap<String, Vec<String>> = of.collect();
        let tag = |tag: &String| tag.strip_prefix('!').map_or((true, tag.clone()), |tag| (false, tag.to_owned()));
        let tags: Vec<(bool, String)> = self.options.tags.iter().map(tag).collect();
        let known: BTreeSet<&str> = of.values().flatten().map(String::as_str).collect();
        if let Some((_, lost)) = tags.iter().find(|(_, tag)| !known.contains(tag.as_str())) {
            let error = Error::new(format!("no scenario has the tag `{lost}`"));
            let how = "a scenario gets it in its scenario.toml: tags = [\"slow\"]".to_owned();
            return Err(error.suggest_or(lost, known, how));
        }
        Ok(move |name: &str| {
            let own = of.get(name).map(Vec::as_slice).unwrap_or_default();
            let has = |tag: &String| own.contains(tag);
            let wanted = || tags.iter().filter(|(wanted, _)| *wanted);
            (wanted().next().is_none() || wanted().any(|(_, tag)| has(tag)))
                && !tags.iter().any(|(wanted, tag)| !wanted && has(tag))
        })
    }

    /// Whether a name matches one of the filters.
    pub fn wants(&self, name: &str) -> bool {
        let exact = !self.filters.is_empty() && self.arguments().exact;
        self.filters.is_empty() || self.filters.iter().any(|filter| fits(filter, name, exact))
    }

    /// The arguments as libtest parses them. libtest ends the process if they are wrong or ask for help.
    pub(super) fn arguments(&self) -> Arguments {
        Arguments::from_iter(std::iter::once("scenarios".to_owned()).chain(self.args.iter().cloned()))
    }

    /// Which scenarios have to be read, if not all. The trial for orphans looks at all of them.
    pub(super) fn only_some(&self) -> Option<Names> {
        let Arguments { filter, exact, list: false, .. } = self.arguments() else { return None };
        let names = Names { filter, filters: self.filters.clone(), exact };
        let all = names.filter.is_none() && names.filters.is_empty();
        (!all && !names.wants(orphans::NAME)).then_some(names)
    }

    /// The only scenario of this process if nextest started it, since nextest starts one process for each test.
    pub(super) fn only_one(&self) -> Option<String> {
        std::env::var_os("NEXTEST")?;
        let Arguments { filter, exact: true, list: false, .. } = self.arguments() else { return None };
        // The scenario of a trial for worlds.
        let scenario = |name: String| name.strip_suffix(worlds::TRIAL).map_or(name.clone(), str::to_owned);
        filter.filter(|name| name != orphans::NAME).map(scenario)
    }

    /// Refuses arguments that leave no test to run, if they are meant for scenarios only: otherwise the run would be green
    /// without having tested anything.
    /// Fails if no test is left; with the nearest name if a filter matches none.
    pub(super) fn check(&self, tests: usize, project: &Project) -> Result<()> {
        let arguments = self.arguments();
        if !self.of_scenarios || arguments.list || (tests > 0 && self.filters.is_empty()) {
            return Ok(());
        }
        let names: Vec<&str> = project.discovered.scenarios.iter().map(name_of).chain([orphans::NAME]).collect();
        let filters = arguments.filter.iter().chain(&self.filters);
        let lost = |filter: &&String| !names.iter().any(|name| fits(filter, name, arguments.exact));
        match filters.into_iter().find(lost) {
            Some(filter) => {
                let is_whole = arguments.exact || filter.ends_with('/');
                let filter = filter.trim_end_matches('/');
                let what = if is_whole { "no scenario is called" } else { "no scenario's name contains" };
                Err(Error::new(format!("{what} `{filter}`")).suggest(filter, names))
            }
            None if tests > 0 => Ok(()),
            None => {
                let args = self.filters.iter().chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ");
                Err(Error::new(format!("nothing was tested: no scenario matches `{args}`"))
                    .help(format!("there are {}: leave out some of these arguments", counted(names.len(), "scenario"))))
            }
        }
    }
}

/// The names of the scenarios that a user wants to run.
#[derive(Debug)]
pub(crate) struct Names {
    /// libtest's filter.
    filter: Option<String>,
    /// The filters of the `retake` command, of which one has to match, if there are any.
    filters: Vec<String>,
    exact: bool,
}

impl Names {
    pub(super) fn wants(&self, name: &str) -> bool {
        let is_wanted = |filter: &String| fits(filter, name, self.exact);
        self.filter.as_ref().is_none_or(is_wanted) && (self.filters.is_empty() || self.filters.iter().any(is_wanted))
    }

    /// Whether each filter matches one of these names, and one of them is wanted. If not, an error has to look at all names.
    pub(super) fn all_are_in(&self, found: &[&str]) -> bool {
        let matches = |filter: &String| found.iter().any(|name| fits(filter, name, self.exact));
        self.filter.iter().chain(&self.filters).all(matches) && found.iter().any(|name| self.wants(name))
    }

    /// Whether a folder can contain such a scenario. `cases` says whether the folder may have cases.
    pub(super) fn may_be_in(&self, folder: &str, cases: &dyn Fn() -> bool) -> bool {
        let begins = |of: &str| of.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let may_be = |filter: &String| match filter.strip_suffix('/') {
            Some(name) => begins(name) || fits(filter, folder, false),
            None if self.exact => begins(filter),
            None => folder.contains(&**filter) || cases(),
        };
        self.filter.as_ref().is_none_or(may_be) && (self.filters.is_empty() || self.filters.iter().any(may_be))
    }
}

/// Whether a scenario's name matches a filter. A filter is a part of the name (with `exact` the whole name), or `FOLDER/`, which
/// matches the scenario of that folder and all its cases.
pub fn fits(filter: &str, name: &str, exact: bool) -> bool {
    match filter.strip_suffix('/') {
        Some(folder) => name.strip_prefix(folder).is_some_and(|case| case.is_empty() || case.starts_with('.')),
        None if exact => name == filter,
        None => name.contains(filter),
    }
}
