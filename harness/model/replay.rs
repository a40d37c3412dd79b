//! A fixture that is being replayed: each call gets its turn, or is a miss.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::breakage::RecordedPrompts;
use super::call_seen::{CallSeen, CallsSeen};
use super::drift::drift;
use super::going_on::{GoingOn, any_text, meant_turn};
use super::heard::{HeardCall, HeardCalls};
use super::lookup::Lookup;
use super::matching::{OpenTurns, Wanted};
use super::miss::{Difference, Explanation, Miss, MissReason, MissedCall, Over, Situation, align, explain, kind_of};
use super::other_wires::OtherWires;
use super::registry::Scope;
use super::served::Served;
use crate::cause::Cause;
use crate::conversation::{Answer, Message};
use crate::error::Result;
use crate::fixture::{Fixture, Turn};
use crate::json::Json;
use crate::key::{Key, Rules};
use crate::secrets::Fired;
use crate::wire::{self, Api};

/// A fixture that is being replayed: its turns, and which of them were served.
///
/// # Example
/// An agent in the process needs no HTTP:
/// ```no_run
/// use retake::{Message, Replay};
/// let replay = Replay::open("fixtures/greeting.json".as_ref())?;
/// let answer = replay.answer(&[Message::new("human", "hello")], Some("lead_agent"));
/// # Ok::<(), retake::Error>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    fixture: Arc<Fixture>,
    rules: Arc<Rules>,
    scope: Scope,
    state: Mutex<ReplayState>,
    /// Read when the first call finds no turn under its own key.
    other_wires: OnceLock<OtherWires>,
    /// Read when the prompt of a call differs for the first time.
    prompts: OnceLock<RecordedPrompts>,
    /// The scenario says that no model is called: a miss then says so.
    none: bool,
    /// Whether recorded pauses are replayed.
    delays: bool,
    /// What a call that misses gets.
    going_on: GoingOn,
    /// The calls as they came, where somebody wants to know.
    heard: Option<HeardCalls>,
    /// The calls as they came, where they are wanted.
    calls: Option<CallsSeen>,
}

#[derive(Debug)]
struct ReplayState {
    turns: OpenTurns,
    misses: usize,
    missed_calls: Vec<MissedCall>,
    /// How many calls were looked up.
    calls: usize,
    /// Of each served turn, the number of the call that had it last, from 1.
    served_to: HashMap<usize, usize>,
    /// Turns that a call had which missed, and may have been meant for it.
    meant: HashSet<usize>,
    /// Whether a call had no answer.
    unanswered: bool,
}

/// How many misses of one replay are explained in full; of a flood nobody reads more.
const EXPLAINED: usize = 16;

impl Replay {
    /// Replays a fixture in a scope.
    #[doc(hidden)]
    #[must_use]
    pub fn new(fixture: Arc<Fixture>, rules: Arc<Rules>, scope: Scope) -> Replay {
        let only_reads = |(index, turn): (usize, &Turn)| {
            let opaque = turn.wire.as_ref().is_some_and(|wire| wire.api == Api::Opaque);
            opaque && fixture.conversation(index, &rules).is_some_and(|request| wire::only_reads(&request))
        };
        let free = fixture.table.turns().iter().enumerate().map(only_reads).collect();
        let state = ReplayState {
            turns: OpenTurns::of(&fixture.table, free),
            misses: 0,
            missed_calls: Vec::new(),
            calls: 0,
            served_to: HashMap::new(),
            meant: HashSet::new(),
            unanswered: false,
        };
        Replay {
            fixture,
            rules,
            scope,
            state: Mutex::new(state),
            other_wires: OnceLock::new(),
            prompts: OnceLock::new(),
            none: false,
            delays: false,
            going_on: GoingOn::Never,
            heard: None,
            calls: None,
        }
    }

    /// The same, with the pauses in its streams as they were recorded.
    #[must_use]
    pub(crate) fn with_delays(self, delays: bool) -> Replay {
        Replay { delays, ..self }
    }

