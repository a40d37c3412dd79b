//! Writing what is proven: the fixture, then the golden.

use std::path::Path;

use super::begin::Recording;
use super::drive::going_on;
use super::prove::Proven;
use crate::files;
use crate::report::{Failure, terminal};
use crate::text::counted;

impl Proven<'_> {
    /// Writes the fixture and the golden, or proposes them, and says so. The journal is done with when the fixture is on disk.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub(super) fn commit(self, propose: bool) -> Result<(), Failure> {
        let written = if propose { self.propose() } else { self.write() };
        written.map_err(|failure| going_on(failure, &self.recording.scenario.name, &self.recorder))
    }

    fn propose(&self) -> Result<(), Failure> {
        let Recording { project, scenario, file, shown, .. } = &self.recording;
        let name = &scenario.name;
        let mut beside = file.clone().into_os_string();
        beside.push(".new");
        files::write_whole(Path::new(&beside), self.fixture.as_bytes())?;
        self.recorder.close()?;
        let turns = counted(self.turns, "turn");
        terminal::note(format!("{name}: {turns} recorded to {}.new, {}", shown.display(), self.how));
        if let Some(golden) = &self.golden {
            let committed = project.goldens.committed(&project.goldens.file(&scenario.golden_name))?;
            if committed.as_deref().map(str::trim_end) != Some(golden.trim_end()) {
                project.goldens.propose(&scenario.golden_name, golden, &scenario.file);
                terminal::note(format!("{name}: golden changed"));
            }
        }
        terminal::note(format!("{name}: to look at it and decide: retake review"));
        Ok(())
    }

    fn write(&self) -> Result<(), Failure> {
        let Recording { project, scenario, file, shown, .. } = &self.recording;
        let name = &scenario.name;
        files::write_whole(file, self.fixture.as_bytes())?;
        self.recorder.close()?;
        let turns = counted(self.turns, "turn");
        terminal::note(format!("{name}: {turns} recorded to {}, {}", shown.display(), self.how));
        if let Some(golden) = &self.golden {
            let compared = project.goldens.compare(&scenario.golden_name, golden, &scenario.file)?;
            terminal::note(format!("{name}: golden {}", compared.change()));
        }
        Ok(())
    }
}
