//! Which recorded turn answers a call (KEY.md, section 4).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::checked::Checked;
use super::miss::{Miss, Reason};
use super::other_wires::OtherWires;
use super::registry::Scope;
use crate::conversation::{Answer, Message};
use crate::error::Result;
use crate::fixture::{Fixture, Group, Turn};
use crate::json::Json;
use crate::key::{Checks, Key, Rules};
use crate::secrets::Fired;
use crate::wire::Api;

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
    state: Mutex<State>,
    /// Read when the first call finds no turn under its own key.
    other_wires: OnceLock<OtherWires>,
    /// The scenario says that no model is called: a miss then says so.
    none: bool,
}

#[derive(Debug, Default)]
struct State {
    served: Vec<bool>,
    left: usize,
    /// For each group of turns, how many at its front are served.
    done: Vec<usize>,
    misses: usize,
    missed: Vec<MissedCall>,
}

/// A call that missed, and the turn that it may have been meant for.
#[derive(Clone, Debug)]
pub(crate) struct MissedCall {
    pub(crate) lookup: Lookup,
    pub(crate) nearest: Option<usize>,
    pub(crate) reason: Reason,
}

/// A call that looks for its turn.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// How the call came, for people: `POST /v1/chat/completions`.
    pub via: String,
    /// The API that it came over; `None` for a call in the process.
    pub api: Option<Api>,
    /// The caller's canonical name, where the call declared it or a rule gave it.
    pub caller: Option<String>,
    /// The canonical conversation.
    pub conversation: Vec<Json>,
    /// Texts of prompt, tools, model and settings, where the call tells them.
    pub checks: Option<Arc<Checked>>,
}

/// A turn that answers a call.
#[derive(Clone, Debug)]
pub struct Served {
    fixture: Arc<Fixture>,
    /// Its index in the fixture.
    pub index: usize,
    /// What of the call's checks differs from the recorded ones.
    pub drift: Vec<DriftOf>,
}

/// A check that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftOf {
    /// `prompt`, `tools`, `model` or `settings`.
    pub check: &'static str,
    /// The recorded text.
    pub recorded: Arc<str>,
    /// The call's text.
    pub called: Arc<str>,
}

impl State {
    /// The first turn of a group that was not served yet and fits.
    fn first_open(&mut self, group: &Group, fits: impl Fn(&usize) -> bool) -> Option<usize> {
        let done = &mut self.done[group.id];
        *done += group.turns[*done..].iter().take_while(|index| self.served[**index]).count();
        group.turns[*done..].iter().copied().find(|index| !self.served[*index] && fits(index))
    }
}

impl Lookup {
    /// Whether this is no call of a chat model, but a request that is looked up as a whole.
    fn is_opaque(&self) -> bool {
        self.conversation.first().is_some_and(|message| message.str_of("type") == Some("opaque"))
    }
}

impl Served {
    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &Turn {
        &self.fixture.table.turns()[self.index]
    }
}

/// How many misses of one replay are explained in full; of a flood nobody reads more.
const EXPLAINED: usize = 16;

