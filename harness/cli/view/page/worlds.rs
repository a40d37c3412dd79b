//! The worlds of a scenario as a table: turns down, faults across.

use serde::Serialize;

use retake::__private::report::{WorldData, WorldsData};

/// A table for the template.
#[derive(Serialize)]
pub(super) struct WorldsView<'a> {
    faults: Vec<&'a str>,
    rows: Vec<TurnView<'a>>,
}

#[derive(Serialize)]
struct TurnView<'a> {
    turn: usize,
    caller: &'a str,
    cells: Vec<Option<CellView<'a>>>,
}

/// What the service did with a fault at all its places.
#[derive(Serialize)]
struct CellView<'a> {
    verdict: &'a str,
    fails: bool,
    /// Each world in a line.
    all: String,
}

impl WorldsView<'_> {
    pub(super) fn of(data: &WorldsData) -> WorldsView<'_> {
        let mut faults: Vec<&str> = Vec::new();
        let mut turns: Vec<(usize, &str)> = Vec::new();
        for world in &data.worlds {
            if !faults.contains(&name_of(world)) {
                faults.push(name_of(world));
            }
            let turn = (world.turn, world.caller.as_deref().unwrap_or_default());
            if !turns.contains(&turn) {
                turns.push(turn);
            }
        }
        turns.sort_unstable();
        let row = |&(turn, caller): &(usize, _)| {
            let of_turn = |fault: &&str| {
                let of = data.worlds.iter().filter(|world| world.turn == turn && name_of(world) == *fault);
                cell(&of.collect::<Vec<_>>())
            };
            TurnView { turn, caller, cells: faults.iter().map(of_turn).collect() }
        };
        let rows = turns.iter().map(row).collect();
        WorldsView { faults, rows }
    }
}

/// The name of a world's fault, without its place.
fn name_of(world: &WorldData) -> &str {
    world.fault.split(' ').next().unwrap_or_default()
}

/// The cell of a fault: the worst that the service did counts.
fn cell<'a>(worlds: &[&'a WorldData]) -> Option<CellView<'a>> {
    let worst = worlds.iter().max_by_key(|world| (world.fails, world.verdict != "recovered"))?;
    let all =
        worlds.iter().map(|world| format!("{}: {} {}", world.fault, world.verdict, world.why).trim_end().to_owned());
    Some(CellView { verdict: &worst.verdict, fails: worst.fails, all: all.collect::<Vec<_>>().join("\n") })
}
