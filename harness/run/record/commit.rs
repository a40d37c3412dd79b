//! Writing what is proven: the fixture, then the golden.

use super::begin::Recording;
use super::drive::going_on;
use super::prove::Proven;
use crate::files;
use crate::report::{Failure, terminal};
use crate::run::golden::Compared;
use crate::text::counted;

impl Proven<'_> {
    /// Writes the fixture and the golden, and says so. The journal is done with when the fixture is on disk.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub(super) fn commit(self) -> Result<(), Failure> {
        self.write().map_err(|failure| going_on(failure, &self.recording.scenario.name, &self.recorder))
    }

    fn write(&self) -> Result<(), Failure> {
        let Recording { project, scenario, file, shown, .. } = &self.recording;
        let name = &scenario.name;
        files::write_whole(file, self.fixture.as_bytes())?;
        self.recorder.close()?;
        let turns = counted(self.turns, "turn");
        terminal::note(format!("{name}: {turns} recorded to {}, {}", shown.display(), self.how));
        if let Some(golden) = &self.golden {
            let change = match project.goldens.compare(&scenario.golden_name, golden, &scenario.file)? {
                Compared::Same => "unchanged",
                Compared::New => "new",
                Compared::Differs(_) => "changed",
            };
            terminal::note(format!("{name}: golden {change}"));
        }
        Ok(())
    }
}
