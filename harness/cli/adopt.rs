//! Adopts the turns of a trace: the scenario is recorded from a provider that answers from them, so its service makes its own
//! calls, and these become the inputs of the turns. Each call gets the turn that it resembles most, as a miss would name it.

use std::collections::HashMap;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::request::Parts;
use clap::Args;

use crate::scripted::{self, refused};
use retake::__private::project::OpenProject;
use retake::__private::report::terminal;
use retake::__private::run::{Fixtures, may_write_fixtures};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::line::texts;
use retake_base::lock::Mutex;
use retake_base::text::{clipped, counted, nth_turn};
use retake_core::key::{Hash, Rules};
use retake_core::secrets::hide;
use retake_model::{CallerRules, Checked, GoingOn, Lookup, MissedCall, Replay, Scope, answer_in_short, kept};
use retake_scenario::{Discovered, Scenario, discover, name_of};
use retake_wire::fixture::{Fixture, Recorded, Turn, journal_of};
use retake_wire::{self as wire, Known, Target};

/// Make a trace's turns the service's own: pair each call with a turn, and keep the turn's answer
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake import otlp traces.jsonl --out fixtures/refund.json --scenario refund\n  \
    retake adopt refund\n  retake accept refund\n\n\
    This runs the scenario once. Each call gets the answer of the turn that it resembles most: of its caller, in the \
    trace's order, with the most equal messages. Then the call's conversation becomes the turn's input. No provider \
    is called, and the answers stay as they were.\n\n\
    The result waits as fixtures/NAME.json.new until `retake accept NAME`, which also writes the golden after two \
    replays that agree; --yes does both at once.\n\n\
    Exit code 0 if every call and every turn has its counterpart, otherwise 1.")]
pub(super) struct Adopt {
    /// The scenario
    name: String,
    /// Accept the result, as `retake accept NAME` does
    #[arg(long)]
    yes: bool,
    /// Give a call, by its number from 1, this turn, by its number from 1, too; for calls that several turns fit equally well
    #[arg(long, value_name = "CALL=TURN", value_parser = pair)]
    pair: Vec<(usize, usize)>,
    /// Ask tool servers for real while the scenario runs, instead of their doubles, which answer as the trace has it
    #[arg(long)]
    live_tools: bool,
}

/// Reads `2=3`.
fn pair(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse::<NonZeroUsize>().ok().map(NonZeroUsize::get);
    let parts = text.split_once('=').and_then(|(call, turn)| Some((number(call)?, number(turn)? - 1)));
    parts.ok_or_else(|| "expected CALL=TURN, such as 2=3".to_owned())
}

