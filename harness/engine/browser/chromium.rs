//! The browser's process. It is found on the machine, and started under a guardian, which ends it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::{OnceCell, oneshot};

use super::connection::Connection;
use crate::system::{Folder, Guarded, Log, Order, Program, Today};
use retake_base::error::{Error, Result};

/// The environment variable that names the program.
const VARIABLE: &str = "RETAKE_CHROMIUM";
/// The usual names of the program.
const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/// The paths of the program on macOS.
const PLACES: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/// How long the browser may take to start.
const START: Duration = Duration::from_secs(30);
/// The text before the address in the browser's output.
const LISTENS: &str = "DevTools listening on ";

/// A running browser.
#[derive(Debug)]
pub(crate) struct Chromium {
    pub(super) connection: Connection,
    guarded: Guarded,
}

static CHROMIUM: OnceCell<Result<Chromium>> = OnceCell::const_new();

/// Closes the browser of this process, if there is one, and waits until it has ended and its profile is removed.
pub fn close() {
    let (Some(Ok(chromium)), Ok(runtime)) = (CHROMIUM.get(), retake_model::threads::runtime()) else { return };
    runtime.block_on(chromium.guarded.end());
}

impl Chromium {
    /// Returns the browser of this process, and starts it if it is not running yet.
    /// Fails if it is not installed or does not start.
    pub(crate) async fn get() -> Result<&'static Chromium> {
        CHROMIUM.get_or_init(Chromium::start).await.as_ref().map_err(Clone::clone)
    }

    async fn start() -> Result<Chromium> {
        let program = program()?;
        let folder = Folder::new();
        let command = [program.display().to_string()].into_iter().chain(flags(&folder.work)).collect();
        let log = Log::new(None);
        let (found, listening) = oneshot::channel();
        let printed = log.clone();
        let (mut found, mut text) = (Some(found), String::new());
        let env = folder.environment(Vec::new(), &Today::default());
        let started = Program { command, cwd: folder.root.clone(), env, ..Program::default() };
        let order = Order { folders: folder.all(), program: Some(started), ..Order::default() };
        let guarded = order.start(None, move |bytes| {
            printed.push(bytes);
            if found.is_some() {
                text.push_str(&String::from_utf8_lossy(bytes));
                if let Some(url) = address(&text) {
                    found.take().map(|found| found.send(url));
                }
            }
        });
        let failed = |error: Error| error.while_doing(&format!("start {}", program.display()));
        let guarded = guarded.await.map_err(failed)?;
        let url = tokio::select! {
            url = listening => url.map_err(|_| Error::new("it closed its output")),
            exit = guarded.exited() => {
                let how = exit.map_or_else(String::new, |exit| format!(": {exit}"));
                Err(Error::new(format!("it ended{how}")))
            }
            () = tokio::time::sleep(START) => Err(Error::new(format!("it was not ready after {START:?}"))),
        };
        let connected = match url {
            Ok(url) => Connection::open(url).await,
            Err(error) => Err(error),
        };
        match connected {
            Ok(connection) => Ok(Chromium { connection, guarded }),
            Err(error) => {
                guarded.end().await;
                Err(log.tail().iter().fold(failed(error), |error, line| error.help(format!("| {line}"))))
            }
        }
    }
}

/// Returns the address in the browser's output, once its line is complete.
fn address(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(LISTENS)?;
    rest.split_once('\n').map(|(url, _)| url.trim().to_owned())
}

/// Finds the browser's program on this machine.
///
/// # Errors
/// If there is none. The error has the command that installs it.
pub fn program() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        if named.is_file() {
            return Ok(named);
        }
        return Err(Error::new(format!("there is no Chromium at {}, which {VARIABLE} names", named.display())));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = named.chain(PLACES.iter().map(PathBuf::from)).find(|file| file.is_file());
    found.ok_or_else(|| {
        Error::new(format!("there is no Chromium on this machine: looked for {} in PATH", NAMES.join(", ")))
            .help("install it (Debian and Ubuntu: apt-get install chromium; macOS: brew install --cask chromium)")
            .help(format!("or set {VARIABLE} to its program"))
    })
}

/// Returns the flags to start the browser with: headless, without background work, and unable to resolve other machines.
fn flags(profile: &Path) -> Vec<String> {
    let mut flags: Vec<String> = [
        "--headless",
        "--remote-debugging-port=0",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]",
        "--no-proxy-server",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-extensions",
        "--disable-sync",
        "--disable-breakpad",
        "--disable-dev-shm-usage",
        "--metrics-recording-only",
        "--password-store=basic",
        "--use-mock-keychain",
        "--disable-features=Translate,MediaRouter,OptimizationHints,PaintHolding",
        // Scenarios run at the same time, and none of their pages may be treated as a background tab.
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        // The same pixels each time.
        "--force-color-profile=srgb",
        "--hide-scrollbars",
        "--window-size=1280,800",
    ]
    .map(str::to_owned)
    .into();
    flags.push(format!("--user-data-dir={}", profile.display()));
    if is_root() {
        flags.push("--no-sandbox".to_owned());
    }
    flags.push("about:blank".to_owned());
    flags
}

/// Whether this is the root user, for whom Chromium's sandbox does not work.
#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
