//! Reads a step that opens a page in a browser.

use std::time::Duration;

use super::file::ScenarioFile;
use super::raw::{RawAct, RawInside, RawStep, fields};
use super::request::path_of;
use super::spanned::Spanned;
use crate::name::is_name;
use crate::step::{Act, By, Do, PageVisit, Target};
use crate::template::{Names, Template};
use retake_base::error::{Error, Result};
use retake_base::text::{listed, nearest};

/// How long to wait for an act that does not set `within`.
const WITHIN: Duration = Duration::from_secs(10);
/// The same for an act of a group that is tried again.
const WITHIN_RETRY: Duration = Duration::from_secs(1);

/// The keys that can be held down with another one. `ControlOrMeta` is the one that commands have on this system.
const HELD: [&str; 5] = ["Alt", "Control", "ControlOrMeta", "Meta", "Shift"];

/// The roles of ARIA. Chromium's own roles, which begin with a capital letter, are not checked.
const ROLES: &str = "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader \
    combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic \
    grid gridcell group heading image img insertion link list listbox listitem log main mark marquee math menu menubar menuitem \
    menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region \
    row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion superscript \
    switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem";

pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<PageVisit> {
    let why = "belongs to a request or a command, and this step opens a page";
    let of_others = fields!(raw; headers, cwd, env, exit, stream, cancel, reconnect, wait, golden);
    scenario.refuse(&of_others, why)?;
    scenario.refuse(&raw.body_fields(), why)?;
    let page = raw.browser.as_ref().ok_or_else(|| Error::new("no page"))?;
    // `frontend:/chat/new` begins with the name of a system.
    let (system, path) = match page.get_ref().split_once(':') {
        Some((system, path)) if is_name(system) && path.starts_with('/') => (Some(system.to_owned()), path),
        _ => (None, page.get_ref().as_str()),
    };
    let acts = raw.acts.iter().flat_map(Spanned::get_ref);
    let visit = PageVisit {
        system,
        path: path_of(scenario, &Spanned::new(page.span(), path.to_owned()))?,
        storage: names.templates(raw.storage.as_ref(), scenario.source, |_, _| Ok(()))?,
        status: raw.status.as_ref().map(|statuses| statuses.get_ref().0.clone()),
        traffic: raw
            .traffic
            .iter()
            .flat_map(Spanned::get_ref)
            .map(|line| traffic(scenario, line))
            .collect::<Result<_>>()?,
        viewport: raw.viewport.as_ref().map(|size| viewport(scenario, size)).transpose()?,
        colors: raw.colors.as_ref().map(|colors| colors.get_ref().0),
        dialogs: raw.dialogs.as_ref().map(|dialogs| dialogs.get_ref().clone()).unwrap_or_default(),
        acts: acts.map(|act| read_act(scenario, act, names, WITHIN)).collect::<Result<_>>()?,
    };
    names.check(&visit.path)?;
    Ok(visit)
}

fn traffic(scenario: ScenarioFile<'_>, line: &Spanned<String>) -> Result<String> {
    let text = line.get_ref();
    let fits = text.split_once(' ').is_some_and(|(method, path)| {
        !method.is_empty() && method.chars().all(|c| c.is_ascii_uppercase()) && path.starts_with('/')
    });
    if fits {
        return Ok(text.clone());
    }
    let error = scenario.error(line, format!("`{text}` does not name a request of the page"));
    Err(error.help("write its method and its path, with `*` for a part: \"POST /api/threads/*/runs/stream\""))
}

fn viewport(scenario: ScenarioFile<'_>, size: &Spanned<Vec<Spanned<u16>>>) -> Result<[u32; 2]> {
    match &size.get_ref()[..] {
        [width, height] if *width.get_ref() > 0 && *height.get_ref() > 0 => {
            Ok([u32::from(*width.get_ref()), u32::from(*height.get_ref())])
        }
        _ => Err(scenario.error(size, "expected a width and a height: viewport = [390, 844]")),
    }
}

