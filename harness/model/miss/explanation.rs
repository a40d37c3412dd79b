//! Explains a miss: the words of its first line, and the evidence, such as the nearest turn and the differences from it.

use std::collections::HashMap;

use super::caller_rule;
use super::difference::{Difference, differences};
use super::messages::{answer_in_short, describe, failed_with, outline, said_last, who};
use super::missed_call::MissedCall;
use super::nearest::{Nearest, nearest};
use super::reason::MissReason;
use super::words::{change, diff};
use crate::belonging::differing;
use crate::lookup::Lookup;
use retake_base::cause::CauseKind;
use retake_base::line::Line;
use retake_base::text::{clipped, listed, nth_turn};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Rules, attributed, plain_conversation};
use retake_wire::fixture::{Fixture, Turn};

/// How many differences of one call are shown.
const SHOWN: usize = 3;
/// How many characters of a call are shown if the fixture keeps only hashes.
const INPUT: usize = 800;
/// The least length of a message that is recognized in a prompt.
const TELLING: usize = 8;
/// Why a scenario has no turns at all.
const NOT_LOADED: &str = "no fixture is loaded";
/// How many open turns are listed if the fixture keeps only hashes.
const OPEN: usize = 8;

/// The state of the replay: when a call missed, or when the run is over.
pub(crate) struct Situation<'a> {
    pub(crate) fixture: &'a Fixture,
    pub(crate) rules: &'a Rules,
    /// For each turn, whether a call got it and no other call can get it.
    pub(crate) served: Vec<bool>,
    /// For each turn that a call got, the number of that call.
    pub(crate) asked: &'a HashMap<usize, usize>,
}

impl MissedCall {
    /// Explains the call by what it is compared with so far. Returns whether it may be meant for the turn that it resembles most: a
    /// call that resembles no turn is not meant for one that calls tools.
    pub(crate) fn explain(&mut self, run: &Situation<'_>) -> bool {
        let Situation { fixture, rules, served, .. } = run;
        let who = self.who();
        let group = fixture.table.of_conversation(self.lookup.conversation.hash());
        let same = group.map(|group| group.turns.as_slice()).unwrap_or_default();
        self.begin();
        if matches!(self.reason, MissReason::AllServed { .. }) && self.is_of_open_turn(same, run) {
            self.reason = MissReason::NotRecorded;
        }
        let caller = if self.lookup.caller.is_some() { "caller " } else { "" };
        let asks_for = |whose: &str| format!("{caller}{who} asks what was recorded for {whose}");
        let (kind, what) = match &self.reason {
            MissReason::Ambiguous { .. } => {
                let checks = self.lookup.checks.as_ref().map(|checks| &checks.texts);
                let rules = group.map(|group| caller_rule::lines(group, checks, fixture)).unwrap_or_default();
                self.lines.extend(rules.into_iter().map(Line::from));
                (CauseKind::CallerUnknown, self.reason.to_string())
            }
            MissReason::OtherCaller { callers } => (CauseKind::Caller, asks_for(&listed(callers))),
            MissReason::AllServed { turns, more } => {
                let own = self.lookup.checks.as_ref().map(|checks| checks.hashes.prompt);
                let is_own = |turn: &usize| fixture.table.turns()[*turn].checks.map(|checks| checks.prompt) == own;
                // Of a call that was made again while it was recorded, this is one more.
                let is_again = self.lookup.caller.is_none() && same.iter().filter(|turn| is_own(turn)).count() > 1;
                let of_another = same.iter().copied().find(|turn| !served[*turn] && !is_again);
                let turn = of_another.or(turns.last().copied()).unwrap_or_default();
                self.lines.push(format!("nearest    {}", run.place(turn)).into());
                self.nearest = of_another;
                if of_another.is_some() {
                    let recorded = &fixture.table.turns()[turn];
                    let caller = recorded.caller.as_ref().map(|caller| format!("`{caller}`"));
                    if let Some(what) = self.other_prompt(recorded, fixture).filter(|_| caller.is_none()) {
                        self.only(CauseKind::SystemPrompt, what);
                        return true;
                    }
                    let of = || format!("{} ({})", nth_turn(turn), answer_in_short(recorded));
                    (CauseKind::Caller, asks_for(&caller.unwrap_or_else(of)))
                } else {
                    let open = run.open().count();
                    self.lines.push(format!("open       {open} of {} turns were not served yet", served.len()).into());
                    let all = turns.len() + more;
                    let more = if all == 1 { String::new() } else { format!(" and {} more", all - 1) };
                    let of = format!("{}{more}", nth_turn(turn));
                    let what = match fixture.table.turns().get(turn).and_then(failed_with) {
                        Some(status) => format!("is made again after status {status} ({of})"),
                        None => format!("asks once more than recorded: {of} had already answered it"),
                    };
                    (CauseKind::CalledAgain, format!("{} {what}", self.who_last()))
                }
            }
            MissReason::NoFixture => {
                (CauseKind::NoModelExpected, format!("{who} calls a model, but the scenario says `fixture = \"none\"`"))
            }
            MissReason::NotRecorded | MissReason::RequestNotRecorded { .. } => {
                let request = self.lookup.is_opaque().then(|| self.lookup.via.clone());
                if let Some(reason) = request.and_then(|request| of_no_api(&request, &self.lookup, run)) {
                    self.only(kind_of(&reason), reason.to_string());
                    return true;
                }
                let found = nearest(&self.lookup, fixture, rules, served);
                self.compare(found.as_ref(), run);
                let calls_tools = |turn: usize| !fixture.table.turns()[turn].output.tool_calls().is_empty();
                return found.is_none_or(|found| found.alike || !found.other_end && !calls_tools(found.turn));
            }
            reason => (kind_of(reason), reason.to_string()),
        };
        self.only(kind, what);
        true
    }

