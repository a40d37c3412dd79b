//! The last stage of a recording: writing the fixture, then the golden.

use std::path::Path;

use super::begin::Recording;
use super::drive::with_resume_advice;
use super::prove::Proven;
use crate::report::{Failure, terminal};
use retake_base::files;
use retake_base::text::counted;

impl Proven<'_> {
    /// Writes the fixture and the golden, or proposes them, and prints which. Closes the journal once the fixture is on disk.
    /// Fails if a file cannot be written.
    pub(super) fn commit(self, propose: bool) -> Result<(), Failure> {
        let written = if propose { self.propose() } else { self.write() };
        written.map_err(|failure| with_resume_advice(failure, &self.recording.scenario.name, &self.recorder))
    }

    fn propose(&self) -> Result<(), Failure> {
        let Recording { project, scenario, file, shown, .. } = &self.recording;
        let name = &scenario.name;
        let mut proposed = file.clone().into_os_string();
        proposed.push(".new");
        files::write_whole(Path::new(&proposed), self.fixture.as_bytes())?;
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
        terminal::note(format!("{name}: to look at the changes and decide: retake review"));
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