fn read_act(scenario: ScenarioFile<'_>, act: &Spanned<RawAct>, names: &Names, otherwise: Duration) -> Result<Act> {
    let (start, raw) = (act.span().start, act.get_ref());
    let given: Vec<&str> = raw.kinds().iter().filter_map(|(word, at)| at.map(|_| *word)).collect();
    let [word] = given[..] else {
        let what = if given.is_empty() {
            "this act does nothing".to_owned()
        } else {
            format!("this act does {} things: {}", given.len(), listed(&given))
        };
        return Err(scenario
            .source
            .error(start, what)
            .help(format!("an act has exactly one of {}", listed(&raw.kinds().map(|(word, _)| word)))));
    };
    refuse_strays(scenario, raw, word)?;
    let target = |text: &Spanned<String>| -> Result<Target> {
        let target = read_target(scenario, text, names, By::Text)?;
        if let (Some(markdown), true) = (&raw.markdown, target.by != By::Text || raw.exact.is_some()) {
            let what = "`markdown` belongs to a text, without `exact`: rendered, it has other letters around it";
            return Err(scenario.error(markdown, what));
        }
        Ok(Target {
            exact: raw.exact.as_ref().is_some_and(|exact| *exact.get_ref()),
            markdown: raw.markdown.as_ref().is_some_and(|markdown| *markdown.get_ref()),
            nth: raw.nth.as_ref().map(|nth| *nth.get_ref()),
            within: raw.inside.as_ref().map(|inside| read_inside(scenario, inside, names).map(Box::new)).transpose()?,
            ..target
        })
    };
    let fail = |what: &str| scenario.source.error(start, what);
    let what = match raw {
        RawAct { see: Some(text), .. } => Do::See(target(text)?),
        RawAct { unseen: Some(text), .. } => Do::Unseen(target(text)?),
        RawAct { once: Some(text), .. } => Do::Once(target(text)?),
        RawAct { click: Some(text), .. } => Do::Click(target(text)?),
        RawAct { hover: Some(text), .. } => Do::Hover(target(text)?),
        RawAct { upload: Some(text), .. } => {
            let files = raw.files.iter().flat_map(Spanned::get_ref).map(|file| scenario.beside(file));
            let files: Vec<_> = files.collect::<Result<_>>()?;
            if files.is_empty() {
                return Err(fail("this act uploads no file").help("add `files = [\"…\"]`"));
            }
            Do::Upload { target: target(text)?, files }
        }
        RawAct { dialog: Some(text), .. } => Do::Dialog(names.template(text, scenario.source)?),
        RawAct { retry: Some(inner), .. } => {
            let inner = inner.get_ref().iter().map(|act| read_act(scenario, act, names, WITHIN_RETRY));
            let inner = inner.collect::<Result<Vec<_>>>()?;
            if inner.is_empty() {
                return Err(fail("`retry` contains no act"));
            }
            Do::Retry(inner)
        }
        RawAct { fill: Some(field), text: Some(text), .. } => {
            Do::Fill { target: target(field)?, text: names.template(text, scenario.source)? }
        }
        RawAct { fill: Some(_), .. } => {
            return Err(fail("this act does not say what to fill in").help("add `text = \"…\"`"));
        }
        RawAct { above: Some(targets), .. } => {
            let targets = targets.get_ref().iter().map(|text| read_target(scenario, text, names, By::Text));
            let targets = targets.collect::<Result<Vec<_>>>()?;
            if targets.len() < 2 {
                return Err(fail("`above` needs at least two elements to compare"));
            }
            Do::Above(targets)
        }
        RawAct { press: Some(keys), .. } => Do::Press(read_keys(scenario, keys)?),
        RawAct { goto: Some(path), .. } => {
            let path = path_of(scenario, path)?;
            names.check(&path)?;
            Do::Goto(path)
        }
        RawAct { reload: Some(reload), .. } if *reload.get_ref() => Do::Reload,
        RawAct { reload: Some(no), .. } => {
            return Err(scenario.error(no, "`reload` does nothing if it is false: remove it"));
        }
        RawAct { aria: Some(text), .. } => {
            let target = read_target(scenario, text, names, By::Role)?;
            if target.by != By::Role {
                let error = scenario.error(text, "a region is found by its role and name");
                return Err(error.help("write aria = \"main\", or aria = \"navigation Earlier chats\""));
            }
            Do::Aria(target)
        }
        RawAct { screenshot: Some(name), .. } => screenshot(scenario, raw, name, names)?,
        // One of them is there, as its word is.
        _ => return Err(fail("this act does nothing")),
    };
    let within = raw.within.as_ref().map_or(otherwise, |within| within.get_ref().0);
    let visible = raw.visible.as_ref().is_none_or(|visible| *visible.get_ref());
    let frame = raw.frame.as_ref().map(|frame| frame.get_ref().clone());
    Ok(Act { what, visible, frame, within, place: scenario.source.place(start) })
}

