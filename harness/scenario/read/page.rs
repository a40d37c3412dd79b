//! Reads a step that opens a page in a browser.

use std::time::Duration;

use super::file::ScenarioFile;
use super::raw::{RawAct, RawStep, fields};
use super::request::path_of;
use super::spanned::Spanned;
use crate::hints::listed;
use crate::name::is_name;
use crate::step::{Act, By, Do, PageVisit, Target};
use crate::template::{Names, Template};
use retake_base::error::{Error, Result};
use retake_base::text::nearest;

/// How long to wait for an act that does not set `within`.
const WITHIN: Duration = Duration::from_secs(10);

/// The keys that say what an act does. Each act has exactly one.
pub(super) const ACTS: [&str; 11] =
    ["see", "unseen", "once", "above", "click", "fill", "press", "goto", "reload", "aria", "screenshot"];

pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<PageVisit> {
    let why = "belongs to a request or a command, and this step opens a page";
    let of_others = fields!(raw; headers, cwd, env, exit, stream, cancel, reconnect, wait, golden);
    scenario.refuse(&of_others, why)?;
    scenario.refuse(&raw.body_fields(), why)?;
    let page = raw.browser.as_ref().ok_or_else(|| Error::new("no page"))?;
    let (system, path) = system_and_path(page);
    let storage = raw.storage.iter().flat_map(Spanned::get_ref);
    let storage = storage.map(|(name, value)| Ok((name.get_ref().clone(), template(scenario, value, names)?)));
    let visit = PageVisit {
        system,
        path: path_of(scenario, &path)?,
        storage: storage.collect::<Result<_>>()?,
        status: raw.status.as_ref().map(|statuses| statuses.get_ref().0.clone()),
        traffic: raw
            .traffic
            .iter()
            .flat_map(Spanned::get_ref)
            .map(|line| traffic(scenario, line))
            .collect::<Result<_>>()?,
        acts: raw
            .acts
            .iter()
            .flat_map(Spanned::get_ref)
            .map(|act| read_act(scenario, act, names))
            .collect::<Result<_>>()?,
    };
    names.check(&visit.path)?;
    Ok(visit)
}

/// Splits `frontend:/chat/new` into the name of a system, which may be absent, and the path.
fn system_and_path(named: &Spanned<String>) -> (Option<String>, Spanned<String>) {
    let span = named.span();
    match named.get_ref().split_once(':') {
        Some((system, path)) if is_name(system) && path.starts_with('/') => {
            (Some(system.to_owned()), Spanned::new(span, path.to_owned()))
        }
        _ => (None, Spanned::new(span, named.get_ref().clone())),
    }
}

fn traffic(scenario: ScenarioFile<'_>, line: &Spanned<String>) -> Result<String> {
    let text = line.get_ref();
    let fits = text.split_once(' ').is_some_and(|(method, path)| {
        !method.is_empty() && method.chars().all(|c| c.is_ascii_uppercase()) && path.starts_with('/')
    });
    if fits {
        return Ok(text.clone());
    }
    let error = scenario.source.error(line.span().start, format!("`{text}` does not name a request of the page"));
    Err(error.help("write its method and its path, with `*` for a part: \"POST /api/threads/*/runs/stream\""))
}

