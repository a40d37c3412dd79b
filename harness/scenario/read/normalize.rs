//! Reads the rules of a suite or of one tool that replace text which varies from run to run.

use regex::Regex;

use super::raw::RawNormalize;
use super::values::Pattern;
use crate::options::NormalizeRule;
use crate::source::Source;
use retake_base::error::Result;

/// Checks a replacement rule.
pub(super) fn normalize_rule(rule: RawNormalize, source: &Source) -> Result<NormalizeRule> {
    let at = rule.pattern.span().start;
    let Pattern(pattern) = rule.pattern.into_inner();
    if pattern.is_match("") {
        let what = format!("`{pattern}` matches the empty text, so it would match everywhere");
        return Err(source.error(at, what));
    }
    if let Some(group) = no_group(&pattern, rule.replace.get_ref()) {
        let what = format!("`${group}` is not a group of `{pattern}`, so it would be replaced by nothing");
        let error = source.error_at(&rule.replace, what);
        return Err(error.help("a group is `${1}` or `${name}`, and `$$` is one dollar sign"));
    }
    Ok(NormalizeRule { pattern, replace: rule.replace.into_inner() })
}

/// Returns the first group that a replacement names but its pattern lacks. The regex crate takes the longest possible name:
/// `$1x` means `${1x}`.
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