/// Reads which key is pressed, and which others are held down with it.
fn read_keys(scenario: ScenarioFile<'_>, keys: &Spanned<String>) -> Result<String> {
    let held = keys.get_ref().rsplit_once('+').filter(|(_, key)| !key.is_empty()).map(|(held, _)| held);
    if let Some(other) = held.into_iter().flat_map(|held| held.split('+')).find(|key| !HELD.contains(key)) {
        let error = scenario.error(keys, format!("`{other}` is not a modifier key"));
        return Err(error.suggest(other, HELD).help(format!("these can: {}", listed(&HELD))));
    }
    Ok(keys.get_ref().clone())
}

/// Refuses the fields of an act that do not belong to this kind.
fn refuse_strays(scenario: ScenarioFile<'_>, raw: &RawAct, word: &str) -> Result<()> {
    if word != "fill" {
        scenario.refuse(&fields!(raw; text), "belongs to `fill`")?;
    }
    if word != "upload" {
        scenario.refuse(&fields!(raw; files), "belongs to `upload`")?;
    }
    if word != "screenshot" {
        scenario.refuse(&fields!(raw; baseline), "belongs to `screenshot`")?;
    }
    if raw.baseline.as_ref().is_none_or(|baseline| !baseline.get_ref()) {
        scenario.refuse(&fields!(raw; tolerance, mask), "belongs to a screenshot with `baseline = true`")?;
    }
    if !FINDS.contains(&word) {
        let of_one = fields!(raw; inside as "in", exact, markdown, nth, frame);
        scenario.refuse(&of_one, "belongs to an act that looks for one element")?;
    }
    if !["see", "once", "above"].contains(&word) {
        scenario.refuse(&fields!(raw; visible), "belongs to `see`, `once` and `above`")?;
    }
    if ["press", "goto", "reload", "aria"].contains(&word) {
        scenario.refuse(&fields!(raw; within), &format!("limits a wait, and `{word}` does not wait"))?;
    }
    Ok(())
}

/// The acts that look for one element.
const FINDS: [&str; 7] = ["see", "unseen", "once", "click", "hover", "fill", "upload"];

/// Reads the element that another one has to be in.
fn read_inside(scenario: ScenarioFile<'_>, inside: &Spanned<RawInside>, names: &Names) -> Result<Target> {
    let raw = inside.get_ref();
    let given = [&raw.text, &raw.role, &raw.label, &raw.placeholder, &raw.testid, &raw.css];
    let given = By::WORDS.iter().zip(given).filter_map(|((_, by), text)| Some((*by, text.as_ref()?)));
    let [(by, text)] = given.collect::<Vec<_>>()[..] else {
        let words = listed(&By::WORDS.map(|(word, _)| word));
        return Err(scenario.error(inside, format!("`in` has exactly one of {words}")));
    };
    if by == By::Role {
        check_role(scenario, text, text.get_ref())?;
    }
    let text = names.template(text, scenario.source)?;
    Ok(Target { exact: raw.exact.unwrap_or_default(), nth: raw.nth, ..Target::of(by, text) })
}

