//! The folder of a stage: one for the system's data, its home, its temporary files, and beside them its log.

use std::path::PathBuf;

use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::date;
use super::guardian::{Guard, Guarded};
use super::path::path;
use crate::error::{Error, Result};

/// The paths of one stage's folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    /// What templates call `workdir`.
    pub(crate) work: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) temp: PathBuf,
}

/// The folder of this process and its guardian; it is never dropped, so the pipe to the guardian closes with the process
/// at the latest.
struct Kept {
    root: PathBuf,
    guardian: Guarded,
}

static KEPT: OnceCell<Option<Kept>> = OnceCell::const_new();

impl Kept {
    /// None where there are no guardians.
    async fn new() -> Option<Kept> {
        let root = Folder::new().root;
        let guardian = Guard::default().folders(vec![root.clone()]).start(|_| {}).await.ok()?;
        Some(Kept { root, guardian })
    }
}

/// Starts the guardian of this process, where it has none yet.
pub(super) async fn keep() {
    KEPT.get_or_init(Kept::new).await;
}

/// Removes the folder of this process, where it has one, and waits until it is gone. Stages are over then.
pub(crate) fn remove_kept() {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    if let (Some(Some(kept)), Ok(runtime)) = (KEPT.get(), runtime) {
        runtime.block_on(kept.guardian.end());
    }
}

impl Folder {
    /// Paths that nobody has, in the temporary folder. It is canonical: macOS's is a link, and systems tell its target.
    pub(crate) fn new() -> Folder {
        let temp = std::env::temp_dir();
        let temp = temp.canonicalize().unwrap_or(temp);
        let name = uuid::Uuid::new_v4().simple().to_string();
        Folder::at(temp.join(format!("retake-{}", &name[..12])))
    }

    fn at(root: PathBuf) -> Folder {
        Folder { work: root.join("work"), home: root.join("home"), temp: root.join("tmp"), root }
    }

    /// Makes the folder, for as long as the handle lives. It is in a folder of this process, which a guardian removes
    /// should the process be killed.
    ///
    /// # Errors
    /// The reason.
    pub(crate) async fn make() -> Result<(Folder, TempDir)> {
        let failed = |e: std::io::Error| Error::new(format!("failed to make a work folder: {e}"));
        let kept = KEPT.get_or_init(Kept::new).await;
        let mut builder = tempfile::Builder::new();
        let handle = match kept {
            Some(kept) => builder.prefix("").tempdir_in(&kept.root),
            None => builder.prefix("retake-").tempdir(),
        };
        let handle = handle.map_err(failed)?;
        let folder = Folder::at(handle.path().canonicalize().map_err(failed)?);
        std::fs::create_dir(&folder.work).map_err(failed)?;
        Ok((folder, handle))
    }

    /// Makes home and temporary folder, which only programs need.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn make_for_programs(&self) -> Result<()> {
        let failed = |e: std::io::Error| Error::new(format!("failed to make a program's home: {e}"));
        [&self.home, &self.temp].into_iter().try_for_each(std::fs::create_dir_all).map_err(failed)
    }

    /// All of it, in the order in which it can be made.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        vec![self.root.clone(), self.work.clone(), self.home.clone(), self.temp.clone()]
    }

    /// The environment of a program that is not a system: today is today.
    pub(crate) fn environment_of_today(&self, own: Vec<(String, String)>) -> Vec<(String, String)> {
        self.environment(own, &date::today())
    }

    /// The environment that every program of the stage gets, with its own on top: nothing of the runner's but PATH.
    /// `date` is the day that it is to take for today.
    pub(crate) fn environment(&self, own: Vec<(String, String)>, date: &str) -> Vec<(String, String)> {
        let text = |path: &PathBuf| path.display().to_string();
        let given = [
            ("PATH", path()),
            ("HOME", text(&self.home)),
            ("TMPDIR", text(&self.temp)),
            ("TEMP", text(&self.temp)),
            ("TMP", text(&self.temp)),
            (date::DATE_VARIABLE, date.to_owned()),
        ];
        let mut environment: Vec<(String, String)> = given
            .into_iter()
            .filter(|(name, _)| own.iter().all(|(of_own, _)| of_own != name))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        environment.extend(own);
        environment
    }
}
