//! A step that opens a page in a browser: where it is, and what is done and looked for on it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::error::{Place, Result};
use crate::scenario::template::Template;

/// A page, and the acts on it in order.
#[derive(Clone, Debug, PartialEq)]
pub struct PageVisit {
    /// The system that serves it, where that is not the scenario's own: one that it needs, or that needs it.
    pub system: Option<String>,
    /// Path and query, from the `/` on.
    pub path: Template,
    /// What local storage holds before the page's first script runs.
    pub storage: BTreeMap<String, Template>,
    /// The statuses of the page that are right; without them any below 400 is.
    pub status: Option<Vec<u16>>,
    /// Requests of the page whose answers go into the golden: a method and a path, in which `*` is any part without a
    /// slash. Each has to come.
    pub traffic: Vec<String>,
    /// What is done, one after another.
    pub acts: Vec<Act>,
}

/// One act on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// What is done or looked for.
    pub what: Do,
    /// How long it may take until it can be done, or holds.
    pub within: Duration,
    /// Where it stands in `scenario.toml`.
    pub place: Place,
}

/// What is done or looked for on a page. Its texts are templates, or what they became.
#[derive(Clone, Debug, PartialEq)]
pub enum Do<T = Template> {
    /// Something visible fits.
    See(Target<T>),
    /// Nothing visible fits.
    Unseen(Target<T>),
    /// Exactly one visible thing fits.
    Once(Target<T>),
    /// Each stands above the next, and each is there once.
    Above(Vec<Target<T>>),
    /// Clicks what fits, which has to be one thing.
    Click(Target<T>),
    /// Writes a text into a field, in place of what it holds.
    Fill {
        /// The field.
        target: Target<T>,
        /// The text.
        text: T,
    },
    /// Presses a key where the focus is, by its name, with others held: `Enter`, `Control+A`.
    Press(String),
    /// Goes to another path of the same system.
    Goto(T),
    /// Loads the page anew.
    Reload,
    /// Puts the accessible tree of a region into the golden.
    Aria(Target<T>),
    /// Keeps a picture, and compares it with that of an earlier run on this machine.
    Screenshot {
        /// The name of its file.
        name: String,
        /// Whether it is compared.
        baseline: bool,
    },
}

/// What a person finds on a page, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<T = Template> {
    /// By what.
    pub by: By,
    /// The text to find.
    pub text: T,
}

/// By what something is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The text that it shows: of nested elements the smallest.
    Text,
    /// Its role, and behind a blank a part of its name.
    Role,
    /// The label of a field.
    Label,
    /// The placeholder of a field.
    Placeholder,
    /// The attribute `data-testid`, as it is.
    TestId,
    /// A CSS selector.
    Css,
}

impl By {
    /// All there are, by the words that stand before a colon.
    pub(in crate::scenario) const WORDS: [(&'static str, By); 6] = [
        ("text", By::Text),
        ("role", By::Role),
        ("label", By::Label),
        ("placeholder", By::Placeholder),
        ("testid", By::TestId),
        ("css", By::Css),
    ];
}

impl<T> Target<T> {
    fn render<U>(&self, render: &mut impl FnMut(&T) -> Result<U>) -> Result<Target<U>> {
        Ok(Target { by: self.by, text: render(&self.text)? })
    }
}

impl<T: fmt::Display> fmt::Display for Target<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = By::WORDS.iter().find(|(_, by)| *by == self.by).map_or("", |(word, _)| word);
        write!(f, "`{word}:{}`", self.text)
    }
}

impl<T> Do<T> {
    /// The same with other texts.
    ///
    /// # Errors
    /// The first of `render`.
    pub fn render<U>(&self, mut render: impl FnMut(&T) -> Result<U>) -> Result<Do<U>> {
        let render = &mut render;
        Ok(match self {
            Do::See(target) => Do::See(target.render(render)?),
            Do::Unseen(target) => Do::Unseen(target.render(render)?),
            Do::Once(target) => Do::Once(target.render(render)?),
            Do::Above(targets) => Do::Above(targets.iter().map(|target| target.render(render)).collect::<Result<_>>()?),
            Do::Click(target) => Do::Click(target.render(render)?),
            Do::Fill { target, text } => Do::Fill { target: target.render(render)?, text: render(text)? },
            Do::Press(keys) => Do::Press(keys.clone()),
            Do::Goto(path) => Do::Goto(render(path)?),
            Do::Reload => Do::Reload,
            Do::Aria(target) => Do::Aria(target.render(render)?),
            Do::Screenshot { name, baseline } => Do::Screenshot { name: name.clone(), baseline: *baseline },
        })
    }

    /// The word by which a scenario calls it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Do::See(_) => "see",
            Do::Unseen(_) => "unseen",
            Do::Once(_) => "once",
            Do::Above(_) => "above",
            Do::Click(_) => "click",
            Do::Fill { .. } => "fill",
            Do::Press(_) => "press",
            Do::Goto(_) => "goto",
            Do::Reload => "reload",
            Do::Aria(_) => "aria",
            Do::Screenshot { .. } => "screenshot",
        }
    }
}

impl fmt::Display for Do<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.word())?;
        match self {
            Do::See(target) | Do::Unseen(target) | Do::Once(target) | Do::Click(target) | Do::Aria(target) => {
                write!(f, " {target}")
            }
            Do::Fill { target, .. } => write!(f, " {target}"),
            Do::Above(targets) => {
                let targets: Vec<String> = targets.iter().map(ToString::to_string).collect();
                write!(f, " {}", targets.join(", "))
            }
            Do::Press(text) | Do::Goto(text) | Do::Screenshot { name: text, .. } => write!(f, " `{text}`"),
            Do::Reload => Ok(()),
        }
    }
}