    /// Whether a call that has the conversation of these turns, all served, is no call of theirs: its prompt, tools or model are nearer
    /// to those of a turn that is open. It lost the messages that told the two apart.
    fn is_of_open_turn(&self, same: &[usize], run: &Situation<'_>) -> bool {
        let (turns, served) = (run.fixture.table.turns(), |turn: &usize| run.served[*turn]);
        let Some(called) = self.lookup.checks.as_ref().filter(|_| self.lookup.caller.is_none()) else { return false };
        let differing = |turn: usize| turns[turn].checks.map(|_| differing(&turns[turn], called).len());
        let least = same.iter().map(|turn| differing(*turn).unwrap_or_default()).min();
        same.iter().all(served) && run.open().filter_map(differing).min().is_some_and(|open| Some(open) < least)
    }

    /// Compares the call with a turn, because it resembles that one most or is aligned with it.
    pub(super) fn compare(&mut self, found: Option<&Nearest>, run: &Situation<'_>) {
        let fixture = run.fixture;
        let (turns, who) = (fixture.table.turns(), self.who());
        self.begin();
        self.nearest = found.map(|found| found.turn);
        if turns.is_empty() {
            let is_loaded = fixture.path.extension().is_some();
            let why = if is_loaded { format!("{} has no turns", fixture.path.display()) } else { NOT_LOADED.into() };
            self.lines.push(format!("nearest    none, {why}").into());
            let who = match (&self.lookup.caller, who.strip_prefix("the call ")) {
                (None, Some(words)) => format!("the service called the model ({words})"),
                (None, None) => "the service called the model".to_owned(),
                (Some(_), _) => format!("{who} called the model"),
            };
            return self.only(CauseKind::NewCall, format!("{who}, but this scenario has no recording"));
        }
        let Some(Nearest { turn: index, conversation, alike, last_of_caller, .. }) = found else {
            self.hashes_only(run);
            return self.only(CauseKind::Conversation, format!("{who} asks something that was never recorded"));
        };
        let turn = &turns[*index];
        self.lines.push(format!("nearest    {}", run.place(*index)).into());
        let of_plain = turn.wire.as_ref().is_some_and(|wire| self.lookup.api.is_some_and(|api| api != wire.api));
        let plain = |messages: &[Json]| if of_plain { plain_conversation(messages) } else { messages.to_vec() };
        let (recorded, called) = (plain(conversation), plain(&self.lookup.conversation));
        if called.is_empty() && recorded.is_empty() {
            let what = self.other_prompt(turn, fixture).unwrap_or(who);
            return self.only(CauseKind::SystemPrompt, what);
        }
        self.differences = differences(&recorded, &called, &who);
        if let Some(what) = self.sent_in_another_role(&recorded, turn, fixture) {
            let lines = self.differences.drain(..).flat_map(|other| other.lines).collect();
            self.only(CauseKind::MessageType, what);
            self.differences[0].lines = lines;
        }
        for difference in self.differences.iter().take(SHOWN) {
            self.lines.extend(difference.lines.iter().cloned());
        }
        if self.differences.len() > SHOWN {
            self.lines.push(format!("           … and {} more differences", self.differences.len() - SHOWN).into());
        }
        let request = |messages: &[Json]| {
            messages.first().map(|message| (message.str_of("type").map(str::to_owned), message.get("name").cloned()))
        };
        let recorded_caller = turns.iter().any(|turn| turn.caller == self.lookup.caller);
        // The recorded history continues with the answer to exactly this call, so the fixture lacks that turn.
        let goes_on = recorded.get(called.len()).filter(|next| next.str_of("type") == Some("ai"));
        if let Some(answer) = goes_on.filter(|_| recorded.starts_with(&called) && !called.is_empty()) {
            let answer = format!("its answer ({}) is in the history there", describe(answer));
            self.has_no_turn = true;
            let what = format!("the fixture lacks the turn of {who} before {}: {answer}", nth_turn(*index));
            self.only(CauseKind::NewCall, what);
        } else if let MissReason::RequestNotRecorded { .. } = self.reason {
            // A request that is not for a chat model is compared only with one of the same method and path.
            if request(&recorded) != request(&called) || self.differences.is_empty() {
                self.only(CauseKind::OtherRequest, self.reason.to_string());
            }
        } else if self.lookup.caller.is_some() && !recorded_caller && turns.iter().any(|turn| turn.caller.is_some()) {
            self.has_no_turn = true;
            let what = format!("caller {who} asks, but no recorded turn is by that caller");
            self.only(CauseKind::NewCall, what);
        } else if *last_of_caller {
            self.one_more(1, &format!("after {} ({})", nth_turn(*index), answer_in_short(turn)));
        } else if !alike || self.differences.is_empty() {
            let call = if self.lookup.caller.is_some() { format!("a call of {who}") } else { who };
            self.only(CauseKind::NewCall, format!("{call} matches no recorded turn"));
        }
    }