impl Replay {
    /// Replays a fixture file by version 1 of the key, under the file's name.
    ///
    /// # Errors
    /// As [`Fixture::read`].
    pub fn open(path: &Path) -> Result<Replay> {
        let rules = Arc::new(Rules::default());
        let fixture = Arc::new(Fixture::read(path, &rules)?);
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Replay::new(fixture, rules, Scope::new(&name)))
    }

    /// Replays a fixture in a scope.
    #[must_use]
    pub fn new(fixture: Arc<Fixture>, rules: Arc<Rules>, scope: Scope) -> Replay {
        let turns = fixture.table.turns().len();
        let done = vec![0; fixture.table.groups()];
        let state = State { served: vec![false; turns], left: turns, done, ..State::default() };
        Replay { fixture, rules, scope, state: Mutex::new(state), other_wires: OnceLock::new(), none: false }
    }

    /// For scenarios in which no model is called: each call is a miss.
    #[must_use]
    pub fn none(rules: Arc<Rules>, scope: Scope) -> Replay {
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
            conversation: self.rules.canonical(messages),
            checks: None,
        };
        self.take(lookup).map(|served| served.turn().output.clone())
    }

    /// Chooses the turn that answers a call and takes it, in one step. Either way the registry knows.
    ///
    /// # Errors
    /// The miss.
    pub fn take(&self, lookup: Lookup) -> Result<Served, Arc<Miss>> {
        let key = self.key_of(&lookup);
        let chosen = {
            let mut state = self.state();
            let chosen =
                self.choose(&mut state, key, lookup.caller.is_some(), lookup.checks.as_ref().map(|c| &c.hashes));
            if let Ok(index) = chosen {
                state.served[index] = true;
                state.left -= 1;
            }
            chosen
        };
        match chosen {
            Ok(index) => {
                self.scope.add_served(index);
                let turn = &self.fixture.table.turns()[index];
                let drift = lookup.checks.map(|called| self.drift(turn, &called)).unwrap_or_default();
                Ok(Served { fixture: self.fixture.clone(), index, drift })
            }
            Err(Reason::NotRecorded) if lookup.is_opaque() => {
                let reason = Reason::RequestNotRecorded { request: lookup.via.clone() };
                Err(self.miss(lookup.via.clone(), reason, Some((&lookup, key))))
            }
            Err(reason) => Err(self.miss(lookup.via.clone(), reason, Some((&lookup, key)))),
        }
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
    pub fn has_turn_for(&self, lookup: &Lookup) -> bool {
        self.fixture.table.of_conversation(self.key_of(lookup).conversation_hash).is_some()
    }

    /// Registers a call that could not even be looked up.
    pub fn refuse(&self, via: String, reason: Reason) -> Arc<Miss> {
        self.miss(via, reason, None)
    }

    /// The fixture that is replayed.
    #[must_use]
    pub fn fixture(&self) -> &Arc<Fixture> {
        &self.fixture
    }

    /// The key rules in force.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The scope under which calls are registered.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether each turn was served.
    #[must_use]
    pub fn all_served(&self) -> bool {
        self.state().left == 0
    }

    /// The turns that no call asked for, in recorded order.
    #[must_use]
    pub fn unused(&self) -> Vec<usize> {
        self.state().served.iter().enumerate().filter(|(_, served)| !**served).map(|(index, _)| index).collect()
    }

    /// The key of a call: its own, or where no turn has that, the one under which another API recorded what it says.
    fn key_of(&self, lookup: &Lookup) -> Key {
        let own = self.rules.key(&lookup.conversation, lookup.caller.as_deref());
        let Some(api) = lookup.api.filter(|_| self.fixture.table.of_conversation(own.conversation_hash).is_none())
        else {
            return own;
        };
        let others = self.other_wires.get_or_init(|| OtherWires::of(&self.fixture, &self.rules));
        others.conversation(api, &lookup.conversation, &self.rules).map_or(own, |conversation_hash| Key {
            conversation_hash,
            input_hash: self.rules.input_hash(conversation_hash, lookup.caller.as_deref()),
        })
    }

    /// The first calls that missed, those that were read at all.
    pub(crate) fn missed(&self) -> Vec<MissedCall> {
        self.state().missed.clone()
    }

    fn choose(&self, state: &mut State, key: Key, known: bool, checks: Option<&Checks>) -> Result<usize, Reason> {
        if self.none {
            return Err(Reason::NoFixture);
        }
        let table = &self.fixture.table;
        let turns = table.turns();
        let equal = |group| table.with_checks(group, checks?);
        let same_conversation = table.of_conversation(key.conversation_hash);
        if known {
            let own = table.of_input(key.input_hash);
            let older = |index: &usize| turns[*index].is_older_than_callers();
            let mut of_own = own.and_then(equal).into_iter().chain(own);
            let mut of_older = same_conversation.and_then(equal).into_iter().chain(same_conversation);
            let found = of_own.find_map(|group| state.first_open(group, |_| true));
            if let Some(index) = found.or_else(|| of_older.find_map(|group| state.first_open(group, older))) {
                return Ok(index);
            }
            let own = own.map_or(&[][..], |group| &group.turns);
            let same = same_conversation.map_or(&[][..], |group| &group.turns);
            let taken = own.iter().copied().chain(same.iter().copied().filter(older));
            return Err(match (taken.clone().next(), same_conversation) {
                (Some(_), _) => all_served(taken),
                (None, Some(others)) => Reason::OtherCaller { callers: callers_of(turns, &others.turns) },
                (None, None) => Reason::NotRecorded,
            });
        }
        let group = same_conversation.ok_or(Reason::NotRecorded)?;
        let equal = equal(group);
        let groups = match equal {
            _ if !group.several_callers => equal.into_iter().chain([group]),
            Some(equal) if !equal.several_callers => None.into_iter().chain([equal]),
            _ => return Err(Reason::Ambiguous { callers: callers_of(turns, &group.turns) }),
        };
        let mut last = &group.turns;
        for group in groups {
            match state.first_open(group, |_| true) {
                Some(index) => return Ok(index),
                None => last = &group.turns,
            }
        }
        Err(all_served(last.iter().copied()))
    }

    fn drift(&self, turn: &Turn, called: &Checked) -> Vec<DriftOf> {
        let (Some(recorded), Checked { texts, hashes }) = (turn.checks, called) else { return Vec::new() };
        let text = |hash| self.fixture.texts.get(&hash).cloned().unwrap_or_default();
        [
            ("prompt", recorded.prompt, hashes.prompt, &texts.prompt),
            ("tools", recorded.tools, hashes.tools, &texts.tools),
            ("model", recorded.model, hashes.model, &texts.model),
            ("settings", recorded.settings, hashes.settings, &texts.settings),
        ]
        .into_iter()
        .filter(|(_, recorded, now, _)| recorded != now)
        .map(|(check, recorded, _, called)| DriftOf { check, recorded: text(recorded), called: called.clone() })
        .collect()
    }

    fn miss(&self, via: String, reason: Reason, call: Option<(&Lookup, Key)>) -> Arc<Miss> {
        let (explained, served) = {
            let mut state = self.state();
            state.misses += 1;
            let explained = state.misses <= EXPLAINED;
            (explained, if explained { state.served.clone() } else { Vec::new() })
        };
        let mut miss = Miss {
            scenario: self.scope.name().to_owned(),
            fixture: self.fixture.path.clone(),
            via,
            caller: call.and_then(|(lookup, _)| lookup.caller.clone()),
            key: call.map(|(_, key)| key),
            reason,
            evidence: Vec::new(),
        };
        if let (true, Some((lookup, _))) = (explained, call) {
            miss.evidence =
                super::miss::explanation::evidence(&miss.reason, lookup, &self.fixture, &self.rules, &served);
            let nearest =
                super::miss::explanation::nearest(lookup, &self.fixture, &self.rules, &served).map(|(index, _)| index);
            let missed = MissedCall { lookup: lookup.clone(), nearest, reason: miss.reason.clone() };
            self.state().missed.push(missed);
        }
        let miss = Arc::new(miss);
        self.scope.add_miss(miss.clone());
        miss
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn all_served(mut turns: impl Iterator<Item = usize>) -> Reason {
    Reason::AllServed { turns: turns.by_ref().take(8).collect(), more: turns.count() }
}

fn callers_of(turns: &[Turn], indices: &[usize]) -> Vec<String> {
    let name = |index: &usize| turns[*index].caller.clone().unwrap_or_else(|| "(no caller)".to_owned());
    indices.iter().map(name).collect::<BTreeSet<_>>().into_iter().collect()
}
