//! A `scenario.toml` and its folder, which all functions that read it share.

use std::path::{Component, Path, PathBuf};

use super::spanned::Spanned;
use crate::name::SHARED;
use crate::source::Source;
use retake_base::error::{Error, Result};
use retake_base::files;

#[derive(Clone, Copy)]
pub(crate) struct ScenarioFile<'a> {
    /// Its text.
    pub(crate) source: &'a Source,
    pub(crate) root: &'a Path,
    /// The scenario's folder, relative to the root.
    pub(crate) dir: &'a Path,
    /// The name of the shared steps that are read, which are those of `suite.toml`.
    pub(crate) list: Option<&'a str>,
}

impl ScenarioFile<'_> {
    /// Returns an error that points at a value.
    pub(super) fn error<T>(&self, value: &Spanned<T>, what: impl Into<String>) -> Error {
        self.source.error_at(value, what)
    }

    /// As [`Source::refuse`].
    pub(super) fn refuse(&self, fields: &[(&str, Option<usize>)], why: &str) -> Result<()> {
        self.source.refuse(fields, why)
    }

    /// Returns the path, relative to the root, of a file in the scenario's folder or in the folder that scenarios share.
    pub(super) fn beside(&self, named: &Spanned<String>) -> Result<PathBuf> {
        let fail = |what: String| self.error(named, what);
        let shared = Path::new("..").join(SHARED);
        let (folder, path) = match Path::new(named.get_ref()).strip_prefix(&shared) {
            Ok(path) => (self.dir.with_file_name(SHARED), path),
            Err(_) => (self.dir.to_owned(), Path::new(named.get_ref())),
        };
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.as_os_str().is_empty() || !path.components().all(inside) {
            let error = fail(format!("`{}` is not in the scenario's folder", named.get_ref()));
            return Err(error.help(format!("files that several scenarios share are in {}/", shared.display())));
        }
        let file = folder.join(path);
        if self.root.join(&file).exists() {
            let told = |_| {
                let error = fail(format!("`{}` is a link that leads out of the project", named.get_ref()));
                error.help("put the file itself into the scenario's folder")
            };
            return files::inside(self.root, &file).map_err(told).map(|()| file);
        }
        if let Some(link) = files::broken_link(&self.root.join(&file)) {
            return Err(fail(format!("`{}`: expected a file, found {link}", named.get_ref())));
        }
        let error = fail(format!("there is no file `{}` in {}", path.display(), folder.display()));
        let files = |folder: &Path| {
            let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
        };
        let in_shared = |file: String| shared.join(file).display().to_string();
        let known =
            files(self.dir).into_iter().chain(files(&self.dir.with_file_name(SHARED)).into_iter().map(in_shared));
        let known: Vec<String> = known.collect();
        Err(error.suggest(named.get_ref(), known.iter().map(String::as_str)))
    }
}