    /// Describes a message that became part of the system prompt, or a prompt that became a message. Neither is in the key of the other.
    fn sent_in_another_role(&self, recorded: &[Json], turn: &Turn, fixture: &Fixture) -> Option<String> {
        let Lookup { checks, conversation, .. } = &self.lookup;
        let now = checks.as_ref()?.texts.text(Check::Prompt);
        let before = fixture.texts.get(&turn.checks?.prompt)?;
        let texts = |messages: &[Json]| -> Vec<String> {
            messages.iter().map(|message| message.str_of("content").unwrap_or_default().trim().to_owned()).collect()
        };
        let (recorded_texts, called_texts) = (texts(recorded), texts(conversation));
        // A text of a few characters occurs in others by chance. A prompt that quotes a message stands for more than that one.
        let moved = |from: &[String], to: &[String], prompt: &str, other: &str| {
            let is_moved = |text: &&String| {
                text.chars().count() >= TELLING
                    && prompt.contains(text.as_str())
                    && !other.contains(text.as_str())
                    && !to.contains(text)
            };
            let all = from.iter().filter(is_moved).count();
            from.iter().position(|text| is_moved(&text)).filter(|_| from.len() == to.len() + all)
        };
        let kind = |messages: &[Json], at: usize| messages[at].str_of("type").unwrap_or("message").to_owned();
        let who = self.who();
        Some(if let Some(at) = moved(&recorded_texts, &called_texts, now, before) {
            format!("message {} of {who} is sent as `system`, recorded: `{}`", at + 1, kind(recorded, at))
        } else {
            let at = moved(&called_texts, &recorded_texts, before, now)?;
            format!("message {} of {who} is of type `{}`, recorded: `system`", at + 1, kind(conversation, at))
        })
    }