    /// The same, but a call that misses gets an answer: so one sees what else is not as it was recorded, beside what
    /// follows from the first miss. No miss is registered: this run is judged by nobody.
    #[must_use]
    pub(crate) fn going_on(self, going_on: GoingOn) -> Replay {
        Replay { going_on, ..self }
    }

    /// The same, which keeps what calls said, where that is wanted.
    #[must_use]
    pub(crate) fn hearing(self, wanted: bool) -> Replay {
        Replay { heard: wanted.then(HeardCalls::default), ..self }
    }

    /// Keeps what a call said that a turn answers.
    pub(super) fn hear(&self, served: &Served, caller: Option<&str>, messages: &[Message]) {
        if let Some(heard) = &self.heard {
            let (turn, caller) = (served.index, caller.map(str::to_owned));
            heard.add(HeardCall { turn, caller, messages: messages.to_vec() });
        }
    }

    /// What calls said, where it was kept.
    pub(crate) fn heard(&self) -> Vec<HeardCall> {
        self.heard.as_ref().map(HeardCalls::all).unwrap_or_default()
    }

    /// The same, which remembers the calls that come over HTTP.
    #[must_use]
    pub(crate) fn remembering_calls(self) -> Replay {
        Replay { calls: Some(CallsSeen::default()), ..self }
    }

    /// What to note calls in, where they are wanted.
    pub(super) fn seen(&self) -> Option<&CallsSeen> {
        self.calls.as_ref()
    }

    /// The calls that came over HTTP, where they were wanted.
    pub(crate) fn calls_seen(&self) -> Vec<CallSeen> {
        self.calls.as_ref().map(CallsSeen::all).unwrap_or_default()
    }

    /// The same, where turns that were all served answer again, beginning with the first.
    #[must_use]
    pub(crate) fn with_repeat(self, repeat: bool) -> Replay {
        self.state().turns.repeat(repeat);
        self
    }

    /// Whether recorded pauses are replayed.
    pub(super) fn delays(&self) -> bool {
        self.delays
    }

    /// For scenarios in which no model is called: each call is a miss.
    #[must_use]
    pub(crate) fn none(rules: Arc<Rules>, scope: Scope) -> Replay {
        let fixture = Fixture::of_turns(Path::new("none"), BTreeMap::new(), Vec::new(), &rules);
        Replay { none: true, ..Replay::new(Arc::new(fixture), rules, scope) }
    }

    /// The recorded answer to a conversation. `caller` is who asks; `None` where that is not known.
    ///
    /// # Errors
    /// The miss, which is in the registry as well.
    pub fn answer(&self, messages: &[Message], caller: Option<&str>) -> Result<Answer, Arc<Miss>> {
        let messages = if self.fixture.scrub.is_empty() {
            messages.to_vec()
        } else {
            messages.iter().map(|message| self.fixture.scrub.message(message)).collect()
        };
        let lookup = Lookup {
            via: "a call in the process".to_owned(),
            api: None,
            caller: caller.map(|caller| self.rules.caller(Some(caller))),
            first_key: self.keeps_hashes_only().then(|| Rules::first_key(messages.clone(), caller)),
            conversation: self.rules.canonical(messages),
            checks: None,
            flaws: Vec::new(),
        };
        self.take(lookup, None).map(|served| served.turn().output.clone())
    }

