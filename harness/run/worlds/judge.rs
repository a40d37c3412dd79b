//! What a service did in a world, judged by the run beside the recorded one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::batch::Recording;
use super::places::{Spot, World};
use super::received::Received;
use super::sent::{WhatWasSent, says_error};
use super::stay::{ALL, Ended, Play, Seen, Setting};
use super::verdict::{Compared, Did, QUOTED, Verdict, WITHOUT, is_not_there, is_still, quoted};
use retake_base::text::{clipped, counted};
use retake_core::events::Golden;
use retake_core::json::{Json, Layout};
use retake_engine::drive::{Away, AwaySeen, EMPTY_STREAM};
use retake_engine::tools::CallOfTool;
use retake_model::MissReason::{AllServed, ToolAllServed, ToolNotRecorded};
use retake_model::{FaultKind, Miss, RunLog};
use retake_scenario::{Action, Crash, Leaves, Request, Step};
use retake_wire::fixture::is_safe;

/// Why the client's side never ends.
const DOES_NOT_COME: &str = "what the client waits for that came back does not come";

/// A run in a world, beside the recorded one.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) setting: &'a Setting<'a>,
    pub(super) world: &'a World,
    /// How often the call came that met the fault.
    pub(super) attempts: usize,
    pub(super) play: &'a Play<'a>,
    pub(super) seen: &'a Seen,
    pub(super) recording: &'a Recording,
}