/// Refuses a role that no element has, for which an act would wait in vain.
fn check_role(scenario: ScenarioFile<'_>, at: &Spanned<String>, text: &str) -> Result<()> {
    let role = text.split_whitespace().next().unwrap_or_default();
    let is_checked = role.chars().all(|c| c.is_ascii_lowercase()) && !role.is_empty();
    if !is_checked || ROLES.split_whitespace().any(|known| known == role) {
        return Ok(());
    }
    let error = scenario.error(at, format!("there is no role `{role}`"));
    Err(error.suggest(role, ROLES.split_whitespace()).help("the roles are those of ARIA: button, heading, textbox, …"))
}

fn screenshot(scenario: ScenarioFile<'_>, raw: &RawAct, name: &Spanned<String>, names: &Names) -> Result<Do> {
    if !is_name(name.get_ref()) {
        let what = format!("`{}` cannot be the name of a screenshot", name.get_ref());
        return Err(scenario.error(name, what).help("names are made of lower-case letters, digits, `.`, `_` and `-`"));
    }
    let baseline = raw.baseline.as_ref().is_some_and(|baseline| *baseline.get_ref());
    let tolerance = raw.tolerance.as_ref().map_or(0.0, |tolerance| *tolerance.get_ref());
    if let Some(wrong) = raw.tolerance.as_ref().filter(|_| !(0.0..1.0).contains(&tolerance)) {
        return Err(scenario.error(wrong, "expected a share of the pixels, from 0 to 1, such as 0.01"));
    }
    let masks = raw.mask.iter().flat_map(Spanned::get_ref);
    let masks = masks.map(|mask| read_target(scenario, mask, names, By::Text)).collect::<Result<_>>()?;
    Ok(Do::Screenshot { name: name.get_ref().clone(), baseline, tolerance, masks })
}

/// Reads a text and the word before it that says how to find an element, such as `label:`. A word that a template renders to
/// does not count.
fn read_target(scenario: ScenarioFile<'_>, text: &Spanned<String>, names: &Names, plain: By) -> Result<Target> {
    let (word, rest) = text.get_ref().split_once(':').unwrap_or_default();
    let known = By::WORDS.iter().find(|(known, _)| *known == word);
    if known.is_none() && !rest.starts_with([' ', '/']) {
        refuse_near_word(scenario, text, word)?;
    }
    let (by, rest) = known.map_or((plain, text.get_ref().as_str()), |(_, by)| (*by, rest));
    if rest.trim().is_empty() {
        return Err(scenario.error(text, "an empty text matches everything: say what to find"));
    }
    if by == By::Role {
        check_role(scenario, text, rest)?;
    }
    let template = Template::parse(rest, scenario.source, text.span())?;
    names.check(&template)?;
    Ok(Target::of(by, template))
}

/// Returns an error for a word that is almost `label:`, `role:` and so on. It is a typo: taken as a text, `see` would wait for
/// it in vain, and `unseen` would always hold.
fn refuse_near_word(scenario: ScenarioFile<'_>, text: &Spanned<String>, word: &str) -> Result<()> {
    let is_word = word.len() > 2 && word.chars().all(|c| c.is_ascii_lowercase());
    let near = nearest(word, By::WORDS.map(|(word, _)| word)).filter(|_| is_word);
    let Some(near) = near else { return Ok(()) };
    let error = scenario.error(text, format!("elements cannot be found by `{word}:`"));
    Err(error.help(format!("did you mean `{near}:`? As a text: `text:{}`", text.get_ref())))
}
