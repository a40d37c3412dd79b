//! A step that opens a page in a browser: its address, and what to do and to look for on it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
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
    /// The size of the window, in CSS pixels, if it is not the usual one.
    pub viewport: Option<[u32; 2]>,
    /// The colour scheme that the page is asked for: `light` or `dark`.
    pub colors: Option<&'static str>,
    /// What becomes of dialogs such as `confirm`.
    pub dialogs: Dialogs,
    /// The acts, in order.
    pub acts: Vec<Act>,
}

/// What becomes of the dialogs that a page opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dialogs {
    /// They are dismissed, as if nobody agreed.
    #[default]
    Dismiss,
    /// They are accepted; a prompt keeps the text that it proposes.
    Accept,
}

/// One act on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    pub what: Do,
    /// Whether a person has to see what it looks for, and not only the page's code.
    pub visible: bool,
    /// The CSS selector of the iframe that it is about, if it is not the page itself.
    pub frame: Option<String>,
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
    /// Moves the mouse over the only element that matches.
    Hover(Target<T>),
    /// Gives files to a field for files.
    Upload {
        /// The field.
        target: Target<T>,
        /// The files, relative to the root.
        files: Vec<PathBuf>,
    },
    /// Waits until the page has opened a dialog with this text.
    Dialog(T),
    /// Does the acts one after another, and begins again when one of them fails.
    Retry(Vec<Act>),
    /// Clicks the only element that matches.
    Click(Target<T>),
    /// Replaces the content of a field.
    Fill {
        /// The field.
        target: Target<T>,
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
        /// The share of its pixels that may differ, from 0 to 1.
        tolerance: f64,
        /// Elements that are painted over before it is compared.
        masks: Vec<Target<T>>,
    },
}

/// How to find an element on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Target<T = Template> {
    /// What the text is compared with.
    pub by: By,
    /// Whether the text is the whole one, letter by letter, and not a part of it.
    pub exact: bool,
    /// Whether the text is Markdown, and the page shows it rendered: only letters and digits count.
    pub markdown: bool,
    /// Which of several visible matches is meant, counted from 0; -1 is the last.
    pub nth: Option<i64>,
    /// The element that it is in.
    pub within: Option<Box<Target<T>>>,
    pub text: T,
}

/// What an element is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The text that it shows. Of nested elements, the smallest is meant.
    Text,
    /// Its role and, after a space, a part of its name.
    Role,
    Label,
    Placeholder,
    /// The exact value of the attribute `data-testid`.
    TestId,
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

    /// Returns the word that names it before a colon.
    pub fn word(self) -> &'static str {
        By::WORDS.iter().find(|(_, by)| *by == self).map_or("", |(word, _)| word)
    }
}

impl<T> Target<T> {
    /// A target that is found by a text, a role or the like alone.
    pub fn of(by: By, text: T) -> Target<T> {
        Target { by, exact: false, markdown: false, nth: None, within: None, text }
    }

    fn render<U>(&self, render: &mut impl FnMut(&T) -> Result<U>) -> Result<Target<U>> {
        let within = self.within.as_ref().map(|target| target.render(render).map(Box::new)).transpose()?;
        let Target { by, exact, markdown, nth, .. } = *self;
        Ok(Target { by, exact, markdown, nth, within, text: render(&self.text)? })
    }
}

impl<T: fmt::Display> fmt::Display for Target<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}:{}`", self.by.word(), self.text)?;
        if let Some(nth) = self.nth {
            write!(f, " (nth = {nth})")?;
        }
        self.within.iter().try_for_each(|within| write!(f, " in {within}"))
    }
}

impl<T> Do<T> {
    /// Applies `render` to each text.
    /// The first error of `render`.
    pub fn render<U>(&self, mut render: impl FnMut(&T) -> Result<U>) -> Result<Do<U>> {
        let render = &mut render;
        Ok(match self {
            Do::See(target) => Do::See(target.render(render)?),
            Do::Unseen(target) => Do::Unseen(target.render(render)?),
            Do::Once(target) => Do::Once(target.render(render)?),
            Do::Above(targets) => Do::Above(targets.iter().map(|target| target.render(render)).collect::<Result<_>>()?),
            Do::Hover(target) => Do::Hover(target.render(render)?),
            Do::Upload { target, files } => Do::Upload { target: target.render(render)?, files: files.clone() },
            Do::Dialog(text) => Do::Dialog(render(text)?),
            Do::Retry(acts) => Do::Retry(acts.clone()),
            Do::Click(target) => Do::Click(target.render(render)?),
            Do::Fill { target, text } => Do::Fill { target: target.render(render)?, text: render(text)? },
            Do::Press(keys) => Do::Press(keys.clone()),
            Do::Goto(path) => Do::Goto(render(path)?),
            Do::Reload => Do::Reload,
            Do::Aria(target) => Do::Aria(target.render(render)?),
            Do::Screenshot { name, baseline, tolerance, masks } => Do::Screenshot {
                name: name.clone(),
                baseline: *baseline,
                tolerance: *tolerance,
                masks: masks.iter().map(|mask| mask.render(render)).collect::<Result<_>>()?,
            },
        })
    }

    /// Returns the only element that the act looks for, if it looks for one.
    pub fn target(&self) -> Option<&Target<T>> {
        match self {
            Do::See(target)
            | Do::Unseen(target)
            | Do::Once(target)
            | Do::Click(target)
            | Do::Hover(target)
            | Do::Upload { target, .. }
            | Do::Fill { target, .. } => Some(target),
            _ => None,
        }
    }

    /// Returns the key that stands for this act in `scenario.toml`.
    pub fn word(&self) -> &'static str {
        match self {
            Do::See(_) => "see",
            Do::Unseen(_) => "unseen",
            Do::Once(_) => "once",
            Do::Above(_) => "above",
            Do::Hover(_) => "hover",
            Do::Upload { .. } => "upload",
            Do::Dialog(_) => "dialog",
            Do::Retry(_) => "retry",
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
            Do::Aria(target) => write!(f, " {target}"),
            Do::Above(targets) => {
                let targets: Vec<String> = targets.iter().map(ToString::to_string).collect();
                write!(f, " {}", targets.join(", "))
            }
            Do::Retry(acts) => write!(f, " {} acts", acts.len()),
            Do::Press(text) | Do::Goto(text) | Do::Dialog(text) | Do::Screenshot { name: text, .. } => {
                write!(f, " `{text}`")
            }
            Do::Reload => Ok(()),
            _ => self.target().map_or(Ok(()), |target| write!(f, " {target}")),
        }
    }
}