impl Case<'_> {
    /// The verdict on it.
    pub(super) fn verdict(self) -> Verdict {
        let Case { setting, world, attempts, play, seen, recording } = self;
        if seen.ended == Ended::Storm {
            return Did::Storm.since(format!("more than {}", counted(setting.of.calls as usize, "call")));
        }
        match (&play.away, &world.spot) {
            (Some(away), Some(Spot::Event { step, .. })) if world.side() == "client" => {
                return self.of_client(away, *step);
            }
            (Some(away), Some(spot)) => {
                let Verdict { did, why } = self.of_kill(away);
                let place = spot.said(world.turn);
                let declared = |says: &str| format!("{place}, {}: {why}, not as crash = {says:?} says", did.word());
                // Each place that fails is named, since what to look at is there.
                return match (did, setting.of.crash) {
                    (Did::Reported, Some(Crash::Resumes)) => Did::Lost.since(declared("resumes")),
                    (Did::Resumed, Some(Crash::Reports)) => Did::Other.since(declared("reports")),
                    _ if did.fails() => did.since(format!("{place}: {why}")),
                    _ => Verdict { did, why },
                };
            }
            _ => {}
        }
        if let Some(twice) = setting.acted_twice(&seen.acted) {
            return Did::ActedTwice.since(twice);
        }
        if seen.ended == Ended::Late {
            return Did::Hung.since(hung(world.fault.kind));
        }
        // A retry would hide that it noticed what no service should.
        if world.is_invisible() && attempts > 1 {
            return Did::PaidTwice.since("asks again, although the answer is whole");
        }
        // What it asked in a later step follows from what it said in an earlier one, which is judged then.
        let (met, left) = play.staged.times();
        let later = met.zip(left).map(|(met, left)| (seen.begun_by(seen.at(met)), seen.begun_by(seen.at(left))));
        let until = later.filter(|(met, left)| left > met).map(|(_, left)| left - 1);
        let steps = until.map_or(ALL, |until| 0..until);
        let (now, recorded) = self.sent(steps);
        // Where a tool fails, and where the answer arrives whole, the model has said nothing else.
        let is_damaged = world.spot.is_none() && !world.is_invisible();
        let damaged = setting.fixture.table.turns().get(world.turn).filter(|_| is_damaged);
        let damaged = damaged.map(|turn| setting.normalize(&seen.driven)(&turn.output.text()));
        let compared = Compared { damaged, ..self.compared(&recorded, &now) };
        let is_same = compared.is_as_recorded();
        let is_whole = is_same && seen.golden == recording.seen.golden;
        if let Some(verdict) = self.told_of_tool(is_whole) {
            return verdict;
        }
        if seen.ended == Ended::Well && seen.left.is_none() && is_whole {
            let why = if world.is_invisible() { String::new() } else { format!("in {}", counted(attempts, "attempt")) };
            return Did::Recovered.since(why);
        }
        if let Some(left) = seen.left.as_ref().filter(|_| until.is_none() || is_same) {
            let acted = self.acted(left).map(|ran| Did::Acted.since(ran));
            return acted.unwrap_or_else(|| left.went_on());
        }
        if until.is_none()
            && let Some((_, told)) = seen.failed_status()
        {
            return Did::Reported.since(told);
        }
        // To a client that waits for no last event, a stream that ends well with nothing in it is a whole answer.
        let is_empty = seen.failure().is_some_and(|what| what.contains(EMPTY_STREAM)) && !self.waits_for_an_event();
        let is_cut = until.is_none() && seen.ended == Ended::Failed && seen.driven.broken.is_none() && !is_empty;
        let Verdict { did, why } = compared.verdict();
        if is_cut && did != Did::Reported {
            return Did::Reported.since(format!("the answer breaks off, {WITHOUT}"));
        }
        // Who gets something else because a tool failed is told so, in whatever words.
        let is_told = world.side() == "tools" && did == Did::Other;
        if is_told { Did::Reported.since(why) } else { did.since(why) }
    }

    /// Whether one of the scenario's streams has a last event, so that its client notices a stream that lacks it.
    fn waits_for_an_event(self) -> bool {
        let mut parts = self.setting.scenario.steps.iter().flat_map(Step::parts);
        let waits = |request: &Request| request.stream().is_some_and(|stream| stream.last.is_some());
        parts.any(|part| matches!(&part.action, Action::Request(request) if waits(request)))
    }

    /// The verdict on a run whose system was killed and started again.
    fn of_kill(self, away: &Away) -> Verdict {
        let Case { setting, play, seen, recording, .. } = self;
        if let Some(error) = &seen.lost {
            return Did::Crashed.since(format!("does not start again: {}", error.what()));
        }
        if let Some(twice) = setting.acted_twice(&seen.acted) {
            return Did::ActedTwice.since(twice);
        }
        let times = play.staged.times().0.zip(away.gate.acted());
        if let Some(turn) = times.and_then(|(met, killed)| seen.paid_twice(met, killed)) {
            return paid_twice(turn);
        }
        if seen.ended == Ended::Late {
            return Did::NeverEnds.since(DOES_NOT_COME);
        }
        if let Some(left) = &seen.left {
            let of_tool = left.tool.as_ref().map(|tool| Did::WentOn.since(tool));
            return of_tool.unwrap_or_else(|| left.went_on());
        }
        let AwaySeen { step, anew, .. } = *away.seen.lock();
        let of_stream = step.map(|step| self.of_stream(away, step));
        let is_finished = seen.all_served || !recording.seen.all_served;
        let is_over = seen.ended == Ended::Failed || (anew && is_finished);
        if let Some(verdict) = of_stream.clone().filter(|it| it.did != Did::Resumed || is_over) {
            return verdict;
        }
        if let Some((status, told)) = seen.failed_status() {
            return is_not_there(status).unwrap_or_else(|| Did::Reported.since(told));
        }
        // What its stream brought is judged; what later steps were told is not.
        let told = self.later(step.map_or(ALL, |step| step + 1..ALL.end));
        if seen.ended == Ended::Failed {
            // A stream that breaks off tells it nothing.
            let is_told = |it: &Verdict| it.did == Did::Reported && !it.why.ends_with(WITHOUT);
            let told = told.filter(|it| seen.broken_stream().is_some() && is_told(it));
            return told.unwrap_or_else(|| Did::Lost.since(seen.failure().unwrap_or_default()));
        }
        let told = told.map(|it| self.says_it_runs().filter(|_| it.did == Did::Other).unwrap_or(it));
        let lost = Did::Lost.since("the run is not finished after the system has started again");
        told.or(Some(lost).filter(|_| !is_finished)).or(of_stream).unwrap_or_else(|| Did::Resumed.since(""))
    }

    /// The verdict on a run of which the last step is told that it goes on, when nothing does: all calls had been answered by then.
    fn says_it_runs(self) -> Option<Verdict> {
        let last = self.seen.steps.len().checked_sub(1)?;
        let is_idle = self.seen.calls.iter().all(|call| call.answered <= self.seen.steps[last].at_ms);
        let (now, recorded) = self.sent(last..ALL.end);
        let mut new = now.words.keys().filter(|word| !recorded.words.contains_key(*word));
        let (key, word) = new.find(|(_, word)| is_idle && is_still(word))?;
        Some(Did::NeverEnds.since(format!("{key} {word:?}, and nothing goes on")))
    }

    /// What was sent in these steps, now and when it was recorded, without noise.
    fn sent(self, steps: Range<usize>) -> (WhatWasSent, WhatWasSent) {
        let sent = |seen| self.recording.noise.out_of(self.setting.sent(seen, steps.clone()), false);
        (sent(self.seen), sent(&self.recording.seen))
    }

    fn compared<'a>(&'a self, recorded: &'a WhatWasSent, now: &'a WhatWasSent) -> Compared<'a> {
        let Case { setting, seen, recording, .. } = *self;
        Compared {
            recorded,
            now,
            status: seen.steps.iter().rev().find_map(|step| step.status.clone()).unwrap_or_default(),
            error_words: &setting.project.discovered.suite.error_words,
            changed: changed(&recording.seen.golden, &seen.golden),
            stuck: seen.stuck.clone(),
            damaged: None,
        }
    }

    /// The verdict on a run whose client did something else.
    fn of_client(self, away: &Away, step: usize) -> Verdict {
        let Case { world, seen, recording, .. } = self;
        if let Some(left) = &seen.left {
            return left.again.map_or_else(|| left.went_on(), paid_twice);
        }
        if away.does == FaultKind::Gone {
            // A client that left is noticed when something is written to it, at the second event at the latest. Before the first call after
            // that, there may be no more than one event that had not been sent yet.
            let from = away.gate.acted().map_or(f64::INFINITY, |acted| seen.at(acted));
            let new: Vec<_> = seen.calls.iter().filter(|call| call.came >= from).map(|call| call.turn).collect();
            let came = |turn| recording.seen.events_by(recording.seen.answered(turn).unwrap_or_default());
            let before = |turn: &Option<usize>| turn.map(came);
            let sent = new.first().and_then(before).map_or(0, |events| events.saturating_sub(1));
            let noticed = sent.max(world.fault.after.unwrap_or_default()) + 2;
            let more = new.iter().filter(|turn| before(turn).is_none_or(|events| events >= noticed)).count();
            // How often depends on when a service notices it.
            let asks = "the model is still asked once it can be noticed that the client has left";
            let times = if more > 0 { counted(more, "more time") } else { "no more".to_owned() };
            let undeclared = "not judged: `leaves` says what becomes of a run without its client, which asks the model";
            return match self.setting.of.leaves {
                Some(Leaves::Stops) if more > 0 => Did::NeverEnds.since(asks),
                Some(Leaves::Finishes) if !seen.all_served => {
                    Did::Lost.since("the run is not finished after the client has left")
                }
                Some(_) => Did::Recovered.since(""),
                None => Did::Other.since(format!("{undeclared} {times}")),
            };
        }
        if seen.ended == Ended::Late {
            return Did::NeverEnds.since(DOES_NOT_COME);
        }
        let verdict = self.of_stream(away, step);
        let is_back = matches!(away.does, FaultKind::Leave | FaultKind::Late) && !away.seen.lock().anew;
        if verdict.did == Did::Recovered && is_back && seen.ended == Ended::Well {
            return self.later(step + 1..ALL.end).filter(|it| it.did != Did::Other).unwrap_or(verdict);
        }
        verdict
    }

    /// The verdict on what a client that came back was told in these steps, unless it is what was recorded.
    fn later(self, steps: Range<usize>) -> Option<Verdict> {
        let (now, recorded) = self.sent(steps.clone());
        let compared = self.compared(&recorded, &now);
        let is_same = compared.is_as_recorded() && (steps != ALL || self.seen.golden == self.recording.seen.golden);
        (!is_same).then(|| match compared.verdict() {
            Verdict { did: Did::Hung, why } => Did::NeverEnds.since(why),
            Verdict { did: Did::Silent, why } => Did::Lost.since(why),
            verdict => verdict,
        })
    }

    /// The verdict on what came to the client of a step's stream, over all of its connections.
    fn of_stream(self, away: &Away, step: usize) -> Verdict {
        let Case { setting, seen, recording, .. } = self;
        let AwaySeen { first, again, anew, .. } = &*away.seen.lock();
        let received = Received {
            recorded: recording.seen.streams.get(&step).map(Vec::as_slice).unwrap_or_default(),
            first,
            again: again.as_ref(),
            noise: &recording.noise,
            options: &setting.scenario.golden,
            normalize: &setting.normalize(&seen.driven),
            normalize_recorded: &setting.normalize(&recording.seen.driven),
            anew: *anew,
            failure: seen.failure(),
        };
        received.verdict(away.does)
    }

    /// The tool that ran with arguments that the model did not give, if its call was damaged: the model is told of a call that was never
    /// recorded, with a result that looks like the recorded ones.
    fn acted(self, left: &Left) -> Option<String> {
        let kind = self.world.fault.kind;
        if !kind.breaks() && !matches!(kind, FaultKind::BadArguments | FaultKind::LengthInToolCall) {
            return None;
        }
        let Setting { fixture, project, .. } = self.setting;
        let turns = 0..fixture.table.turns().len();
        let recorded: Vec<Vec<Json>> = turns.filter_map(|turn| fixture.conversation(turn, &project.rules)).collect();
        let has_acted = |(call, result): &&(Json, String)| {
            let told = || recorded.iter().flat_map(|it| told_of_tools(it));
            let of_tool = || told().filter(|(of, _)| of.get("name") == call.get("name"));
            of_tool().all(|(of, _)| of != call)
                && of_tool().any(|(_, said)| is_like(said, result))
                && !says_error(result, &project.discovered.suite.error_words)
        };
        let ran = |(call, _): &(Json, String)| {
            let args = call.get("args").map(|args| args.print(Layout::Compact)).unwrap_or_default();
            format!("ran {} with {}", call.str_of("name").unwrap_or_default(), clipped(&args, QUOTED))
        };
        left.ran.iter().find(has_acted).map(ran).or_else(|| left.tool.clone())
    }

    /// The verdict on a run in which a tool failed, if that is clear by what the model or the user was told.
    fn told_of_tool(self, is_as_recorded: bool) -> Option<Verdict> {
        let (seen, Some(Spot::Tool { call, name, .. })) = (self.seen, &self.world.spot) else { return None };
        if seen.ended == Ended::Well && seen.left.is_none() && is_as_recorded {
            let times = seen.tools.iter().filter(|(came, _)| came == call).count();
            return Some(match times {
                0 | 1 => Did::Silent.since(format!("`{name}` failed, and all is as recorded")),
                _ => Did::Recovered.since(format!("in {}", counted(times, "call"))),
            });
        }
        let left = seen.left.as_ref().filter(|left| left.tool.is_none())?;
        // Frameworks put the server's name before the tool's.
        let is_of_tool = |(call, _): &&(Json, String)| call.str_of("name").is_some_and(|of| of.ends_with(&**name));
        let result = left.ran.iter().find(is_of_tool).map_or(&left.asked, |(_, result)| result);
        let did = if says_nothing(result) { Did::Silent } else { Did::Reported };
        Some(did.since(format!("the model is told {}", quoted(result))))
    }
}