impl Adopt {
    pub(super) fn run(self) -> Result<ExitCode> {
        may_write_fixtures("adopting")?;
        let root = super::project::root()?;
        let mut discovered = discover(&root)?;
        // Names the default system, whose tools would be asked. What else is wrong, recording says.
        let _ = discovered.check_systems(&[]);
        let project = OpenProject::of_scenarios(&discovered);
        hide(project.secrets()?.scrub().clone());
        let scenario = self.scenario(&discovered)?;
        let fixtures = Fixtures::new(root.clone(), project.rules.clone());
        let (Some(fixture), Some(file)) = (fixtures.of(scenario)?, fixtures.file(scenario)) else {
            return Err(Error::new("the scenario calls no model, so there is nothing to adopt").in_file(&scenario.file));
        };
        let mut live: Vec<String> = discovered.suite.tools_of(scenario).into_iter().collect();
        live.retain(|tool| !fixture.tools.contains_key(tool));
        if !live.is_empty() && !self.live_tools {
            return Err(Error::new(format!("the scenario would ask its tool servers for real: {}", live.join(", ")))
                .help("if that does no harm: --live-tools"));
        }
        let mut replay = Replay::new(fixture.clone(), project.rules.clone(), Scope::new("adopt"));
        replay.going_on = GoingOn::Meant;
        let (callers, said) = (project.callers.clone(), self.pair.clone());
        let provider = Arc::new(Provider { replay, callers, said, calls: Mutex::default() });
        let recorded = self.record(&root, &scenario.name, provider.clone())?;
        let calls = provider.calls.lock().1.clone();
        let waiting = file.with_extension("json.new");
        // What it holds are answers of this command, no provider's.
        let _ = files::remove(&journal_of(&file));
        if !recorded.status.success() || calls.iter().any(|call| call.turn.is_err()) {
            let _ = files::remove(&waiting);
            return Ok(self.failed(&calls, &fixture, &String::from_utf8_lossy(&recorded.stderr)));
        }
        let bytes = files::read(&waiting)?;
        let made = Fixture::parse(&fixture.path, &bytes, &project.rules)?;
        let adopted = adopted(made, &fixture, &calls, &project.rules);
        let text = adopted.print();
        Fixture::parse(&fixture.path, text.as_bytes(), &project.rules)?;
        files::write_whole(&waiting, text.as_bytes())?;
        let left = Adopt::tell(&calls, &provider.replay.log().missed, &fixture);
        if !left.is_empty() || self.yes {
            let is_done = left.is_empty() && super::accept::again(&root, &scenario.name)?;
            return Ok(ExitCode::from(u8::from(!is_done)));
        }
        let (name, file) = (&self.name, waiting.strip_prefix(&root).unwrap_or(&waiting).display());
        let how = format!("to look at it: {RETAKE} review\n  to accept it: {RETAKE} accept {name}");
        terminal::note(format!("{name}: waits in {file}\n  {how}"));
        Ok(ExitCode::SUCCESS)
    }

    /// Records the scenario from the provider, which is in this process, with a command of its own.
    fn record(&self, root: &Path, name: &str, provider: Arc<Provider>) -> Result<Output> {
        let answer = move |parts: &Parts, body: &Bytes| provider.answer(parts, body).unwrap_or_else(|refused| refused);
        // It serves on a thread of its own while the command runs.
        let url = format!("http://{}", kept::outliving()?.block_on(scripted::listen(scripted::FREE, answer))?);
        let program = std::env::current_exe().map_err(|e| Error::new(format!("failed to find this program: {e}")))?;
        let mut record = Command::new(program);
        record.args(["record", "--propose", name]).env("RETAKE_ROOT", root);
        record.args((!self.live_tools).then_some("--recorded-tools"));
        for (name, path) in [("OPENAI", "/v1"), ("ANTHROPIC", ""), ("GEMINI", ""), ("OLLAMA", "")] {
            record.env(format!("RETAKE_UPSTREAM_{name}"), format!("{url}{path}"));
            // No real key is sent anywhere, not even to this machine.
            record.env(format!("{name}_API_KEY"), "adopt");
        }
        record.output().map_err(|e| Error::new(format!("failed to start retake record: {e}")))
    }

