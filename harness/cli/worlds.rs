use std::process::ExitCode;

use clap::Args;

use super::handover;
use retake::__private::run::{Action, WorldsOptions};
use retake_base::error::Result;

/// Run a recorded scenario with every way in which the model can fail it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake worlds write_read_file\n  \
    retake worlds write_read_file --turn 2 --world cut-clean\n  retake worlds --world all --json\n\n\
    A world is a turn of the recording and a fault that the turn's call meets before it gets the recorded answer: \
    status 429, a stream without its end, an answer cut inside of a tool call, and so on. For each one this prints \
    what the service did: recovered, reported the failure, was SILENT about it, REPEATED a text, ACTED on a damaged \
    tool call, said something other, went on to ask what was never recorded, hung, crashed, was sick afterwards, or \
    called again and again (storm).\n\n\
    On the client's side, a world is an event at which the client leaves and comes back, or comes a second time: it \
    LOST something, got it DOUBLED, waits for what NEVER ENDS, or the model was PAID TWICE. On the process' side, the \
    system is killed at a call and started again; on the tools' side, a tool fails, or its answer is lost: something \
    may have ACTED TWICE.\n\n\
    With worlds = true in scenario.toml, `retake test` runs them as NAME::worlds and compares them with \
    goldens/worlds/NAME.snap.\n\n\
    Exit code 1 if a world fails that is not accepted there.")]
pub(super) struct WorldsOf {
    /// The scenarios: names or parts of names [default: all]
    name: Vec<String>,
    /// Only this turn, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    turn: Option<u32>,
    /// Only faults of this side of the service
    #[arg(long, value_name = "SIDE", value_parser = ["model", "client", "process", "tools"])]
    side: Option<String>,
    /// Only this fault or family: cut-clean, turn1/cut-clean/3, client/leave/7, process/kill/3, transport, all
    #[arg(long, value_name = "WORLD")]
    world: Option<String>,
    /// How many worlds to run at the same time [default: 6 for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Print JSON, in the format retake-worlds/1
    #[arg(long)]
    json: bool,
}

impl WorldsOf {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let WorldsOf { name, turn, side, world, jobs, json } = self;
        let turn = turn.and_then(|turn| usize::try_from(turn).ok());
        let options = WorldsOptions { turn, side, world, jobs: jobs.map(usize::from), json };
        handover::act(root, Action::Worlds(name, options))
    }
}
