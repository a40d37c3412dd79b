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
    /// They are for scenarios alone, not for all test programs of a crate: then what fits none is a mistake.
    of_scenarios: bool,
}

impl Wanted {
    /// What is wanted of a runner that cargo started, maybe beside other test programs.
    pub(crate) fn of_crate(args: Vec<String>) -> Wanted {
        Wanted { args, of_scenarios: false }
    }

    /// What is wanted of scenarios alone.
    pub(crate) fn of_scenarios(args: Vec<String>) -> Wanted {
        Wanted { args, of_scenarios: true }
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
        if !self.of_scenarios || tests > 0 || arguments.list {
            return Ok(());
        }
        let names = project.discovered.scenarios.iter().map(|found| match found {
            Ok(scenario) => scenario.name.as_str(),
            Err(Broken { name, .. }) => name.as_str(),
        });
        let names: Vec<&str> = names.chain([orphans::NAME]).collect();
        let fits = |filter: &str, name: &str| if arguments.exact { name == filter } else { name.contains(filter) };
        match arguments.filter.as_deref() {
            Some(filter) if !names.iter().any(|name| fits(filter, name)) => {
                let what = if arguments.exact { "is called" } else { "has in its name" };
                let error = Error::new(format!("no scenario {what} `{filter}`"));
                Err(match nearest(filter, names) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                })
            }
            _ => {
                let args = self.args.join(" ");
                Err(Error::new(format!("nothing was tested: no trial is left by `{args}`"))
                    .help(format!("there are {}: leave some of these arguments out", counted(names.len(), "trial"))))
            }
        }
    }
}