fn read_act(scenario: ScenarioFile<'_>, act: &Spanned<RawAct>, names: &Names) -> Result<Act> {
    let (start, raw) = (act.span().start, act.get_ref());
    let given = fields!(raw; see, unseen, once, above, click, fill, press, goto, reload, aria, screenshot);
    let given: Vec<&str> = given.iter().filter_map(|(word, at)| at.map(|_| *word)).collect();
    let [word] = given[..] else {
        let what = if given.is_empty() {
            "this act does nothing".to_owned()
        } else {
            format!("this act does {} things: {}", given.len(), listed(&given))
        };
        return Err(scenario.source.error(start, what).help(format!("an act has exactly one of {}", listed(&ACTS))));
    };
    if word != "fill" {
        scenario.refuse(&fields!(raw; text), "belongs to `fill`")?;
    }
    if word != "screenshot" {
        scenario.refuse(&fields!(raw; baseline), "belongs to `screenshot`")?;
    }
    if !["see", "once", "above"].contains(&word) {
        scenario.refuse(&fields!(raw; visible), "belongs to `see`, `once` and `above`")?;
    }
    if ["press", "goto", "reload", "aria"].contains(&word) {
        scenario.refuse(&fields!(raw; within), &format!("limits a wait, and `{word}` does not wait"))?;
    }
    let target = |text: &Option<Spanned<String>>| -> Result<Target> {
        let text = text.as_ref().ok_or_else(|| Error::new("no target"))?;
        read_target(scenario, text, names, By::Text)
    };
    let what = match word {
        "see" => Do::See(target(&raw.see)?),
        "unseen" => Do::Unseen(target(&raw.unseen)?),
        "once" => Do::Once(target(&raw.once)?),
        "click" => Do::Click(target(&raw.click)?),
        "fill" => {
            let Some(text) = &raw.text else {
                return Err(scenario
                    .source
                    .error(start, "this act fills a field, but does not say with what")
                    .help("add `text = \"…\"`"));
            };
            Do::Fill { target: target(&raw.fill)?, text: template(scenario, text, names)? }
        }
        "above" => {
            let targets = raw.above.as_ref().map(Spanned::get_ref).into_iter().flatten();
            let targets =
                targets.map(|text| read_target(scenario, text, names, By::Text)).collect::<Result<Vec<_>>>()?;
            if targets.len() < 2 {
                return Err(scenario.source.error(start, "`above` needs at least two elements to compare"));
            }
            Do::Above(targets)
        }
        "press" => Do::Press(raw.press.as_ref().map(|keys| keys.get_ref().clone()).unwrap_or_default()),
        "goto" => {
            let path = raw.goto.as_ref().ok_or_else(|| Error::new("no path"))?;
            let path = path_of(scenario, path)?;
            names.check(&path)?;
            Do::Goto(path)
        }
        "reload" => {
            scenario.refuse(
                &[("reload", raw.reload.as_ref().filter(|yes| !yes.get_ref()).map(|no| no.span().start))],
                "does nothing if it is false: remove it",
            )?;
            Do::Reload
        }
        "aria" => {
            let text = raw.aria.as_ref().ok_or_else(|| Error::new("no region"))?;
            let target = read_target(scenario, text, names, By::Role)?;
            if target.by != By::Role {
                let error = scenario.source.error(text.span().start, "a region is found by its role and name");
                return Err(error.help("write aria = \"main\", or aria = \"navigation Earlier chats\""));
            }
            Do::Aria(target)
        }
        _ => screenshot(scenario, raw)?,
    };
    let within = raw.within.as_ref().map_or(WITHIN, |within| within.get_ref().0);
    let visible = raw.visible.as_ref().is_none_or(|visible| *visible.get_ref());
    Ok(Act { what, visible, within, place: scenario.source.place(start) })
}

fn screenshot(scenario: ScenarioFile<'_>, raw: &RawAct) -> Result<Do> {
    let name = raw.screenshot.as_ref().ok_or_else(|| Error::new("no name"))?;
    if !is_name(name.get_ref()) {
        let what = format!("`{}` cannot be the name of a screenshot", name.get_ref());
        return Err(scenario
            .source
            .error(name.span().start, what)
            .help("names are made of lower-case letters, digits, `.`, `_` and `-`"));
    }
    let baseline = raw.baseline.as_ref().is_some_and(|baseline| *baseline.get_ref());
    Ok(Do::Screenshot { name: name.get_ref().clone(), baseline })
}

/// Reads a text and the word before it that says how to find an element, such as `label:`. A word that a template renders to
/// does not count.
fn read_target(scenario: ScenarioFile<'_>, text: &Spanned<String>, names: &Names, plain: By) -> Result<Target> {
    let (by, rest) = match text.get_ref().split_once(':') {
        Some((word, rest)) => match by_word(word) {
            Some(by) => (by, rest),
            None if rest.starts_with([' ', '/']) => (plain, text.get_ref().as_str()),
            None => {
                refuse_near_word(scenario, text, word)?;
                (plain, text.get_ref().as_str())
            }
        },
        None => (plain, text.get_ref().as_str()),
    };
    if rest.trim().is_empty() {
        return Err(scenario.source.error(text.span().start, "an empty text matches everything: say what to find"));
    }
    let template = Template::parse(rest, scenario.source, text.span())?;
    names.check(&template)?;
    Ok(Target { by, text: template })
}

fn by_word(word: &str) -> Option<By> {
    By::WORDS.iter().find(|(known, _)| *known == word).map(|(_, by)| *by)
}

/// Returns an error for a word that is almost `label:`, `role:` and so on. It is a typo: taken as a text, `see` would wait for
/// it in vain, and `unseen` would always hold.
fn refuse_near_word(scenario: ScenarioFile<'_>, text: &Spanned<String>, word: &str) -> Result<()> {
    let is_word = word.len() > 2 && word.chars().all(|c| c.is_ascii_lowercase());
    let near = nearest(word, By::WORDS.map(|(word, _)| word)).filter(|_| is_word);
    let Some(near) = near else { return Ok(()) };
    let error = scenario.source.error(text.span().start, format!("`{word}:` is not a way to find an element"));
    Err(error.help(format!("did you mean `{near}:`? As a text: `text:{}`", text.get_ref())))
}

fn template(scenario: ScenarioFile<'_>, text: &Spanned<String>, names: &Names) -> Result<Template> {
    let template = Template::parse(text.get_ref(), scenario.source, text.span())?;
    names.check(&template)?;
    Ok(template)
}