impl Setting<'_> {
    /// The first tool that acted more often than it should: that changes something, and was called with the same arguments.
    pub(super) fn acted_twice(&self, acted: &[CallOfTool]) -> Option<String> {
        let twice = |at: usize| acted[..at].contains(&acted[at]) && !self.only_reads(&acted[at]);
        let at = (0..acted.len()).find(|at| twice(*at))?;
        Some(format!("`{}` acts again, with the same arguments", self.tool(&acted[at])))
    }

    /// Whether a tool may be called again: the scenario says so, the server's list of tools does, or its method of HTTP.
    fn only_reads(&self, call: &CallOfTool) -> bool {
        let name = self.tool(call);
        let lists = self.fixture.tools.get(&call.0).into_iter().flatten().filter(|it| it.method == "tools/list");
        let tools = lists.filter_map(|list| list.answer.as_ref()?.as_ref().ok()?.get("tools")?.as_array()).flatten();
        let hints = |tool: &Json| {
            let says = |hint: &str| tool.get("annotations").and_then(|all| all.get(hint)) == Some(&Json::Bool(true));
            tool.str_of("name") == Some(&name) && (says("readOnlyHint") || says("idempotentHint"))
        };
        self.exchange(call).is_some_and(|it| is_safe(&it.method))
            || self.of.reads.contains(&name)
            || tools.into_iter().any(hints)
    }
}

