//! A step that opens a page in a browser: its address, and what to do and to look for on it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::template::Template;
use retake_base::error::{Place, Result};

/// A page, and the acts on it, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct PageVisit {
    /// The system that serves the page, if that is not the scenario's own system but one that needs it.
    pub system: Option<String>,
    /// Path and query, which start with `/`.
    pub path: Template,
    /// The local storage that the page's first script finds.
    pub storage: BTreeMap<String, Template>,
    /// The statuses that the page may answer with. If absent, every status below 400 is accepted.
    pub status: Option<Vec<u16>>,
    /// Requests that the page has to make, and whose answers go into the golden: a method and a path, in which `*` matches
    /// any text without a slash.
    pub traffic: Vec<String>,
    /// The acts, in order.
    pub acts: Vec<Act>,
}

/// One act on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// What to do or to look for.
    pub what: Do,
    /// Whether a person has to see what it looks for, and not only the page's code.
    pub visible: bool,
    /// How long to wait until it can be done, or until what it looks for holds.
    pub within: Duration,
    /// Its place in `scenario.toml`.
    pub place: Place,
}

/// What to do or to look for on a page. `T` is a template, or the text that it renders to.
#[derive(Clone, Debug, PartialEq)]
pub enum Do<T = Template> {
    /// Waits until something visible matches.
    See(Target<T>),
    /// Waits until nothing visible matches.
    Unseen(Target<T>),
    /// Waits until exactly one visible element matches.
    Once(Target<T>),
    /// Waits until each target matches exactly one visible element, and each element is above the next.
    Above(Vec<Target<T>>),
    /// Clicks the only element that matches.
    Click(Target<T>),
    /// Replaces the content of a field.
    Fill {
        /// The field.
        target: Target<T>,
        /// The text.
        text: T,
    },
    /// Presses a key by its name where the focus is, possibly with others held down: `Enter`, `Control+A`.
    Press(String),
    /// Goes to another path of the same system.
    Goto(T),
    /// Reloads the page.
    Reload,
    /// Puts the accessibility tree of a region into the golden.
    Aria(Target<T>),
    /// Saves a screenshot, and may compare it with one of an earlier run on this machine.
    Screenshot {
        /// The name of its file, without the extension.
        name: String,
        /// Whether it is compared.
        baseline: bool,
    },
}

/// How to find an element on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<T = Template> {
    /// What the text is compared with.
    pub by: By,
    /// The text to find.
    pub text: T,
}

/// What an element is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The text that it shows. Of nested elements, the smallest is meant.
    Text,
    /// Its role and, after a space, a part of its name.
    Role,
    /// The label of a field.
    Label,
    /// The placeholder of a field.
    Placeholder,
    /// The exact value of the attribute `data-testid`.
    TestId,
    /// A CSS selector.
    Css,
}

impl By {
    /// All variants, with the words that name them before a colon.
    pub(crate) const WORDS: [(&'static str, By); 6] = [
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
    /// Applies `render` to each text.
    ///
    /// # Errors
    /// The first error of `render`.
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

    /// Returns the key that stands for this act in `scenario.toml`.
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
