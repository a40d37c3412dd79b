//! Reads `scenarios/suite.toml` into a [`Suite`] that needs no further checks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::names::check_header_name;
use super::normalize::normalize_rule;
use super::raw::{RawCaller, RawPrice, RawSuite, RawSuspects};
use super::shared::Shared;
use super::spanned::Spanned;
use super::values::Pattern;
use super::{options, system, toml_file, tool};
use crate::options::Defaults;
use crate::source::Source;
use crate::suite::{Price, Suite};
use retake_base::error::Result;
use retake_base::text::listed;
use retake_core::secrets::Suspects;
use retake_model::{CallerRule, When};
use semver::{Version, VersionReq};
use serde::Deserialize;

/// Reads `file` below `root`. A missing file counts as an empty one.
pub(crate) fn read(root: &Path, file: &Path) -> Result<Suite> {
    match root.join(file).symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Suite { path: file.to_owned(), ..Suite::default() })
        }
        _ => parse(&Source::read(root, file)?, root),
    }
}

/// Parses and checks the text of a `suite.toml`.
pub(crate) fn parse(source: &Source, root: &Path) -> Result<Suite> {
    check_version(source)?;
    let mut raw: RawSuite = toml_file::read(source)?;
    let defaults = options::of_suite(&raw, &Defaults::default(), source)?;
    let systems = system::read(&raw, source, root)?;
    let tools = tool::read(&raw, source)?;
    let shared = Shared::read(std::mem::take(&mut raw.steps), std::mem::take(&mut raw.before), source, root)?;
    let last = raw.callers.len().saturating_sub(1);
    let callers = raw.callers.iter().enumerate();
    let callers = callers.map(|(i, rule)| caller(rule.get_ref(), i == last, source)).collect::<Result<_>>()?;
    let normalize = raw.normalize.into_iter().map(|rule| normalize_rule(rule, source)).collect::<Result<_>>()?;
    super::api::declare(&raw.apis, source)?;
    let aliases = aliases(raw.aliases, source)?;
    let prices = raw.prices.iter();
    let prices = prices.map(|(model, raw)| Ok((model.clone(), price(raw, source)?))).collect::<Result<_>>()?;
    Ok(Suite {
        systems,
        tools,
        callers,
        normalize,
        aliases,
        system_place: raw.system.as_ref().map(|system| source.place(system.span().start)),
        system: raw.system.map(Spanned::into_inner),
        defaults,
        shared,
        suspects: suspects(raw.suspects),
        fork_tools: raw.fork.tools.unwrap_or_default(),
        max_age: raw.max_age.as_ref().map(|age| days(age, source)).transpose()?,
        verify: raw.verify,
        prices,
        error_words: raw.error_words,
        path: source.file.to_path_buf(),
    })
}

fn days(age: &Spanned<String>, source: &Source) -> Result<u16> {
    let days = age.get_ref().strip_suffix('d').and_then(|days| days.parse().ok());
    days.ok_or_else(|| source.error_at(age, format!("`{}` is no number of days, as in \"90d\"", age.get_ref())))
}

/// Checks `requires` before any other field, since a project may have fields that only another version knows.
fn check_version(source: &Source) -> Result<()> {
    #[derive(Deserialize)]
    struct Required {
        requires: Spanned<String>,
    }
    let Ok(Required { requires }) = toml::from_str(&source.text) else { return Ok(()) };
    let wrong = |e| source.error_at(&requires, format!("expected versions, such as \">=0.3\": {e}"));
    let required = VersionReq::parse(requires.get_ref()).map_err(wrong)?;
    let own = Version::parse(env!("CARGO_PKG_VERSION")).map_err(wrong)?;
    if required.matches(&own) {
        return Ok(());
    }
    let error = source.error_at(&requires, format!("this project requires Retake {required}, and this is {own}"));
    Err(error.help("install such a version, in CI too"))
}

/// Checks the prices of a model.
fn price(raw: &RawPrice, source: &Source) -> Result<Price> {
    let checked = |price: &Spanned<f64>| match *price.get_ref() {
        price if price.is_finite() && price >= 0.0 => Ok(price),
        _ => Err(source.error_at(price, "expected a price: a number that is not negative")),
    };
    let input = checked(&raw.input)?;
    let cached = raw.cached.as_ref().map_or(Ok(input), checked)?;
    Ok(Price { input, cached, output: checked(&raw.output)? })
}

fn suspects(raw: RawSuspects) -> Suspects {
    Suspects {
        key: raw.key.unwrap_or_default().0,
        password: raw.password.unwrap_or_default().0,
        authorization: raw.authorization.unwrap_or_default().0,
        cookie: raw.cookie.unwrap_or_default().0,
        private_key: raw.private_key.unwrap_or_default().0,
    }
}

/// Checks a rule that names the caller of a call. The last rule may match every call.
fn caller(raw: &RawCaller, last: bool, source: &Source) -> Result<CallerRule> {
    let when = raw.when.get_ref();
    if raw.name.get_ref().trim().is_empty() {
        return Err(source.error_at(&raw.name, "the caller's name is empty"));
    }
    let when = When {
        header: when
            .header
            .iter()
            .map(|(name, Pattern(regex))| {
                check_header_name(name, source)?;
                Ok((name.get_ref().to_ascii_lowercase(), regex.clone()))
            })
            .collect::<Result<_>>()?,
        metadata: when.metadata.iter().map(|(key, Pattern(regex))| (key.clone(), regex.clone())).collect(),
        model: when.model.as_ref().map(|Pattern(regex)| regex.clone()),
        system: when.system.as_ref().map(|Pattern(regex)| regex.clone()),
        message: when.message.as_ref().map(|Pattern(regex)| regex.clone()),
        tools: when.tools.clone().map(|tools| tools.0),
    };
    if when.is_empty() && !last {
        let what = format!("the rule for `{}` matches every call, so no later rule is ever tried", raw.name.get_ref());
        let fields = listed(&["header", "metadata", "model", "system", "message", "tools"]);
        return Err(source.error_at(&raw.when, what).help(format!("`when` may hold {fields}")));
    }
    Ok(CallerRule { name: raw.name.get_ref().trim().to_owned(), when })
}

/// Checks the aliases of callers.
fn aliases(raw: BTreeMap<String, Spanned<String>>, source: &Source) -> Result<BTreeMap<String, String>> {
    let known: BTreeSet<String> = raw.keys().cloned().collect();
    let mut aliases = BTreeMap::new();
    for (alias, name) in raw {
        if name.get_ref().trim().is_empty() {
            return Err(source.error_at(&name, format!("the alias `{alias}` names no caller")));
        }
        if known.contains(name.get_ref()) {
            let what = format!("`{alias}` stands for `{}`, which is itself an alias", name.get_ref());
            return Err(source.error_at(&name, what));
        }
        aliases.insert(alias, name.into_inner());
    }
    Ok(aliases)
}
