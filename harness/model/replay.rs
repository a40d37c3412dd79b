//! The replay of a fixture: each call gets its turn, or is a miss.

mod missing;
mod neighbours;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;

use self::neighbours::Neighbours;
use super::breakage::RecordedPrompts;
use super::conversation::Conversation;
use super::drift::{DriftOf, drift};
use super::echoes::Echoes;
use super::going_on::GoingOn;
use super::hold::Hold;
use super::load::Sessions;
use super::lookup::Lookup;
use super::matching::{OpenTurns, Wanted};
use super::miss::{self, Miss, MissReason};
use super::other_wires::OtherWires;
use super::registry::Scope;
use super::run_log::{Keeps, RunLog};
use super::second_look::{Clock, SecondLook};
use super::served::{Found, Served};
use super::worlds::Staged;
use retake_base::error::Result;
use retake_base::lock::Mutex;
use retake_core::conversation::{Answer, Message};
use retake_core::json::Json;
use retake_core::key::{Hash, Key, Rules};
use retake_core::places::{Places, RunValues};
use retake_core::secrets::Fired;
use retake_wire::fixture::{Fixture, Table, Turn};
use retake_wire::{self as wire, Api, Response, Shared};

/// The replay of a fixture: its turns, and which of them were served.
#[derive(Debug)]
pub struct Replay {
    /// The fixture as it is stored.
    stored: Arc<Fixture>,
    /// What it says on the stage, if it names places.
    here: OnceLock<Arc<Fixture>>,
    rules: Arc<Rules>,
    scope: Scope,
    state: Mutex<ReplayState>,
    /// Computed when the first call finds no turn under its own key.
    other_wires: OnceLock<OtherWires>,
    second_look: SecondLook,
    echoes: Echoes,
    /// Computed when the prompt of a call differs for the first time.
    prompts: OnceLock<RecordedPrompts>,
    /// Whether the scenario says that no model is called. Then each call is a miss that says so.
    none: bool,
    /// Whether pauses in streams are replayed as they were recorded.
    pub delays: bool,
    /// What a call that misses gets. If it gets an answer, the run shows what else differs from the recording, apart from what follows
    /// from the first miss. Then no miss is registered, because such a run has no verdict.
    pub going_on: GoingOn,
    log: Mutex<RunLog>,
    /// What the log keeps.
    pub keeps: Keeps,
    /// What happens to calls that are not simply answered.
    pub staged: Option<Arc<Staged>>,
    /// What holds the end of its answers back. Clients of its stage tell it what they receive.
    pub hold: Option<Hold>,
    neighbours: Neighbours,
}

#[derive(Debug, Default)]
struct ReplayState {
    turns: OpenTurns,
    /// The turns of each session, where sessions are told apart.
    sessions: Sessions,
    misses: usize,
    /// How many calls were looked up.
    calls: usize,
    /// For each served turn, the number of the call that got it last, counted from 1.
    served_to: HashMap<usize, usize>,
    /// The turns that were given to calls that missed, because the calls resemble them.
    meant: HashSet<usize>,
}

impl ReplayState {
    fn take(&mut self, session: Option<&str>, table: &Table, wanted: &Wanted<'_>) -> Result<usize, MissReason> {
        match session {
            None => self.turns.take(table, wanted),
            Some(session) => self.sessions.take(session, &mut self.turns, table, wanted),
        }
    }
}

impl Replay {
    /// Starts the replay of a fixture. Misses and served turns are registered in the scope.
    #[doc(hidden)]
    pub fn new(fixture: Arc<Fixture>, rules: Arc<Rules>, scope: Scope) -> Replay {
        let fixture = fixture.stored.clone().unwrap_or(fixture);
        let only_reads = |(index, turn): (usize, &Turn)| {
            let opaque = turn.wire.as_ref().is_some_and(|wire| wire.api == Api::Opaque);
            opaque && fixture.conversation(index, &rules).is_some_and(|request| wire::only_reads(&request))
        };
        let free = fixture.table.turns().iter().enumerate().map(only_reads).collect();
        let firsts: Vec<usize> = fixture.joined.iter().map(|(first, _)| *first).collect();
        let state = ReplayState { turns: OpenTurns::of(&fixture.table, free, &firsts), ..ReplayState::default() };
        Replay {
            stored: fixture,
            here: OnceLock::new(),
            rules,
            scope,
            state: Mutex::new(state),
            other_wires: OnceLock::new(),
            second_look: SecondLook::default(),
            echoes: Echoes::default(),
            prompts: OnceLock::new(),
            none: false,
            delays: false,
            going_on: GoingOn::Never,
            log: Mutex::default(),
            keeps: Keeps::default(),
            staged: None,
            hold: None,
            neighbours: Neighbours::default(),
        }
    }