/// Whether the result of a tool is none: no text, or an empty value.
fn says_nothing(result: &str) -> bool {
    let result = result.trim();
    result.is_empty() || Json::parse(result.as_bytes()).is_ok_and(|json| !json.is_truthy())
}

/// Whether a tool says something like what it said when it was recorded: JSON with the same keys, or a text with the same first word.
fn is_like(recorded: &str, result: &str) -> bool {
    let json = |text: &str| Json::parse(text.as_bytes()).ok();
    match (json(recorded), json(result)) {
        (Some(Json::Object(one)), Some(Json::Object(other))) => one.keys().eq(other.keys()),
        (Some(one), Some(other)) => std::mem::discriminant(&one) == std::mem::discriminant(&other),
        (None, None) => recorded.split_whitespace().next() == result.split_whitespace().next(),
        _ => false,
    }
}

/// What would end a world in which the service waits.
fn hung(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Hang => "waits for an answer: a timeout of the model's client would end it (SDKs have 600 s)",
        FaultKind::ToolTimeout => "waits for a tool: a timeout of the tool's client would end it",
        FaultKind::Stall => "waits for the rest: a read timeout of the model's client would end it (SDKs have 600 s)",
        _ => "does not end",
    }
}

/// The first line of a golden that another one lacks, or has in addition.
fn changed(recorded: &Golden, now: &Golden) -> Option<String> {
    let (recorded, now) = (&recorded.to_string(), &now.to_string());
    let lacks = |a: &str, b: &str, sign: char| {
        let lines: BTreeSet<&str> = b.lines().collect();
        a.lines().find(|line| !lines.contains(line)).map(|line| format!("{sign} {}", line.trim()))
    };
    lacks(now, recorded, '+').or_else(|| lacks(recorded, now, '-'))
}

