//! The folder of a stage, with folders in it for the system's data, its home and its temporary files, and with its log.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, mpsc};

use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::date::Today;
use super::guardian::{Guarded, Order};
use super::path::path;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_model::kept::outliving;

/// The paths of one stage's folder. The folder may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub root: PathBuf,
    /// The folder that templates call `workdir`.
    pub work: PathBuf,
    pub home: PathBuf,
    pub temp: PathBuf,
    made: Arc<Mutex<Made>>,
}

/// Whether a folder exists.
#[derive(Debug, Default)]
enum Made {
    /// A guardian makes and removes it.
    #[default]
    ByGuardian,
    /// It is made when it is first asked for: most scenarios never do.
    Later,
    Here(Result<TempDir>),
    /// The stage is over.
    Removed,
}

/// The folder of this process, in which the folders of its stages are.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| Folder::new().root);

/// The guardian of the folder of this process. It is never dropped, so the pipe to the guardian closes when the process ends, if
/// not before.
/// `None` on platforms without guardians.
static KEPT: OnceCell<Option<Guarded>> = OnceCell::const_new();

/// Starts the guardian of this process, if it is not running yet.
pub(super) async fn keep() {
    let order = || Order { folders: vec![ROOT.clone()], ..Order::default() };
    KEPT.get_or_init(async || order().start(None, |_| {}).await.ok()).await;
}

/// As [`keep`], on any thread but that of the model servers. Returns whether there is a guardian.
fn keep_from_here() -> Result<bool> {
    if !KEPT.initialized() {
        let (sender, kept) = mpsc::channel();
        outliving()?.spawn(async move {
            keep().await;
            let _ = sender.send(());
        });
        kept.recv().map_err(|_| Error::new("the thread of the model servers ended"))?;
    }
    Ok(matches!(KEPT.get(), Some(Some(_))))
}

/// Removes the folder of this process, if there is one, and waits until it is gone. By then, all stages have to be over.
pub(super) fn remove_kept() {
    match (KEPT.get(), retake_model::threads::runtime()) {
        (Some(Some(guardian)), Ok(runtime)) => {
            runtime.block_on(guardian.end());
            // It may have been killed.
            #[cfg(unix)]
            super::guardian::remove(&ROOT);
        }
        // Without a guardian, a stage made it.
        (Some(None), _) => drop(std::fs::remove_dir(&*ROOT)),
        _ => {}
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
        let made = Arc::default();
        Folder { work: root.join("work"), home: root.join("home"), temp: root.join("tmp"), root, made }
    }

    /// Returns the unused paths of a stage's folder, which [`Folder::make`] creates. It is in a folder of this process, which a
    /// guardian removes if the process is killed.
    pub(crate) fn of_stage() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let folder = Folder::at(ROOT.join(format!("stage-{:06}", NEXT.fetch_add(1, Ordering::Relaxed))));
        *folder.made.lock() = Made::Later;
        folder
    }

    /// Creates the folder, if it is not there yet. It exists until it is removed, or until the last clone of this is dropped.
    /// Fails if it cannot be created.
    pub(crate) fn make(&self) -> Result<()> {
        let mut made = self.made.lock();
        if matches!(*made, Made::Later) {
            *made = Made::Here(self.create());
        }
        match &*made {
            Made::Here(Err(error)) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn create(&self) -> Result<TempDir> {
        let failed = |e: std::io::Error| Error::new(format!("failed to make a work folder: {e}"));
        if !keep_from_here()? {
            std::fs::create_dir_all(&*ROOT).map_err(failed)?;
        }
        let name = self.root.file_name().unwrap_or_default();
        let handle = tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(&*ROOT).map_err(failed)?;
        std::fs::create_dir(&self.work).map_err(failed)?;
        Ok(handle)
    }

    /// Removes the folder, and makes none from now on. This may fail if a blocked system still uses files in it; the folder is in
    /// the temporary folder anyway. Returns why it could not be made, if somebody asked for it.
    pub(crate) fn remove(&self) -> Option<Error> {
        match std::mem::replace(&mut *self.made.lock(), Made::Removed) {
            Made::Here(made) => made.err(),
            Made::ByGuardian | Made::Later | Made::Removed => None,
        }
    }

    /// Creates the home and the temporary folder, which only programs need.
    /// Fails if one cannot be created.
    pub(crate) fn make_for_programs(&self) -> Result<()> {
        self.make()?;
        let failed = |e: std::io::Error| Error::new(format!("failed to make a program's home: {e}"));
        [&self.home, &self.temp].into_iter().try_for_each(std::fs::create_dir_all).map_err(failed)
    }

    /// Returns all of its folders, in the order in which they can be created.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        vec![self.root.clone(), self.work.clone(), self.home.clone(), self.temp.clone()]
    }

    /// Returns the environment that every program of the stage gets, plus the program's `own` variables. Of the runner's
    /// environment it contains only PATH, and the
    /// names of the machine and its user. The language is none, in UTF-8. `today` is the day that the program should take as today.
    pub(crate) fn environment(&self, own: Vec<(String, String)>, today: &Today) -> Vec<(String, String)> {
        let text = |path: &PathBuf| path.display().to_string();
        let given = [
            ("PATH", path()),
            // Without one, some languages read and write ASCII alone.
            ("LANG", "C.UTF-8".to_owned()),
            ("HOME", text(&self.home)),
            ("TMPDIR", text(&self.temp)),
            ("TEMP", text(&self.temp)),
            ("TMP", text(&self.temp)),
        ];
        let others = given.into_iter().chain(today.variables());
        let others = others.filter(|(name, _)| own.iter().all(|(of_own, _)| of_own != name));
        let mut environment: Vec<(String, String)> = others.map(|(name, value)| (name.to_owned(), value)).collect();
        environment.extend(own);
        environment
    }
}