    /// Says what the places of the stage are, before its system can call.
    pub fn on_stage(&self, places: &Places) {
        let mut state = self.state.lock();
        if self.here.get().is_some() || state.calls > 0 {
            return;
        }
        self.second_look.on_stage(places, &self.stored);
        if let Some(fixture) = self.stored.at(places, &self.rules) {
            state.turns = state.turns.over(&fixture.table);
            let _ = self.here.set(Arc::new(fixture));
        }
    }

    /// Sets the clock of the system whose calls are looked up.
    pub fn by(mut self, clock: Clock) -> Replay {
        self.second_look.clock = clock;
        self
    }

    /// Returns the turn that a call would get now, and whether it is open. Nothing is taken.
    pub(super) fn next_turn(&self, lookup: &Lookup, body: Option<&Json>) -> Option<(usize, bool)> {
        let request = || body.map(|body| self.rules.request_hash(body));
        let (wanted, _) = self.wanted(lookup, &request);
        let (turns, table) = (&mut self.state.lock().turns, &self.fixture().table);
        turns.next(table, &wanted).or_else(|| {
            let key = lookup.conversation.first_key(lookup.first_caller.as_ref()?.as_deref());
            turns.next(table, &Wanted { key, only_hashed: true, ..wanted })
        })
    }

    /// Writes something to the log.
    pub(super) fn note(&self, what: impl FnOnce(&mut RunLog)) {
        what(&mut self.log.lock());
    }

    /// Whether a call has missed so far, of the model or of a tool.
    pub fn has_missed(&self) -> bool {
        let log = self.log.lock();
        log.unanswered || !log.missed.is_empty() || !self.scope.misses().is_empty()
    }

    /// Sets whether the turns of a key are served once more, from the first one on, when all of them were served.
    pub fn with_repeat(self, repeat: bool) -> Replay {
        self.state.lock().turns.repeats = repeat;
        self
    }

    /// Starts the replay of a scenario in which no model is called, so that each call is a miss.
    pub fn none(rules: Arc<Rules>, scope: Scope) -> Replay {
        let fixture = Fixture::of_turns(Path::new("none"), BTreeMap::new(), Vec::new(), &rules);
        Replay { none: true, ..Replay::new(Arc::new(fixture), rules, scope) }
    }

    /// Returns the recorded answer to a conversation. `caller` is `None` if the caller is not known.
    ///
    /// # Errors
    /// The miss, which is also in the registry.
    pub fn answer(&self, messages: &[Message], caller: Option<&str>) -> Result<Answer, Arc<Miss>> {
        let messages = if self.fixture().scrub.is_empty() {
            messages.to_vec()
        } else {
            messages.iter().map(|message| self.fixture().scrub.message(message)).collect()
        };
        let lookup = Lookup {
            via: "a call in the process".to_owned(),
            api: None,
            caller: caller.map(|caller| self.rules.caller(Some(caller))),
            first_caller: self.keeps_hashes_only().then(|| caller.map(str::to_owned)),
            conversation: Conversation::of(messages.into_iter().map(Shared::from).collect(), None, &self.rules),
            checks: None,
            flaws: Vec::new(),
            values: RunValues::default(),
        };
        self.take(None, &lookup, None).map(|served| served.turn().output.clone())
    }

