//! `scenarios/suite.toml`: from what a person typed to a [`Suite`] in which nothing is left to check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;
use toml::Spanned;

use super::names::check_header_name;
use super::raw::{RawCaller, RawNormalize, RawSuite};
use super::values::Pattern;
use super::{options, system, toml_file, tool};
use crate::error::Result;
use crate::model::{CallerRule, When};
use crate::scenario::hints::listed;
use crate::scenario::options::Defaults;
use crate::scenario::source::Source;
use crate::scenario::suite::{NormalizeRule, Suite};

/// Reads `file`, where it exists, below `root`.
pub(in crate::scenario) fn read(root: &Path, file: &Path) -> Result<Suite> {
    match root.join(file).symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Suite { path: file.to_owned(), ..Suite::default() })
        }
        _ => parse(&Source::read(root, file)?, root),
    }
}

/// Checks the text of a `suite.toml`.
pub(in crate::scenario) fn parse(source: &Source, root: &Path) -> Result<Suite> {
    let raw: RawSuite = toml_file::read(source)?;
    let defaults = options::read(&raw, &Defaults::default(), source)?;
    let systems = system::read(&raw, source, root)?;
    let tools = tool::read(&raw, source)?;
    let last = raw.callers.len().saturating_sub(1);
    let callers = raw.callers.iter().enumerate();
    let callers = callers.map(|(i, rule)| caller(rule.get_ref(), i == last, source)).collect::<Result<_>>()?;
    let normalize = raw.normalize.into_iter().map(|rule| normalize_rule(rule, source)).collect::<Result<_>>()?;
    let aliases = aliases(raw.aliases, source)?;
    Ok(Suite { systems, tools, callers, normalize, aliases, defaults, path: source.file.to_path_buf() })
}

/// Checks a rule that tells whose a call is; the last one may fit every call.
fn caller(raw: &RawCaller, last: bool, source: &Source) -> Result<CallerRule> {
    let when = raw.when.get_ref();
    if raw.name.get_ref().trim().is_empty() {
        return Err(source.error(raw.name.span().start, "the caller's name is empty"));
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
        tools: when.tools.clone(),
    };
    if when.is_empty() && !last {
        let what = format!("the rule for `{}` fits every call, so no later rule is ever asked", raw.name.get_ref());
        let fields = listed(&["header", "metadata", "model", "system", "message", "tools"]);
        return Err(source.error(raw.when.span().start, what).help(format!("`when` may hold {fields}")));
    }
    Ok(CallerRule { name: raw.name.get_ref().trim().to_owned(), when })
}

/// Checks a rule that replaces what differs from run to run.
pub(super) fn normalize_rule(rule: RawNormalize, source: &Source) -> Result<NormalizeRule> {
    let at = rule.pattern.span().start;
    let Pattern(pattern) = rule.pattern.into_inner();
    if pattern.is_match("") {
        let what = format!("`{pattern}` fits the empty text, so it would fit everywhere");
        return Err(source.error(at, what));
    }
    if let Some(group) = no_group(&pattern, rule.replace.get_ref()) {
        let what = format!("`${group}` is no group of `{pattern}`, so nothing would stand for it");
        let error = source.error(rule.replace.span().start, what);
        return Err(error.help("a group is `${1}` or `${name}`, and `$$` is one dollar sign"));
    }
    Ok(NormalizeRule { pattern, replace: rule.replace.into_inner() })
}

/// A group that a replacement names and its pattern has not. regex takes as a name what is longest: `$1x` is `${1x}`.
fn no_group(pattern: &Regex, replace: &str) -> Option<String> {
    let mut rest = replace;
    while let Some((_, after)) = rest.split_once('$') {
        if let Some(dollar) = after.strip_prefix('$') {
            rest = dollar;
            continue;
        }
        rest = after;
        let name = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map_or("", |(name, _)| name),
            None => after.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default(),
        };
        let there = match name.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => name.is_empty() || pattern.capture_names().flatten().any(|known| known == name),
        };
        if !there {
            return Some(name.to_owned());
        }
    }
    None
}

/// Checks the other names of callers.
fn aliases(raw: BTreeMap<String, Spanned<String>>, source: &Source) -> Result<BTreeMap<String, String>> {
    let known: BTreeSet<String> = raw.keys().cloned().collect();
    let mut aliases = BTreeMap::new();
    for (alias, name) in raw {
        if name.get_ref().trim().is_empty() {
            return Err(source.error(name.span().start, format!("the alias `{alias}` stands for no caller")));
        }
        if known.contains(name.get_ref()) {
            let what = format!("`{alias}` stands for `{}`, which is itself an alias", name.get_ref());
            return Err(source.error(name.span().start, what));
        }
        aliases.insert(alias, name.into_inner());
    }
    Ok(aliases)
}
