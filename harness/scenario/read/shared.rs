//! `[[steps.NAME]]` in `suite.toml`: lists of steps that scenarios begin with, by their names in `before`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::file::ScenarioFile;
use super::raw::RawStep;
use super::spanned::Spanned;
use super::step;
use crate::name::{SCENARIOS, SHARED};
use crate::source::Source;
use crate::step::Step;
use crate::template::Names;
use retake_base::error::Result;
use retake_base::text::listed;

/// The lists as they are written, by name.
pub(super) type Lists = BTreeMap<Spanned<String>, Spanned<Vec<Spanned<RawStep>>>>;

/// The shared steps of a suite. Each scenario reads those that it begins with by itself, since their templates use its vars.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    /// The suite's file; absent if there is none.
    source: Option<Source>,
    lists: Lists,
    /// The lists that scenarios begin with unless they say otherwise.
    before: Vec<Spanned<String>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lists.keys().map(Spanned::get_ref)).finish()
    }
}

/// A step that a scenario begins with, and the name of its list.
pub(super) struct SharedStep<'a> {
    pub(super) list: &'a str,
    pub(super) raw: &'a Spanned<RawStep>,
}

impl Shared {
    /// Reads the lists of a suite. Mistakes that do not depend on a scenario are found here, so that they are told once.
    pub(super) fn read(lists: Lists, before: Vec<Spanned<String>>, source: &Source, root: &Path) -> Result<Shared> {
        let shared = Shared { source: Some(source.clone()), lists, before };
        for (name, steps) in &shared.lists {
            if name.get_ref().trim().is_empty() {
                return Err(source.error_at(name, "the name of these steps is empty"));
            }
            if steps.get_ref().is_empty() {
                let what = format!("`steps.{}` contains no step", name.get_ref());
                return Err(source.error_at(steps, what));
            }
            for raw in steps.get_ref() {
                shared.step(&SharedStep { list: name.get_ref(), raw }, root, &Names::unchecked())?;
            }
        }
        shared.chosen(&shared.before, source)?;
        Ok(shared)
    }

    /// Returns the steps that a scenario begins with: those of the lists that it names, or that the suite names for all.
    pub(super) fn of(&self, own: Option<&Vec<Spanned<String>>>, of: &Source) -> Result<Vec<SharedStep<'_>>> {
        match (own, &self.source) {
            (Some(own), _) => self.chosen(own, of),
            (None, Some(source)) => self.chosen(&self.before, source),
            (None, None) => Ok(Vec::new()),
        }
    }

    fn chosen(&self, names: &[Spanned<String>], of: &Source) -> Result<Vec<SharedStep<'_>>> {
        let mut steps = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let text = name.get_ref();
            if names[..index].iter().any(|earlier| earlier.get_ref() == text) {
                return Err(of.error(name.span().start, format!("`before` names `{text}` twice")));
            }
            let Some((list, raw)) = self.lists.iter().find(|(list, _)| list.get_ref() == text) else {
                let known: Vec<&str> = self.lists.keys().map(|list| list.get_ref().as_str()).collect();
                let error = of.error(name.span().start, format!("suite.toml has no steps with the name `{text}`"));
                let error = error.suggest(text, known.iter().copied());
                return Err(match known[..] {
                    [] => error.help(format!("write them there, each as [[steps.{text}]]")),
                    _ => error.help(format!("known there: {}", listed(&known))),
                });
            };
            steps.extend(raw.get_ref().iter().map(|raw| SharedStep { list: list.get_ref(), raw }));
        }
        Ok(steps)
    }

    /// Reads one shared step with the names of a scenario. Its files are in the folder that scenarios share.
    pub(super) fn step(&self, shared: &SharedStep<'_>, root: &Path, names: &Names) -> Result<Step> {
        let nowhere = Source { file: Path::new("").into(), text: String::new() };
        let source = self.source.as_ref().unwrap_or(&nowhere);
        let dir = Path::new(SCENARIOS).join(SHARED);
        let file = ScenarioFile { source, root, dir: &dir, list: Some(shared.list) };
        let read = step::read(file, shared.raw, names)?;
        Ok(Step { name: read.name.or_else(|| Some(shared.list.to_owned())), ..read })
    }
}
