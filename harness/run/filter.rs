//! libtest's arguments, as far as they say which scenarios are wanted.

use libtest_mimic::Arguments;

use super::commands::Commands;
use super::orphans;
use super::project::Project;
use crate::error::{Error, Result};
use crate::scenario::Broken;
use crate::text::nearest;

/// The arguments as libtest reads them. It ends the process itself where they are wrong, or ask for help.
pub(super) fn arguments(args: &[String]) -> Arguments {
    Arguments::from_iter(std::iter::once("scenarios".to_owned()).chain(args.iter().cloned()))
}

/// The scenario that this process is for, where nextest started it: it starts one for each. Elsewhere all are read, so that
/// the summary counts them.
pub(super) fn only_one(args: &[String]) -> Option<String> {
    std::env::var_os("NEXTEST")?;
    let Arguments { filter, exact: true, list: false, .. } = arguments(args) else { return None };
    filter.filter(|name| name != orphans::NAME)
}

/// Refuses a filter of the command that fits nothing: nothing would be tested, and green. (One of `cargo test` is for all
/// test programs of a crate.)
///
/// # Errors
/// With the nearest name.
pub(super) fn check(project: &Project, args: &Arguments) -> Result<()> {
    let Some(filter) = args.filter.as_deref().filter(|_| project.commands != Commands::CargoTest) else {
        return Ok(());
    };
    let names = project.discovered.scenarios.iter().map(|found| match found {
        Ok(scenario) => scenario.name.as_str(),
        Err(Broken { name, .. }) => name.as_str(),
    });
    let names: Vec<&str> = names.chain([orphans::NAME]).collect();
    if names.iter().any(|name| if args.exact { *name == filter } else { name.contains(filter) }) {
        return Ok(());
    }
    let what = if args.exact { "is called" } else { "has in its name" };
    let error = Error::new(format!("no scenario {what} `{filter}`"));
    Err(nearest(filter, names).into_iter().fold(error, |error, near| error.help(format!("did you mean `{near}`?"))))
}