    fn scenario<'a>(&self, discovered: &'a Discovered) -> Result<&'a Scenario> {
        let name = &self.name;
        if let Some(found) = discovered.scenarios.iter().find(|found| name_of(found) == name) {
            return found.as_ref().map_err(|broken| broken.error.clone());
        }
        let sound = discovered.sound().map(|scenario| scenario.name.as_str());
        let import = format!("{RETAKE} import otlp FILE --out fixtures/{name}.json --scenario {name}");
        let import = format!("to write it with its trace: {import}");
        Err(Error::new(format!("no scenario is called `{name}`")).suggest_or(name, sound, import))
    }

    /// Says why nothing was adopted.
    fn failed(&self, calls: &[Asked], fixture: &Fixture, said: &str) -> ExitCode {
        for (number, call) in (1..).zip(calls) {
            let Err(between) = &call.turn else { continue };
            let many = "these turns fit it equally well; say which is meant:";
            let what = if between.is_empty() { "no turn of the trace fits it" } else { many };
            let asks = clipped(&call.asks, 100).replace('\n', "⏎");
            let turns = listed(between, fixture, &|turn| format!("--pair {number}={}  ", turn + 1));
            terminal::error(format!("call {number} ({}) asks {asks:?}\n  {what}{turns}", call.via));
        }
        let left = unpaired_turns(calls, fixture);
        if calls.iter().all(|call| call.turn.is_ok()) {
            terminal::error(format!("{}: not adopted: the scenario failed\n{}", self.name, said.trim_end()));
        } else if !left.is_empty() {
            let turns = listed(&left, fixture, &|turn| nth_turn(turn) + ":");
            terminal::note(format!("turns without a call so far: {turns}"));
        }
        terminal::note("nothing was written");
        ExitCode::from(1)
    }

    /// Shows each call with its turn and how they differ. Returns the turns that no call has.
    fn tell(calls: &[Asked], missed: &[MissedCall], fixture: &Fixture) -> Vec<usize> {
        for (number, asked) in (1..).zip(calls) {
            let Ok(turn) = asked.turn else { continue };
            let what = match missed.iter().find(|call| call.number == number) {
                None if asked.conversation == fixture.table.turns()[turn].key.conversation_hash => {
                    ", the same conversation".to_owned()
                }
                None => ", as --pair says".to_owned(),
                Some(call) => {
                    let causes = call.differences.iter().map(|difference| difference.cause.what.as_str());
                    let causes = causes.collect::<Vec<_>>().join("; and ");
                    let lines = call.differences.iter().flat_map(|difference| texts(&difference.lines));
                    format!("\n  {}", std::iter::once(causes).chain(lines).collect::<Vec<_>>().join("\n    "))
                }
            };
            terminal::note(format!("call {number}: {}{what}", fixture.place_of(turn)));
        }
        let left = unpaired_turns(calls, fixture);
        if !left.is_empty() {
            let count = counted(left.len(), "turn");
            let turns = listed(&left, fixture, &|turn| nth_turn(turn) + ":");
            let allow = "if the service makes such calls only sometimes: unused = \"allow\" in scenario.toml";
            terminal::error(format!("no call asked for {count}, which the fixture keeps: {turns}\n  {allow}"));
        }
        left
    }
}

/// The recording with the trace's answers, and with the turns that no call asked for.
fn adopted(made: Fixture, trace: &Fixture, calls: &[Asked], rules: &Rules) -> Fixture {
    let mut pairs: HashMap<Hash, Vec<usize>> = HashMap::new();
    for call in calls.iter().rev() {
        pairs.entry(call.conversation).or_default().extend(&call.turn);
    }
    let of_call = |(index, turn): (usize, &Turn)| {
        let mut call = made.recorded(index, rules)?;
        let of_trace = pairs.get_mut(&turn.key.conversation_hash).and_then(Vec::pop);
        if let Some(of_trace) = of_trace.map(|of_trace| &trace.table.turns()[of_trace]) {
            call.output.clone_from(&of_trace.output);
            // What the recorder got were bytes that were made for it; only a provider's own are kept.
            let over = turn.wire.as_ref().map(|wire| wire.api);
            call.wire = of_trace.wire.clone().filter(|wire| Some(wire.api) == over);
        }
        Some(call)
    };
    let mut turns: Vec<Recorded> = made.table.turns().iter().enumerate().filter_map(of_call).collect();
    turns.extend(unpaired_turns(calls, trace).into_iter().filter_map(|left| trace.recorded(left, rules)));
    let of_both = Fixture::of_turns(&made.path, made.notes.clone(), turns, rules);
    let tools = if made.tools.is_empty() { trace.tools.clone() } else { made.tools.clone() };
    Fixture { texts: of_both.texts, table: of_both.table, holes: trace.holes.clone(), tools, ..made }
}

fn unpaired_turns(calls: &[Asked], fixture: &Fixture) -> Vec<usize> {
    let is_left = |turn: &usize| calls.iter().all(|call| call.turn != Ok(*turn));
    (0..fixture.table.turns().len()).filter(is_left).collect()
}