    /// Says how the prompt differs from that of a turn, which alone tells such calls apart; `None` if it does not.
    fn other_prompt(&mut self, turn: &Turn, fixture: &Fixture) -> Option<String> {
        let recorded = turn.checks.and_then(|checks| fixture.texts.get(&checks.prompt)).map_or("", |text| text);
        let now = self.lookup.checks.as_ref()?.texts.text(Check::Prompt);
        let what = format!("the system prompt of {} changed ({})", self.who(), change(recorded, now));
        let lines = Some(diff(recorded, now)).filter(|_| recorded != now)?;
        self.lines.push("difference in the system prompt, which alone tells such calls apart:".into());
        self.lines.extend(lines);
        Some(what)
    }

    /// Says that the call was made on top of the recorded ones: it is the first of so many. `place` says where it was made:
    /// `before turn 1 (…)`.
    pub(super) fn one_more(&mut self, times: usize, place: &str) {
        let who = self.lookup.caller.as_ref().map_or_else(|| "the service".to_owned(), |caller| format!("`{caller}`"));
        let more = if times == 1 { "once more".to_owned() } else { format!("{times} more times") };
        let first = if times == 1 { "" } else { "first " };
        let what = format!("{who} asks {more} than recorded, {first}{place}: {}", said_last(&self.lookup.conversation));
        self.differences = vec![Difference::of(CauseKind::CalledAgain, what).by(&who)];
    }

    /// Begins the evidence: the messages of the call, and its flaws.
    pub(super) fn begin(&mut self) {
        let Lookup { conversation, flaws, .. } = &self.lookup;
        let messages = format!("messages   {} in the key: {}", conversation.len(), outline(conversation));
        let flaws = flaws.iter().map(|(kind, what)| format!("{:<10} {what}", kind.to_string()));
        self.lines = std::iter::once(messages).chain(flaws).map(Line::from).collect();
    }

    /// Names who makes the call.
    fn who(&self) -> String {
        self.who_says(&self.lookup.conversation)
    }

    /// The same by what the user said last: the calls of a conversation begin with the same words.
    fn who_last(&self) -> String {
        let messages: &[Json] = &self.lookup.conversation;
        let last = messages.iter().rposition(|message| message.str_of("type") == Some("human"));
        self.who_says(&messages[last.unwrap_or_default()..])
    }

    fn who_says(&self, messages: &[Json]) -> String {
        let prompt = self.lookup.checks.as_ref().map_or("", |checks| checks.texts.text(Check::Prompt));
        who(self.lookup.caller.as_deref(), messages, prompt)
    }

    /// Says that the call differs in nothing but this.
    fn only(&mut self, kind: CauseKind, what: String) {
        self.differences = vec![Difference::of(kind, what).by(&self.who())];
    }