fn paid_twice(turn: usize) -> Verdict {
    Did::PaidTwice.since(format!("asks for the answer of turn {} again", turn + 1))
}

/// What a service asked that was never recorded.
#[derive(Debug)]
pub(super) struct Left {
    /// The newest message of the call.
    pub(super) asked: String,
    /// The model's last calls of tools, as the service tells them, each with what the tool returned.
    pub(super) ran: Vec<(Json, String)>,
    /// What a double of a tool server was asked that was never recorded.
    pub(super) tool: Option<String>,
    /// The first turn that was asked for once more, after it had been served.
    pub(super) again: Option<usize>,
}

impl Left {
    fn went_on(&self) -> Verdict {
        Did::WentOn.since(format!("asked {}", quoted(&self.asked)))
    }

    pub(super) fn of(log: &RunLog, missed: &[Arc<Miss>], normalize: impl Fn(&str) -> String) -> Left {
        let first = log.missed.first();
        let conversation: &[Json] = first.map(|call| &*call.lookup.conversation).unwrap_or_default();
        let ran = told_of_tools(conversation).map(|(call, result)| (call.clone(), normalize(result))).collect();
        let is_of_tool = |miss: &&Arc<Miss>| matches!(miss.reason, ToolNotRecorded { .. } | ToolAllServed { .. });
        let tool = missed.iter().find(is_of_tool).map(|miss| miss.reason.to_string());
        let again = log.missed.iter().find_map(|call| match &call.reason {
            AllServed { turns, .. } => turns.last().copied(),
            _ => None,
        });
        Left { again, asked: conversation.last().map(text_of).map(normalize).unwrap_or_default(), ran, tool }
    }
}

/// The last calls of tools in a conversation, each with what the tool returned.
pub(super) fn told_of_tools(conversation: &[Json]) -> impl Iterator<Item = (&Json, &str)> {
    let said = conversation.iter().rposition(|message| message.str_of("type") == Some("ai"));
    let (calls, results) =
        said.map_or((None, &[][..]), |at| (conversation[at].get("tool_calls"), &conversation[at + 1..]));
    let results = results.iter().filter(|message| message.str_of("type") == Some("tool")).map(text_of);
    calls.and_then(Json::as_array).unwrap_or_default().iter().zip(results)
}

fn text_of(message: &Json) -> &str {
    message.get("content").and_then(Json::as_str).unwrap_or_default()
}