    /// Chooses the turn that answers a call and takes it, in one step. The registry gets the served turn or the miss. `body`
    /// returns the whole request, if the call came as one.
    ///
    /// A call of a `session` is served each turn from the first one on, whatever other sessions were served.
    ///
    /// # Errors
    /// The miss.
    pub fn take<'b>(
        &self,
        session: Option<&str>,
        lookup: &Lookup,
        body: Option<&dyn Fn() -> &'b Json>,
    ) -> Result<Served, Arc<Miss>> {
        let request = || body.map(|body| self.rules.request_hash(body()));
        let (wanted, mut found) = self.wanted(lookup, &request);
        let key = wanted.key;
        let mut state = self.state.lock();
        state.calls += 1;
        let number = state.calls;
        let taken = if self.none {
            Err(MissReason::NoFixture)
        } else {
            let taken = state.take(session, &self.fixture().table, &wanted);
            match (taken, &lookup.first_caller) {
                (Err(MissReason::NotRecorded), Some(caller)) => {
                    let first = lookup.conversation.first_key(caller.as_deref());
                    let older = Wanted { key: first, only_hashed: true, ..wanted };
                    found = Found::ByFirstKey;
                    let taken = (first != key).then(|| state.take(session, &self.fixture().table, &older).ok());
                    taken.flatten().ok_or(MissReason::NotRecorded)
                }
                // A call with a turn's own key gets the turn, even if a call that missed has been given it before.
                (Err(MissReason::AllServed { turns, more }), _) => {
                    let claimed = turns.iter().copied().find(|turn| state.meant.remove(turn));
                    claimed.ok_or(MissReason::AllServed { turns, more })
                }
                (taken, _) => taken,
            }
        };
        drop(state);
        match taken {
            Ok(index) => {
                self.scope.add_served(index);
                self.state.lock().served_to.insert(index, number);
                let turn = &self.fixture().table.turns()[index];
                // What it says today may be what another one said in the recording.
                let differs = |of: &DriftOf| !self.says_the_same(&of.recorded, &of.called);
                let clock = &self.second_look.clock;
                let mut drift = drift(self.fixture(), turn, lookup, clock, &self.prompts);
                drift.retain(differs);
                Ok(self.served(Served { drift, found, ..Served::plain(self.fixture().clone(), index) }, lookup))
            }
            Err(reason) => {
                let reason = match reason {
                    MissReason::NotRecorded if lookup.is_opaque() => {
                        MissReason::RequestNotRecorded { request: lookup.via.clone() }
                    }
                    reason => reason,
                };
                let (miss, meant) = self.miss(lookup.via.clone(), reason, Some((lookup, key)), number);
                if let Some(index) = meant {
                    return Ok(Served::plain(self.fixture().clone(), index));
                }
                self.note(|log| log.unanswered = true);
                if let Some(staged) = &self.staged {
                    staged.note_left(self.fixture().table.turns().len());
                }
                Err(miss)
            }
        }
    }

    /// A turn as it is served: what it says again of its call, it says with the run's values.
    fn served(&self, served: Served, lookup: &Lookup) -> Served {
        let days = self.second_look.days(&served.fixture);
        let (own, told) = self.echoes.turn(&served.fixture, served.index, lookup, &self.rules, days);
        let own = own.map(Arc::new);
        self.note(|log| {
            log.own.extend(own.iter().map(|own| (served.index, own.clone())));
            log.days.extend(told);
        });
        Served { own, ..served }
    }

    /// Takes the turn that answers a call. Notes nothing, whether there is one or not.
    pub(super) fn recall(&self, lookup: &Lookup, body: &Json) -> Option<Served> {
        let request = || Some(self.rules.request_hash(body));
        let (wanted, found) = self.wanted(lookup, &request);
        let index = self.state.lock().turns.take(&self.fixture().table, &wanted).ok()?;
        Some(self.served(Served { found, ..Served::plain(self.fixture().clone(), index) }, lookup))
    }

    /// Whether the fixture keeps hashes instead of conversations.
    pub(super) fn keeps_hashes_only(&self) -> bool {
        self.fixture().table.turns().first().is_some_and(|turn| turn.input.is_none())
    }

    /// Removes from a call's body and path what recording removed from its calls, so that both have the same key.
    pub(super) fn scrub<'a>(&self, body: &mut Json, path: &'a str) -> Cow<'a, str> {
        let scrub = &self.fixture().scrub;
        if scrub.is_empty() {
            return Cow::Borrowed(path);
        }
        let mut fired = Fired::new();
        scrub.json(body, &mut fired);
        scrub.text(path, &mut fired)
    }

    /// Returns the response to a call with the mark of the fixture, if it has one.
    pub(super) fn marked<'r>(&self, api: Api, served: &Served, response: Cow<'r, Response>) -> Cow<'r, Response> {
        let Some(mark) = &self.fixture().mark else { return response };
        let response = Cow::Owned(response.into_owned().with_more_tokens(served.index));
        if !mark.is_in(served.index) {
            return response;
        }
        let marked = response.marked(api, mark, served.index, &served.turn().output);
        // A run with an answer that says other words than were marked shows nothing.
        if marked.is_none() {
            self.note(|log| log.unanswered = true);
        }
        marked.map_or(response, Cow::Owned)
    }

    /// Takes the mark of the fixture off the body of a request, and the values that only this run has, which it returns.
    pub(super) fn unmark(&self, body: &mut Bytes) -> RunValues {
        if let Some(unmarked) = self.fixture().mark.as_ref().and_then(|mark| mark.taken_off(body)) {
            *body = unmarked.into();
        }
        self.echoes.take_back(body)
    }

    /// Whether any turn has this conversation, whether it was served or not.
    pub fn has_turn_for(&self, lookup: &Lookup) -> bool {
        self.fixture().table.of_conversation(self.key_of(lookup).0.conversation_hash).is_some()
    }

    /// Registers a call that cannot be looked up as a miss.
    pub fn refuse(&self, via: String, reason: MissReason) -> Arc<Miss> {
        self.miss(via, reason, None, 0).0
    }

    /// The fixture that is replayed.
    pub fn fixture(&self) -> &Arc<Fixture> {
        self.here.get().unwrap_or(&self.stored)
    }

    /// The key rules of the replay.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The scope in which calls are registered.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether each turn was served, apart from those that only read and need not be asked for.
    pub fn all_served(&self) -> bool {
        self.state.lock().turns.all_served()
    }

    /// The turns that no call asked for, in recorded order.
    pub fn unused(&self) -> Vec<usize> {
        self.state.lock().turns.unused()
    }

    /// Returns the open turns that a call resembles most, if several are equally like it.
    pub fn equally_near(&self, lookup: &Lookup) -> Vec<usize> {
        miss::equally_near(lookup, self.fixture(), &self.rules, &self.state.lock().turns.served())
    }

    /// Returns the key by which a call is looked up, and what it is the key of: the call's own conversation if a turn has it, else the
    /// one that says the same by what the run knows, else one that was recorded over another API.
    fn key_of(&self, lookup: &Lookup) -> (Key, Found) {
        let key = |conversation_hash: Hash| Key {
            conversation_hash,
            input_hash: self.rules.input_hash(conversation_hash, lookup.caller.as_deref()),
        };
        let own = lookup.conversation.hash();
        if self.fixture().table.of_conversation(own).is_some() {
            return (key(own), Found::ByKey);
        }
        let second = self.second_look.conversation(&lookup.conversation, self.fixture(), &self.rules);
        let found = second.or_else(|| Some((self.over_another_api(lookup)?, Found::OverAnotherApi)));
        found.map_or_else(|| (key(own), Found::ByKey), |(conversation, found)| (key(conversation), found))
    }

    /// Whether a call begins as a recorded conversation does, by what the run knows.
    pub(super) fn begins(&self, called: &[Shared]) -> bool {
        self.second_look.begins(called, self.fixture(), &self.rules)
    }

    /// Whether a text says in this run what another one said in the recording, by what the run knows.
    pub fn says_the_same(&self, recorded: &str, called: &str) -> bool {
        let is_marked = self.fixture().mark.as_ref().is_some_and(|mark| mark.is_alike(recorded, called));
        is_marked || self.second_look.says_the_same(recorded, called, self.fixture())
    }

    /// Returns the hash of a conversation that was recorded over another API than the call's.
    fn over_another_api(&self, lookup: &Lookup) -> Option<Hash> {
        let api = lookup.api?;
        let over_another = |turn: &Turn| turn.wire.as_ref().is_some_and(|wire| wire.api != api);
        if !self.fixture().table.turns().iter().any(over_another) {
            return None;
        }
        let others = self.other_wires.get_or_init(|| OtherWires::of(self.fixture(), &self.rules));
        others.conversation(api, lookup, &self.rules)
    }

    /// What is known about a call whose turn is chosen, and what its key is the key of.
    fn wanted<'a>(&'a self, lookup: &Lookup, request: &'a dyn Fn() -> Option<Hash>) -> (Wanted<'a>, Found) {
        let (key, found) = self.key_of(lookup);
        let (caller_known, empty) = (lookup.caller.is_some(), lookup.conversation.length == 0);
        let checks = lookup.checks.as_ref().map(|called| self.second_look.checks(called, self.fixture()));
        let texts = &self.fixture().texts;
        (Wanted { key, caller_known, empty, only_hashed: false, checks, texts, request }, found)
    }
}
