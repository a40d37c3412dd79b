//! The stage, as a system that is started on it sees it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use super::folder::Folder;
use super::values::StageValues;
use crate::fixture::Fixture;
use crate::json::Layout;
use crate::model::Urls;
use crate::scenario::Context;

/// What a system is told of the stage that it is started on. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Stage(Arc<StageValues>);

impl Stage {
    /// An id that no other run has: for accounts and the like, where a system keeps what it was told.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.0.run
    }

    /// The name of the system in the suite.
    #[must_use]
    pub fn system(&self) -> &str {
        &self.0.system
    }

    /// The system's own folder, empty at first and gone at the end.
    #[must_use]
    pub fn workdir(&self) -> &Path {
        self.0.folder.as_ref().map_or(Path::new(""), |folder| &folder.work)
    }

    /// Where the system is reached.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.base.as_ref().map_or_else(|| (Ipv4Addr::LOCALHOST, 0).into(), |base| base.address)
    }

    /// The model's base URLs, each in the form that the provider's official SDK expects.
    #[must_use]
    pub fn model(&self) -> &Urls {
        &self.0.model
    }

    /// The key that model calls have to bring.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// How the double of a tool server is reached: its address, or, where `suite.toml` has a command, the words of the
    /// command that starts it, as a JSON list. `None` where the suite declares no such server.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<String> {
        let tool = self.0.tools.context.get(name)?;
        Some(tool.as_str().map_or_else(|| tool.print(Layout::Compact), str::to_owned))
    }

    /// The value of an environment variable that the suite declares as a secret: the real one while recording, and what
    /// fixtures hold in its place, `<NAME>`, in replay. `None` where `secrets` of `suite.toml` does not list it.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<&str> {
        self.0.secrets.str_of(name)
    }

    /// The day that the system is to take for today, as `2027-12-26`: the day that it is, in UTC, but for the second run
    /// of a proof.
    ///
    /// That one has a day of its own, so that a date in a tool result is seen before it breaks a replay tomorrow. A system
    /// that is a command finds it in its environment, as `RETAKE_DATE`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.0.date
    }

    /// The system's base URL, without a slash at its end.
    pub(crate) fn url(&self) -> Option<&str> {
        self.0.base.as_ref().map(|base| base.url.as_str())
    }

    /// The base URL of any system of the stage.
    #[cfg(feature = "browser")]
    pub(crate) fn url_of(&self, system: &str) -> Option<&str> {
        self.0.urls.get(system).map(String::as_str)
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.0.folder.as_ref()
    }

    /// The values that templates may use, under their reserved names.
    pub(crate) fn context(&self, fixture: Option<&Fixture>) -> Context {
        self.0.context(fixture)
    }

    /// The stage's own values and what goldens call them, for what must not differ from run to run.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        self.0.names()
    }

    pub(super) fn of(values: StageValues) -> Stage {
        Stage(Arc::new(values))
    }
}