    /// Adds the evidence for a fixture that keeps hashes instead of conversations: the open turns, and the text of the call.
    fn hashes_only(&mut self, run: &Situation<'_>) {
        let (path, open) = (run.fixture.path.display(), run.open().count());
        let turns = run.served.len();
        let kept = format!("{path} keeps hashes and no conversations; {open} of its {turns} turns are still open");
        self.lines.push(format!("nearest    not known: {kept}").into());
        self.lines.extend(run.open().take(OPEN).map(|index| {
            let turn = &run.fixture.table.turns()[index];
            let (by, hash) = (attributed(", by", turn.caller.as_deref()), turn.key.conversation_hash.short());
            format!("open       {}{by}, conversation {hash}…: {}", nth_turn(index), answer_in_short(turn)).into()
        }));
        if open > OPEN {
            self.lines.push(format!("           … and {} more", open - OPEN).into());
        }
        let said = |message: &Json| {
            let calls = message.get("tool_calls").map(|calls| format!(" {}", calls.print(Layout::Python)));
            let text = message.str_of("content").unwrap_or_default();
            format!("{}: {text}{}", describe(message), calls.unwrap_or_default())
        };
        let input: Vec<String> = self.lookup.conversation.iter().map(said).collect();
        self.lines.push("input      as it was normalized for the key:".into());
        self.lines.extend(clipped(&input.join("\n"), INPUT).lines().map(|line| format!("  {line}").into()));
    }
}

impl Situation<'_> {
    /// The turns that were not served.
    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.served.len()).filter(|turn| !self.served[*turn])
    }

    /// Describes a turn: its place, its caller, and whether it was served.
    fn place(&self, turn: usize) -> String {
        let state = match (self.served[turn], self.asked.get(&turn)) {
            (false, None) => ", not yet served".to_owned(),
            (true, None) => ", served before".to_owned(),
            (_, Some(call)) => format!(", served before, to call {call}"),
        };
        let by = attributed(", by", self.fixture.table.turns()[turn].caller.as_deref());
        format!("{}{by}{state}", self.fixture.place_of(turn))
    }
}

/// Returns what a path is that nothing was recorded for, and at which providers serve nothing that is known: probably wrong, if it
/// looks like the end of a chat's path, and otherwise unknown, as long as nothing else shows that the base URL is right.
fn of_no_api(request: &str, lookup: &Lookup, situation: &Situation<'_>) -> Option<MissReason> {
    let name = |messages: &[Json]| messages.first().and_then(|message| message.str_of("name").map(str::to_owned));
    let recorded = |of: usize| situation.fixture.conversation(of, situation.rules).and_then(|messages| name(&messages));
    let of_opaque = |turn: &usize| {
        let turns = situation.fixture.table.turns();
        turns[*turn].wire.as_ref().is_some_and(|wire| wire.api == retake_wire::Api::Opaque)
    };
    let known = (0..situation.served.len()).filter(of_opaque).any(|turn| recorded(turn) == name(&lookup.conversation));
    let path = request.strip_prefix("POST ").filter(|path| !known && retake_wire::known_opaque(path).is_none())?;
    let request = request.to_owned();
    let path = path.split('?').next().unwrap_or_default();
    if ["completions", "messages", "responses", "chat"].iter().any(|end| path.ends_with(end)) {
        return Some(MissReason::UnknownRoute { request });
    }
    situation.served.iter().all(|served| !served).then_some(MissReason::UnknownPath { request })
}

/// Returns the kind of cause that a reason stands for.
pub(crate) fn kind_of(reason: &MissReason) -> CauseKind {
    match reason {
        MissReason::NotRecorded => CauseKind::Conversation,
        MissReason::OtherCaller { .. } => CauseKind::Caller,
        MissReason::AllServed { .. } => CauseKind::CalledAgain,
        MissReason::Ambiguous { .. } => CauseKind::CallerUnknown,
        MissReason::NoFixture => CauseKind::NoModelExpected,
        MissReason::Unreadable { .. } => CauseKind::Unreadable,
        MissReason::Unrenderable { .. } => CauseKind::Unrenderable,
        MissReason::RequestNotRecorded { .. } => CauseKind::OtherRequest,
        MissReason::ToolNotRecorded { .. } | MissReason::ToolAllServed { .. } => CauseKind::ToolRequest,
        MissReason::UnknownRoute { .. } | MissReason::UnknownPath { .. } => CauseKind::WrongUrl,
        MissReason::WrongKey => CauseKind::WrongKey,
    }
}
