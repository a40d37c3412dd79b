//! The folder of a stage, with folders in it for the system's data, its home and its temporary files, and with its log.

use std::path::PathBuf;

use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::date;
use super::guardian::{Guard, Guarded};
use super::path::path;
use retake_base::error::{Error, Result};

/// The paths of one stage's folder. The folder may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub root: PathBuf,
    /// The folder that templates call `workdir`.
    pub work: PathBuf,
    pub home: PathBuf,
    pub temp: PathBuf,
}

/// The folder of this process, and its guardian. It is never dropped, so the pipe to the guardian closes when the process ends,
/// if not before.
struct Kept {
    root: PathBuf,
    guardian: Guarded,
}

static KEPT: OnceCell<Option<Kept>> = OnceCell::const_new();

impl Kept {
    /// Returns `None` on platforms without guardians.
    async fn new() -> Option<Kept> {
        let root = Folder::new().root;
        let guardian = Guard::default().folders(vec![root.clone()]).start(|_| {}).await.ok()?;
        Some(Kept { root, guardian })
    }
}

/// Starts the guardian of this process, if it is not running yet.
pub(super) async fn keep() {
    KEPT.get_or_init(Kept::new).await;
}

/// Removes the folder of this process, if there is one, and waits until it is gone. By then, all stages have to be over.
pub(super) fn remove_kept() {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    if let (Some(Some(kept)), Ok(runtime)) = (KEPT.get(), runtime) {
        runtime.block_on(kept.guardian.end());
    }
}

impl Folder {
    /// Returns new, unused paths in the temporary folder. They are canonical: on macOS the temporary folder is a symbolic link,
    /// and systems print the path that it points to.
    pub(crate) fn new() -> Folder {
        let temp = std::env::temp_dir();
        let temp = temp.canonicalize().unwrap_or(temp);
        let name = uuid::Uuid::new_v4().simple().to_string();
        Folder::at(temp.join(format!("retake-{}", &name[..12])))
    }

    fn at(root: PathBuf) -> Folder {
        Folder { work: root.join("work"), home: root.join("home"), temp: root.join("tmp"), root }
    }

    /// Creates a folder, which exists as long as the handle lives. It is in a folder of this process, which a guardian removes
    /// if the process is killed.
    /// Fails if it cannot be created.
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

    /// Creates the home and the temporary folder, which only programs need.
    /// Fails if one cannot be created.
    pub(crate) fn make_for_programs(&self) -> Result<()> {
        let failed = |e: std::io::Error| Error::new(format!("failed to make a program's home: {e}"));
        [&self.home, &self.temp].into_iter().try_for_each(std::fs::create_dir_all).map_err(failed)
    }

    /// Returns all of its folders, in the order in which they can be created.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        vec![self.root.clone(), self.work.clone(), self.home.clone(), self.temp.clone()]
    }

    /// Returns the environment of a program that is not a system, and so always gets today's date.
    pub(crate) fn environment_of_today(&self, own: Vec<(String, String)>) -> Vec<(String, String)> {
        self.environment(own, &date::today())
    }

    /// Returns the environment that every program of the stage gets, plus the program's `own` variables. Of the runner's
    /// environment it contains only PATH. `date` is the day that the program should take as today.
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