    /// Chooses the turn that answers a call and takes it, in one step. Either way the registry knows. `body` is the whole
    /// request, where there is one.
    ///
    /// # Errors
    /// The miss.
    pub(crate) fn take(&self, lookup: Lookup, body: Option<&Json>) -> Result<Served, Arc<Miss>> {
        let (key, over_another_api) = self.key_of(&lookup);
        let request = || body.map(|body| self.rules.request_hash(body));
        let wanted = Wanted {
            key,
            caller_known: lookup.caller.is_some(),
            empty: lookup.conversation.is_empty(),
            only_hashed: false,
            checks: lookup.checks.as_ref().map(|checks| &checks.hashes),
            request: &request,
        };
        let mut by_first_key = false;
        let number = {
            let mut state = self.state();
            state.calls += 1;
            state.calls
        };
        let taken = if self.none {
            Err(MissReason::NoFixture)
        } else {
            let mut state = self.state();
            let taken = state.turns.take(&self.fixture.table, &wanted);
            match (taken, lookup.first_key) {
                (Err(MissReason::NotRecorded), Some(first)) if first != key => {
                    by_first_key = true;
                    let older = Wanted { key: first, only_hashed: true, ..wanted };
                    state.turns.take(&self.fixture.table, &older).map_err(|_| MissReason::NotRecorded)
                }
                // Who asks for a turn as it is has it before who may have been meant.
                (Err(MissReason::AllServed { turns, more }), _) => {
                    let claimed = turns.iter().copied().find(|turn| state.meant.remove(turn));
                    claimed.ok_or(MissReason::AllServed { turns, more })
                }
                (taken, _) => taken,
            }
        };
        match taken {
            Ok(index) => {
                self.scope.add_served(index);
                self.state().served_to.insert(index, number);
                let turn = &self.fixture.table.turns()[index];
                let drift = lookup
                    .checks
                    .map(|called| drift(&self.fixture, turn, &called, lookup.api, &self.prompts))
                    .unwrap_or_default();
                Ok(Served { fixture: self.fixture.clone(), index, drift, by_first_key, over_another_api })
            }
            Err(reason) => {
                let reason = match reason {
                    MissReason::NotRecorded if lookup.is_opaque() => {
                        MissReason::RequestNotRecorded { request: lookup.via.clone() }
                    }
                    reason => reason,
                };
                let (miss, meant) = self.miss(lookup.via.clone(), reason, Some((&lookup, key)), number);
                if let Some(index) = meant {
                    let fixture = self.fixture.clone();
                    return Ok(Served {
                        fixture,
                        index,
                        drift: Vec::new(),
                        by_first_key: false,
                        over_another_api: false,
                    });
                }
                self.state().unanswered = true;
                Err(miss)
            }
        }
    }

    /// Whether the fixture keeps hashes and no conversations.
    pub(super) fn keeps_hashes_only(&self) -> bool {
        self.fixture.table.turns().first().is_some_and(|turn| turn.input.is_none())
    }

