//! A world as text for a terminal: what the service sent in it, beside the recorded run. Pure.

use super::coloured::Diff;
use super::columns::ruled;
use retake::__private::report::{WorldData, WorldsData};

/// The worlds that a user names: `turn1/cut-clean/3`, `turn1/cut-clean`, `cut-clean`.
pub(crate) fn named<'a>(data: &'a WorldsData, name: &str) -> Vec<&'a WorldData> {
    data.worlds.iter().filter(|world| WorldData::is_named(&world.world, name)).collect()
}

/// The head of a world: its name, what the service did, and what says so.
pub(crate) fn head(world: &WorldData, width: usize) -> String {
    let WorldData { turn, caller, fault, verdict, why, world: id, .. } = world;
    let caller = caller.as_ref().map(|caller| format!(" {caller}")).unwrap_or_default();
    let place =
        if *turn == 0 { id.split('/').next().unwrap_or_default().to_owned() } else { format!("turn {turn}{caller}") };
    ruled(format!("{place}, {fault}: {verdict}  {why}").trim_end(), width)
}

/// What the service sent: on the left in the recorded run, on the right in the world. `None` if that is the same.
pub(crate) fn beside(data: &WorldsData, world: &WorldData, width: usize) -> Option<Diff> {
    (!world.sent.is_empty()).then(|| Diff::side_by_side(&data.recorded.join("\n"), &world.sent.join("\n"), width))
}
