//! Reads `unused`, `drift`, `settle` and the like, in a suite, a scenario or a case.

use std::time::Duration;

use super::names::{check_header_name, env_name};
use super::raw::{RawGolden, RawScenario, RawSuite, over};
use super::spanned::Spanned;
use super::values::RawDuration;
use crate::name::{is_name, no_name};
use crate::options::{Defaults, Drift};
use crate::source::Source;
use retake_base::error::Result;
use retake_core::events::{Loose, ShapeOptions};

/// Implements the reading of options for suites and for scenarios, whose fields have the same names. What a file does not set is
/// taken from `otherwise`.
macro_rules! read {
    ($raw:ty, $name:ident) => {
        pub(super) fn $name(raw: &$raw, otherwise: &Defaults, source: &Source) -> Result<Defaults> {
            let named = raw.golden.as_ref().and_then(|golden| golden.headers.as_deref());
            Ok(Defaults {
                unused: raw.unused.as_ref().unwrap_or(&otherwise.unused).clone(),
                drift: drift_over(otherwise.drift, raw.drift.unwrap_or_default()),
                settle: raw.settle.map_or(otherwise.settle, |settle| settle.0),
                linger: raw.linger.map_or(otherwise.linger, |linger| linger.0),
                panics: raw.panics.unwrap_or(otherwise.panics),
                secrets: or(raw.secrets.as_deref(), &otherwise.secrets, |all| secrets(all, source))?,
                egress: raw.egress.unwrap_or(otherwise.egress),
                allow: or(raw.allow.as_deref(), &otherwise.allow, |all| allowed(all, source))?,
                timeout: or(raw.timeout.as_ref(), &otherwise.timeout, |timeout| limit(timeout, source))?,
                delays: raw.delays.unwrap_or(otherwise.delays),
                clock: raw.clock.unwrap_or(otherwise.clock),
                cost: raw.cost.as_ref().map_or(&otherwise.cost, |cost| &cost.0).clone(),
                worlds: or(raw.worlds.as_ref(), &otherwise.worlds, |worlds| worlds.read(source))?,
                retries: raw.retries.unwrap_or(otherwise.retries),
                headers: or(named, &otherwise.headers, |names| headers(names, source))?,
            })
        }
    };
}
read!(RawSuite, of_suite);
read!(RawScenario, of_scenario);

/// The levels of one table and, where they are not set, those of another one.
pub(super) fn drift_over(base: Drift, own: Drift) -> Drift {
    over!(Drift, base, own; prompt, tools, model, settings, form, results, extra, observation;)
}

/// Reads a value, or takes the other one if none is given.
fn or<R: ?Sized, T: Clone>(raw: Option<&R>, otherwise: &T, read: impl FnOnce(&R) -> Result<T>) -> Result<T> {
    raw.map_or_else(|| Ok(otherwise.clone()), read)
}

/// Reads why a scenario is not run.
pub(super) fn skip(raw: &Spanned<String>, source: &Source) -> Result<String> {
    let reason = raw.get_ref().split_whitespace().collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        return Err(source.error_at(raw, "`skip` gives no reason").help("say in it why the scenario does not run"));
    }
    Ok(reason)
}

pub(super) fn tags(raw: &[Spanned<String>], source: &Source) -> Result<Vec<String>> {
    let tag = |tag: &Spanned<String>| {
        if is_name(tag.get_ref()) {
            return Ok(tag.get_ref().clone());
        }
        Err(no_name(tag.get_ref(), "tag").in_file(&source.file).at(source.place(tag.span().start)))
    };
    raw.iter().map(tag).collect()
}

/// Reads a time limit, which cannot be zero.
pub(super) fn limit(raw: &Spanned<RawDuration>, source: &Source) -> Result<Duration> {
    match raw.get_ref().0 {
        Duration::ZERO => Err(source.error_at(raw, "a timeout of zero always fails")),
        duration => Ok(duration),
    }
}

fn secrets(names: &[Spanned<String>], source: &Source) -> Result<Vec<String>> {
    names.iter().map(|name| env_name(name, source)).collect()
}

/// Reads what may be reached: a name or an address with its port each.
fn allowed(all: &[Spanned<String>], source: &Source) -> Result<Vec<String>> {
    let one = |text: &Spanned<String>| {
        let host_and_port = text.get_ref().rsplit_once(':').filter(|(host, port)| {
            let is_host = !host.is_empty() && (host.starts_with('[') || !host.contains([':', '/', '@']));
            is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        match host_and_port {
            Some(_) => Ok(text.get_ref().clone()),
            None => Err(source
                .error_at(text, format!("`{}` is not a name or an address with its port", text.get_ref()))
                .help("such as \"db.internal:443\", \"127.0.0.1:5432\" or \"[::1]:5432\"")),
        }
    };
    all.iter().map(one).collect()
}

fn headers(names: &[Spanned<String>], source: &Source) -> Result<Vec<String>> {
    let name = |name: &Spanned<String>| check_header_name(name, source).map(|()| name.get_ref().to_ascii_lowercase());
    names.iter().map(name).collect()
}

/// Returns the options of a golden. They need no checks in addition to those of each value. `headers` are read with the options
/// that a suite can set.
pub(super) fn golden(raw: Option<&RawGolden>, headers: Vec<String>) -> ShapeOptions {
    let raw = raw.cloned().unwrap_or_default();
    ShapeOptions {
        detail: raw.detail.unwrap_or_default().0,
        show: raw.show.iter().flatten().map(|pointer| pointer.as_str().to_owned()).collect(),
        collapse: raw.collapse.unwrap_or_default(),
        unordered: raw.unordered.unwrap_or_default(),
        ordered: raw.ordered.unwrap_or_default(),
        ignore: raw.ignore.unwrap_or_default(),
        text: raw.text.unwrap_or_default().0,
        comments: raw.comments.unwrap_or_default(),
        without_lengths: raw.lengths == Some(false),
        words: raw.words.unwrap_or_default(),
        until_last: raw.after_last == Some(false),
        loose: raw.loose.iter().flatten().map(|place| Loose::of(place)).collect(),
        headers,
        event_name: raw.event_name.map(|pointer| pointer.as_str().to_owned()),
        without_turns: false,
    }
}
