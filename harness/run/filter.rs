//! libtest's arguments, as far as they say which scenarios are wanted.

use libtest_mimic::Arguments;

use super::orphans;
use super::project::Project;
use crate::error::{Error, Result};
use crate::scenario::Broken;
use crate::text::{counted, nearest};

/// libtest's arguments, as they were typed.
#[derive(Debug)]
pub(crate) struct Wanted {
    args: Vec<String>,
    /// Parts of names, of which one is enough, or the folders of scenarios, `hello/`: what libtest, which takes one part of a
    /// name, cannot be told. Where there is none, all are wanted.
    filters: Vec<String>,
    /// They are for scenarios alone, not for all test programs of a crate: then what fits none is a mistake.
    of_scenarios: bool,
    /// Nothing is begun any more once a scenario has failed.
    fail_fast: bool,
}

impl Wanted {
    /// What is wanted of a runner that cargo started, maybe beside other test programs.
    pub(crate) fn of_crate(args: Vec<String>) -> Wanted {
        Wanted { args, filters: Vec::new(), of_scenarios: false, fail_fast: false }
    }

    /// What is wanted of scenarios alone: those that one of the filters fits, and of these what libtest's arguments say.
    pub(crate) fn of_scenarios(filters: Vec<String>, args: Vec<String>) -> Wanted {
        Wanted { args, filters, of_scenarios: true, fail_fast: false }
    }

    /// The same, and nothing is begun any more once a scenario has failed, where that is wanted.
    #[must_use]
    pub(crate) fn failing_fast(self, fail_fast: bool) -> Wanted {
        Wanted { fail_fast, ..self }
    }

    /// Whether nothing is begun any more once a scenario has failed.
    pub(super) fn fails_fast(&self) -> bool {
        self.fail_fast
    }

    /// Whether a filter fits a name.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let exact = !self.filters.is_empty() && self.arguments().exact;
        self.filters.is_empty() || self.filters.iter().any(|filter| fits(filter, name, exact))
    }

    /// The arguments as libtest reads them. It ends the process itself where they are wrong, or ask for help.
    pub(super) fn arguments(&self) -> Arguments {
        Arguments::from_iter(std::iter::once("scenarios".to_owned()).chain(self.args.iter().cloned()))
    }

    /// The scenario that this process is for, where nextest started it: it starts one for each. Elsewhere all are read,
    /// so that the summary counts them.
    pub(super) fn only_one(&self) -> Option<String> {
        std::env::var_os("NEXTEST")?;
        let Arguments { filter, exact: true, list: false, .. } = self.arguments() else { return None };
        filter.filter(|name| name != orphans::NAME)
    }

    /// Refuses arguments for scenarios alone that leave no test to run: nothing would be tested, and green.
    ///
    /// # Errors
    /// With the nearest name, where a filter fits none.
    pub(super) fn check(&self, tests: usize, project: &Project) -> Result<()> {
        let arguments = self.arguments();
        if !self.of_scenarios || arguments.list || (tests > 0 && self.filters.is_empty()) {
            return Ok(());
        }
        let names = project.discovered.scenarios.iter().map(|found| match found {
            Ok(scenario) => scenario.name.as_str(),
            Err(Broken { name, .. }) => name.as_str(),
        });
        let names: Vec<&str> = names.chain([orphans::NAME]).collect();
        let filters = arguments.filter.iter().chain(&self.filters);
        let lost = |filter: &&String| !names.iter().any(|name| fits(filter, name, arguments.exact));
        match filters.into_iter().find(lost) {
            Some(filter) => {
                let what = if arguments.exact || filter.ends_with('/') { "is called" } else { "has in its name" };
                let filter = filter.trim_end_matches('/');
                let error = Error::new(format!("no scenario {what} `{filter}`"));
                Err(match nearest(filter, names) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                })
            }
            None if tests > 0 => Ok(()),
            None => {
                let args = self.filters.iter().chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ");
                Err(Error::new(format!("nothing was tested: no trial is left by `{args}`"))
                    .help(format!("there are {}: leave some of these arguments out", counted(names.len(), "trial"))))
            }
        }
    }
}

/// Whether a filter fits a scenario's name: it is a part of it, or with `exact` all of it; or it is its folder, with all its
/// cases.
pub(crate) fn fits(filter: &str, name: &str, exact: bool) -> bool {
    match filter.strip_suffix('/') {
        Some(folder) => name.strip_prefix(folder).is_some_and(|case| case.is_empty() || case.starts_with('.')),
        None if exact => name == filter,
        None => name.contains(filter),
    }
}
