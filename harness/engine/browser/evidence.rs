//! Collects what a person needs to understand why an act failed.

use std::path::{Path, PathBuf};

use super::page::Page;
use super::{picture, tree};
use retake_base::files;

/// What the page showed when an act failed.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The text for the failure: the page's console and failed requests, and the accessibility tree near the target.
    pub lines: String,
    /// The first request of the page that was answered with an error.
    pub refused: Option<String>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

impl Page {
    /// Collects what explains a failure. `about` describes the act that failed. The files go into `folder`, and `scrub` removes
    /// secrets from all texts.
    pub(crate) async fn evidence(&self, about: &str, folder: &Path, scrub: &dyn Fn(&str) -> String) -> Evidence {
        let url = self.evaluate("location.href").await.ok();
        let url = url.as_ref().and_then(|url| url.as_str()).unwrap_or("a page that does not answer").to_owned();
        let seen = self.watch.seen.lock().clone();
        let tree = tree::whole(self).await.unwrap_or_else(|error| error.what().to_owned());
        let quoted = |text: &str| text.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n");
        let part = |title: &str, text: &str| {
            if text.is_empty() { String::new() } else { format!("\n{title}:\n{}", quoted(text)) }
        };
        let told = [
            ("the page's console", seen.console.join("\n")),
            ("requests that failed", seen.failed.join("\n")),
            ("requests to other machines, which are never reached", seen.elsewhere.join("\n")),
        ];
        let told: String = told.iter().map(|(title, text)| part(title, text)).collect();
        let near = part("the accessibility tree near it", &tree::near(&tree, about));
        let lines = scrub(&format!("the page was {url}{told}{near}"));
        let mut evidence = Evidence { lines, refused: seen.refused, files: Vec::new() };
        if std::fs::create_dir_all(folder).is_err() {
            return evidence;
        }
        let whole = scrub(&format!("{url}\n{told}{}\n", part("the accessibility tree", &tree)));
        let picture = picture::take(self).await.unwrap_or_default();
        for (name, bytes) in [("failure.png", picture.as_slice()), ("failure.txt", whole.as_bytes())] {
            let file = folder.join(name);
            if !bytes.is_empty() && files::write_whole(&file, bytes).is_ok() {
                evidence.files.push(file);
            }
        }
        evidence
    }
}