fn listed(turns: &[usize], fixture: &Fixture, named: &dyn Fn(usize) -> String) -> String {
    let line = |turn: &usize| format!("\n  {} {}", named(*turn), answer_in_short(&fixture.table.turns()[*turn]));
    turns.iter().map(line).collect()
}

/// A call of the service.
#[derive(Clone, Debug)]
struct Asked {
    via: String,
    /// Its last message.
    asks: String,
    conversation: Hash,
    /// The turn that it got; or those that fit equally well, none if none fits.
    turn: Result<usize, Vec<usize>>,
}

/// A provider that answers from the trace's turns.
#[derive(Debug)]
struct Provider {
    replay: Replay,
    callers: CallerRules,
    /// The numbers of calls, each with the turn that it gets because a person said so.
    said: Vec<(usize, usize)>,
    calls: Mutex<(Known, Vec<Asked>)>,
}

impl Provider {
    /// The error is an answer, too.
    fn answer(&self, parts: &Parts, body: &Bytes) -> Result<wire::Response, wire::Response> {
        let (method, path) = (&parts.method, scripted::path(parts));
        let target = Target { method: method.as_str(), path };
        let (api, body) = scripted::chat(target, body)?;
        let refusal = |error: &dyn Display| refused(api, &error.to_string());
        // Choosing and taking are one step, also for calls that come at once.
        let (known, calls) = &mut *self.calls.lock();
        let call = wire::decode(api, target, &body, known).map_err(|error| refusal(&error))?;
        let (rules, turns) = (self.replay.rules(), self.replay.fixture().table.turns());
        let caller = self.callers.caller_of(&parts.headers, &call);
        let checks = Arc::new(Checked::from(call.checks(&rules.normalizer)));
        let via = format!("{method} {path}");
        let mut lookup = Lookup::of(&call, via, None, caller.as_deref(), rules, checks, Vec::new());
        // A caller of the service's own that the trace does not know tells nothing.
        lookup.caller = lookup.caller.filter(|caller| turns.iter().any(|turn| turn.caller.as_ref() == Some(caller)));
        let conversation = rules.conversation_hash(&lookup.conversation);
        let asks = lookup.conversation.last().and_then(|message| message.str_of("content")).unwrap_or_default();
        let turn = self.turn(&lookup, calls);
        calls.push(Asked { via: lookup.via.clone(), asks: asks.to_owned(), conversation, turn: turn.clone() });
        let turn = turn.map_err(|_| refusal(&"no turn of the trace fits this call, or several fit it equally well"))?;
        let turn = &turns[turn];
        let recorded = turn.wire.as_ref().map(|wire| (wire.api, &wire.response));
        let response = wire::respond(&turn.output, recorded, &call.render_for(&conversation.to_string()));
        let response = response.map_err(|error| refusal(&error))?;
        known.learn(api, target, &body, &response);
        Ok(response)
    }

    /// Takes the turn that a call resembles most, or that a person named for it. The error is as in [`Asked`].
    fn turn(&self, lookup: &Lookup, calls: &[Asked]) -> Result<usize, Vec<usize>> {
        let take = |lookup: &Lookup| self.replay.take(None, lookup, None).ok().map(|served| served.index);
        if let Some((_, turn)) = self.said.iter().find(|(call, _)| *call == calls.len() + 1) {
            let (fixture, rules) = (self.replay.fixture(), self.replay.rules());
            let conversation = fixture.conversation(*turn, rules).ok_or_else(Vec::new)?.into();
            let caller = fixture.table.turns()[*turn].caller.clone();
            let own = Lookup { conversation, caller, api: None, checks: None, ..lookup.clone() };
            return take(&own).filter(|taken| taken == turn).ok_or_else(Vec::new);
        }
        let between = self.replay.equally_near(lookup);
        if between.len() > 1 {
            return Err(between);
        }
        // A turn that was served is given once more where that ends a loop; it is nobody's counterpart.
        let is_new = |turn: &usize| calls.iter().all(|call| call.turn != Ok(*turn));
        take(lookup).filter(is_new).ok_or_else(Vec::new)
    }
}
