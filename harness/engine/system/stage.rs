//! The stage as a Rust system sees it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::date::Today;
use super::egress::Egress;
use super::folder::Folder;
use super::values::{self, StageValues};
use retake_base::error::Result;
use retake_core::json::Layout;
use retake_core::places::Places;
use retake_model::Urls;
use retake_scenario::{Context, Scenario};
use retake_wire::fixture::Fixture;

/// What a system can learn about the stage that it runs on. Cloning it is cheap. What is hidden is for runs, and promises nothing.
#[derive(Clone, Debug)]
pub struct Stage(Arc<StageValues>);

impl Stage {
    /// Returns an id that no other run has. Use it in the names of accounts and the like, if the system keeps data between runs.
    pub fn run(&self) -> &str {
        &self.0.run
    }

    /// Returns the name of the system in the suite.
    pub fn system(&self) -> &str {
        &self.0.system
    }

    /// Returns the system's own folder, which is empty at first and removed at the end.
    pub fn workdir(&self) -> &Path {
        let Some(folder) = &self.0.folder else { return Path::new("") };
        // The stage reports an error.
        let _ = folder.make();
        &folder.work
    }

    /// Returns the address at which the system is reached.
    pub fn address(&self) -> SocketAddr {
        self.0.base.as_ref().map_or_else(|| (Ipv4Addr::LOCALHOST, 0).into(), |base| base.address)
    }

    /// Returns the model's base URLs, each in the form that the provider's official SDK expects.
    pub fn model(&self) -> &Urls {
        &self.0.model
    }

    /// Returns the key that model calls have to send.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Returns how to reach the double of a tool server: its address, or, if `suite.toml` gives a command, the words of the
    /// command that starts it, as a JSON list. `None` if the suite declares no such server.
    pub fn tool(&self, name: &str) -> Option<String> {
        let tool = self.0.tools.context.get(name)?;
        let address = tool.as_str().or(tool.str_of("url"));
        Some(address.map_or_else(|| tool.print(Layout::Compact), str::to_owned))
    }

    /// Returns the value of an environment variable that the suite declares as a secret: the real value while recording, and in
    /// replay `<NAME>`, which fixtures contain in its place. `None` if `secrets` of `suite.toml` does not list it.
    pub fn secret(&self, name: &str) -> Option<&str> {
        self.0.secrets.str_of(name)
    }

    /// Returns the day that the system should take as today, such as `2027-12-26`. It is today's date in UTC, except in the
    /// second run of a proof.
    ///
    /// That run has another date, so that a date in a tool result is noticed before it breaks a replay tomorrow. A system that
    /// is a command finds the date in the environment variable `RETAKE_DATE`.
    pub fn date(&self) -> &str {
        self.0.today.asked.store(true, Ordering::Relaxed);
        &self.0.today.date
    }

    pub(crate) fn today(&self) -> &Today {
        &self.0.today
    }

    /// Returns the system's base URL, without a slash at its end.
    pub fn url(&self) -> Option<&str> {
        self.0.base.as_ref().map(|base| base.url.as_str())
    }

    /// Returns the base URL of any system of the stage.
    #[cfg(feature = "browser")]
    pub(crate) fn url_of(&self, system: &str) -> Option<&str> {
        self.0.urls.get(system).map(String::as_str)
    }

    /// Makes the folder of the stage, if templates of a scenario use it.
    /// Fails if it cannot be made.
    #[doc(hidden)]
    pub fn make_folder_of(&self, scenario: &Scenario) -> Result<()> {
        self.folder().filter(|_| scenario.uses_workdir()).map_or(Ok(()), Folder::make)
    }

    /// What the programs of the stage try to reach.
    pub(crate) fn egress(&self) -> &Egress {
        &self.0.egress
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.0.folder.as_ref()
    }

    /// Returns the values that templates may use, under their reserved names.
    #[doc(hidden)]
    pub fn context(&self, fixture: Option<&Fixture>) -> Context {
        self.0.context(fixture)
    }

    /// Returns the places of the stage, as fixtures name them.
    #[doc(hidden)]
    pub fn places(&self) -> Places {
        self.0.places(&[])
    }

    /// Returns the stage's own values, which differ from run to run, each with the name that goldens show in place of it.
    #[doc(hidden)]
    pub fn names(&self) -> Vec<(String, String)> {
        self.0.names()
    }

    /// Another run on the same system, with an id of its own.
    #[doc(hidden)]
    pub fn another_run(&self) -> Stage {
        Stage(Arc::new(StageValues { run: values::run_id(), ..(*self.0).clone() }))
    }

    pub(super) fn of(values: StageValues) -> Stage {
        Stage(Arc::new(values))
    }
}