    /// A call's body and path without what recording took out of its calls; then both have the same key.
    pub(super) fn scrub<'a>(&self, body: &mut Json, path: &'a str) -> Cow<'a, str> {
        let scrub = &self.fixture.scrub;
        if scrub.is_empty() {
            return Cow::Borrowed(path);
        }
        let mut fired = Fired::new();
        scrub.json(body, &mut fired);
        scrub.text(path, &mut fired)
    }

    /// Whether a turn has this conversation, served or not.
    #[must_use]
    pub(crate) fn has_turn_for(&self, lookup: &Lookup) -> bool {
        self.fixture.table.of_conversation(self.key_of(lookup).0.conversation_hash).is_some()
    }

    /// Registers a call that could not even be looked up.
    pub(crate) fn refuse(&self, via: String, reason: MissReason) -> Arc<Miss> {
        self.miss(via, reason, None, 0).0
    }

    /// The fixture that is replayed.
    #[must_use]
    pub(crate) fn fixture(&self) -> &Arc<Fixture> {
        &self.fixture
    }

    /// The key rules in force.
    #[must_use]
    pub(crate) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The scope under which calls are registered.
    #[must_use]
    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether each turn was served.
    #[must_use]
    pub fn all_served(&self) -> bool {
        self.state().turns.all_served()
    }

    /// The turns that no call asked for, in recorded order.
    #[must_use]
    pub fn unused(&self) -> Vec<usize> {
        self.state().turns.unused()
    }

    /// The turn that was served last, and the number of the call that had it.
    pub(crate) fn last_served(&self) -> Option<(usize, usize)> {
        let state = self.state();
        state.served_to.iter().max_by_key(|(_, call)| **call).map(|(turn, call)| (*turn, *call))
    }

    /// The first calls that missed, those that were read at all. What of them is not as recorded is told as it is known by
    /// now: which turns other calls have asked for.
    pub(crate) fn missed_calls(&self) -> Vec<MissedCall> {
        let (mut missed, mut asked) = {
            let state = self.state();
            (state.missed_calls.clone(), state.served_to.clone())
        };
        let meant = |turn: &usize| {
            let mut of =
                missed.iter().filter(|call| call.reason == MissReason::NotRecorded && call.nearest == Some(*turn));
            of.next().is_some() && self.state().meant.contains(turn)
        };
        asked.retain(|turn, _| !meant(turn));
        align(&mut missed, &Over { fixture: &self.fixture, rules: &self.rules, asked: &asked });
        missed
    }

    /// Whether a call had no answer: what comes after it may follow from that.
    pub(crate) fn left_unanswered(&self) -> bool {
        self.state().unanswered
    }

    /// The key by which a call is looked up, and whether it is that of a conversation that another API recorded.
    fn key_of(&self, lookup: &Lookup) -> (Key, bool) {
        let own = self.rules.key(&lookup.conversation, lookup.caller.as_deref());
        let Some(api) = lookup.api.filter(|_| self.fixture.table.of_conversation(own.conversation_hash).is_none())
        else {
            return (own, false);
        };
        let others = self.other_wires.get_or_init(|| OtherWires::of(&self.fixture, &self.rules));
        match others.conversation(api, lookup, &self.rules) {
            None => (own, false),
            Some(conversation_hash) => {
                let input_hash = self.rules.input_hash(conversation_hash, lookup.caller.as_deref());
                (Key { conversation_hash, input_hash }, true)
            }
        }
    }

    /// Registers a miss, and gives the turn that goes on where the call missed: taken, where the replay goes on.
    fn miss(
        &self,
        via: String,
        reason: MissReason,
        call: Option<(&Lookup, Key)>,
        number: usize,
    ) -> (Arc<Miss>, Option<usize>) {
        let (explained, served, served_to) = {
            let mut state = self.state();
            state.misses += 1;
            let explained = state.misses <= EXPLAINED;
            let served = if explained { state.turns.served() } else { Vec::new() };
            (explained, served, if explained { state.served_to.clone() } else { HashMap::new() })
        };
        let mut miss = Miss {
            scenario: self.scope.name().to_owned(),
            fixture: self.fixture.path.clone(),
            via,
            caller: call.and_then(|(lookup, _)| lookup.caller.clone()),
            key: call.map(|(_, key)| key),
            causes: vec![Cause::new(kind_of(&reason), reason.to_string())],
            reason,
            evidence: Vec::new(),
            number,
        };
        let mut meant = None;
        if let (true, Some((lookup, _))) = (explained, call) {
            let situation = Situation {
                fixture: &self.fixture,
                rules: &self.rules,
                served: &served,
                served_to: &|turn| served_to.get(&turn).copied(),
            };
            let Explanation { differences, lines, nearest, alike } = explain(&miss.reason, lookup, &situation);
            miss.evidence.clone_from(&lines);
            miss.causes = differences.iter().map(Difference::cause).cloned().collect();
            let mut state = self.state();
            meant = match self.going_on {
                GoingOn::Never => None,
                GoingOn::Aside => any_text(&self.fixture),
                GoingOn::Meant => {
                    meant_turn(&self.fixture, &miss.reason, nearest.filter(|_| alike), miss.key, &state.turns.served())
                }
            };
            if let Some(index) = meant.filter(|index| self.going_on == GoingOn::Meant && !state.turns.served()[*index])
            {
                state.turns.mark(index);
                state.served_to.insert(index, number);
                state.meant.insert(index);
            } else if self.going_on == GoingOn::Meant && !lookup.is_opaque() {
                meant = meant.or_else(|| any_text(&self.fixture));
            }
            let (lookup, reason) = (lookup.clone(), miss.reason.clone());
            state.missed_calls.push(MissedCall { lookup, nearest, reason, differences, lines, number });
        }
        let miss = Arc::new(miss);
        if self.going_on == GoingOn::Never {
            self.scope.add_miss(miss.clone());
        }
        (miss, meant)
    }

    fn state(&self) -> MutexGuard<'_, ReplayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
