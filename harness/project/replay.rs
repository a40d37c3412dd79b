//! Replays a fixture to an agent in the same process, without HTTP.

use std::path::Path;
use std::sync::Arc;

use super::replay_model::ReplayModel;
use retake_base::error::Result;
use retake_core::conversation::{Answer, Message};
use retake_model::Miss;

/// The replay of a fixture: its turns, and which of them were served.
///
/// # Example
/// An agent in the same process does not need HTTP:
/// ```no_run
/// use retake::{Message, Replay};
/// let replay = Replay::open("fixtures/greeting.json".as_ref())?;
/// let answer = replay.answer(&[Message::new("human", "hello")], Some("lead_agent"));
/// # Ok::<(), retake::Error>(())
/// ```
#[derive(Debug)]
pub struct Replay(pub(super) retake_model::Replay);

impl Replay {
    /// Opens a fixture file for replay, with the key rules of the project that contains it. Misses are reported under the
    /// file's name. [`ReplayModel::of`] and [`root`](crate::ReplayModelBuilder::root) can name another project.
    ///
    /// # Errors
    /// If the fixture cannot be read, and if the `suite.toml` of the project is wrong.
    pub fn open(path: &Path) -> Result<Replay> {
        ReplayModel::of(path).replay()
    }

    /// Returns the recorded answer to a conversation. `caller` is `None` if the caller is not known.
    ///
    /// # Errors
    /// The miss, which is also in the registry.
    pub fn answer(&self, messages: &[Message], caller: Option<&str>) -> Result<Answer, Arc<Miss>> {
        self.0.answer(messages, caller)
    }

    /// Whether each turn was served, apart from those that only read and need not be asked for.
    pub fn all_served(&self) -> bool {
        self.0.all_served()
    }

    /// The turns that no call asked for, in recorded order, as their indices in the fixture.
    pub fn unused(&self) -> Vec<usize> {
        self.0.unused()
    }
}
