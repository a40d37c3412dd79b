//! The second look at a call whose key no turn has (KEY.md, section 7): its messages and the recorded ones, message by message, with
//! what the run knows: the day of the recording and today's, and the places of both.
//!
//! The recorded conversations are a tree of messages, so only those of the same number and kinds are compared, and each beginning once.
//! An agent resends its whole history with each call, so what was found for a history is remembered.

mod clock;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use super::checked::Checked;
use super::conversation::Conversation;
use super::served::Found;
use retake_base::lock::Mutex;
use retake_core::days::{Clocks, Days};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Hash, Rules, VARIES, text_as_varying};
use retake_core::places::{Places, Within};
use retake_wire::Shared;
use retake_wire::fixture::{After, Fixture, canonical_answer};

pub use clock::Clock;

/// The recorded conversations of a fixture, and what differs between its recording and the run. All of it is made when the first call
/// needs it.
#[derive(Debug, Default)]
pub(super) struct SecondLook {
    pub(super) clock: Clock,
    days: OnceLock<Days>,
    here: OnceLock<Here>,
    /// The messages. The first one stands before all conversations.
    nodes: OnceLock<Vec<Node>>,
    recent: Mutex<Vec<Recent>>,
    /// For each text of a check that no turn has, the recorded text that says the same.
    checks: Mutex<HashMap<(Check, Hash), Option<Hash>>>,
    /// Whether recorded texts of checks say of values that they vary.
    varies: OnceLock<bool>,
}

/// What makes texts equal that say places, beyond what a fixture names.
#[derive(Debug, Default)]
struct Here {
    /// The stage's folders, below which the rules of the key see paths as they do below `/tmp`.
    folders: Places,
    /// What the recording called the places that stand bare, and what this run calls them.
    bare: Places,
}

impl Here {
    /// Returns a text as it is compared. A model's own words are served as they are, so that nothing bare in them moves.
    fn text<'a>(&self, text: &'a str, of_model: bool) -> Cow<'a, str> {
        let bare = |text: &'a str| if of_model { Cow::Borrowed(text) } else { self.bare.bare_named(text) };
        match self.folders.as_paths(text) {
            Cow::Borrowed(text) => bare(text),
            Cow::Owned(text) if of_model => Cow::Owned(text),
            Cow::Owned(text) => Cow::Owned(self.bare.bare_named(&text).into_owned()),
        }
    }

    fn message(&self, message: &Json) -> String {
        let of_model = message.str_of("type") == Some("ai");
        let mut message = message.clone();
        Within(&|text| self.text(text, of_model)).json(&mut message);
        message.print(Layout::Python)
    }
}

/// A message after those before it.
#[derive(Debug, Default)]
struct Node {
    kind: String,
    text: String,
    before: usize,
    /// How many messages there are up to this one.
    depth: usize,
    next: Vec<usize>,
    /// The conversations that end here. There are several only if they say the same in this run.
    conversations: Vec<Hash>,
}

/// The messages that a call's messages may be, and the clocks by which they are.
type Reached = Vec<(usize, Clocks)>;

/// A call that was looked up: what was found after each of its messages.
#[derive(Debug, Default)]
struct Recent {
    messages: Vec<Shared>,
    found: Vec<Reached>,
}

/// How many calls are remembered: about as many as a system has conversations at the same time.
const REMEMBERED: usize = 16;

impl SecondLook {
    /// Says what the places of the stage are.
    pub(super) fn on_stage(&self, places: &Places, fixture: &Fixture) {
        if !fixture.names_places && fixture.places.is_empty() {
            return;
        }
        let is_folder = |name: &str, place: &str| {
            ["work", "tmp", "home"].iter().any(|folder| name.split(' ').next() == Some(folder))
                && place.matches('/').count() > 1
        };
        let folders = places.iter().filter(|(name, place)| is_folder(name, place));
        let recorded = fixture.places.iter().map(|(name, place)| (name.as_str(), place.as_str()));
        let own = fixture.places.keys().filter_map(|name| Some((name.as_str(), places.place_of(name)?)));
        let of = |(name, place): (&str, &str)| (name.to_owned(), place.to_owned());
        let here = Here { folders: Places::new(folders.map(of)), bare: Places::new(recorded.chain(own).map(of)) };
        let _ = self.here.set(here);
    }

    /// Whether nothing is known that could make texts equal.
    fn knows_nothing(&self, fixture: &Fixture) -> bool {
        self.here.get().is_none() && self.days(fixture).is_empty()
    }

    /// Returns a message as it is compared.
    fn message(&self, message: &Json) -> String {
        self.here.get().map_or_else(|| message.print(Layout::Python), |here| here.message(message))
    }

    /// The days of the recording and of the run. A fixture that keeps no day takes no part.
    pub(super) fn days(&self, fixture: &Fixture) -> &Days {
        self.days.get_or_init(|| fixture.recorded.map(|at| self.clock.days(at)).unwrap_or_default())
    }

    /// Returns the hash of the one recorded conversation that says the same as a call's by one clock, and by what. Turns with hashes
    /// alone take no part.
    pub(super) fn conversation(
        &self,
        called: &Conversation,
        fixture: &Fixture,
        rules: &Rules,
    ) -> Option<(Hash, Found)> {
        if self.knows_nothing(fixture) {
            return None;
        }
        let nodes = self.nodes.get_or_init(|| self.tree(fixture, rules));
        let after = |found: &Reached, message: &Json| self.after(nodes, self.days(fixture), found, message);
        let start = vec![(0, Clocks::ANY)];
        let messages = called.messages();
        if messages.is_empty() {
            return one(nodes, &called.iter().fold(start, |found, message| after(&found, message)));
        }
        let mut recent = self.recent.lock();
        let shared =
            |recent: &Recent| recent.messages.iter().zip(messages).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        let (index, known) = recent.iter().map(shared).enumerate().max_by_key(|of| of.1).unwrap_or_default();
        // A call that continues a remembered one takes its place.
        let goes_on = known > 0 && known == recent[index].messages.len();
        let mut this = if goes_on { recent.remove(index) } else { Recent::default() };
        if !goes_on && known > 0 {
            this.found = recent[index].found[..known].to_vec();
        }
        this.messages = messages.to_vec();
        for message in &messages[known..] {
            let before = this.found.last().cloned().unwrap_or_else(|| start.clone());
            let canonical = rules.canonical([&**message]).pop();
            this.found.push(canonical.map_or_else(|| before.clone(), |canonical| after(&before, &canonical)));
        }
        let conversation = this.found.last().and_then(|found| one(nodes, found));
        recent.push(this);
        if recent.len() > REMEMBERED {
            recent.remove(0);
        }
        conversation
    }

    /// Whether a call's first message says what a recorded conversation begins with.
    pub(super) fn begins(&self, called: &[Shared], fixture: &Fixture, rules: &Rules) -> bool {
        if self.knows_nothing(fixture) {
            return false;
        }
        let nodes = self.nodes.get_or_init(|| self.tree(fixture, rules));
        let first = called.iter().find_map(|message| rules.canonical([&**message]).pop());
        let start = vec![(0, Clocks::ANY)];
        first.is_some_and(|first| !self.after(nodes, self.days(fixture), &start, &first).is_empty())
    }

    /// Whether a text says in this run what another one said in the recording.
    pub(super) fn says_the_same(&self, recorded: &str, called: &str, fixture: &Fixture) -> bool {
        let days = self.days(fixture);
        !self.knows_nothing(fixture)
            && (!days.equal(&self.said(recorded), &self.said(called)).is_none() || days.same_dates(recorded, called))
    }

    /// Returns a text as it is compared.
    fn said<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.here.get().map_or(Cow::Borrowed(text), |here| here.text(text, false))
    }

    /// Returns a call's checks with the recorded texts in place of those that say the same, so that neither ranks nor is noted what
    /// only the day changed, or what was recorded as varying.
    pub(super) fn checks(&self, called: &Arc<Checked>, fixture: &Fixture) -> Arc<Checked> {
        let varies = || *self.varies.get_or_init(|| fixture.texts.values().any(|text| text.contains(VARIES)));
        if self.knows_nothing(fixture) && !varies() {
            return called.clone();
        }
        let same = |check: Check| {
            let (hash, text) = (called.hashes.of(check)?, called.texts.of(check)?);
            if fixture.texts.contains_key(&hash) {
                return None;
            }
            let recorded = || fixture.table.turns().iter().filter_map(|turn| turn.checks?.of(check));
            let is_same = |hash: &Hash| {
                fixture.texts.get(hash).is_some_and(|recorded| {
                    let varying = text_as_varying(recorded, text).filter(|_| check.may_vary());
                    let text = varying.as_deref().unwrap_or(text);
                    **recorded == *text || self.says_the_same(recorded, text, fixture)
                })
            };
            let find = || recorded().collect::<BTreeSet<_>>().into_iter().find(is_same);
            let found = *self.checks.lock().entry((check, hash)).or_insert_with(find);
            Some((check, fixture.texts.get(&found?)?.clone()))
        };
        let same: Vec<(Check, Arc<str>)> = Check::ALL.into_iter().filter_map(same).collect();
        if same.is_empty() {
            return called.clone();
        }
        let texts = same.into_iter().fold(called.texts.clone(), |texts, (check, text)| texts.with(check, text));
        Arc::new(Checked::from(texts))
    }

    /// Returns the recorded messages that may be a call's next one.
    fn after(&self, nodes: &[Node], days: &Days, before: &Reached, message: &Json) -> Reached {
        let (kind, text) = (message.str_of("type").unwrap_or_default(), self.message(message));
        let next = before.iter().flat_map(|(node, clocks)| nodes[*node].next.iter().map(|next| (*next, *clocks)));
        let of_kind = next.filter(|(next, _)| nodes[*next].kind == kind);
        let equal = of_kind.map(|(next, clocks)| (next, clocks.and(days.equal(&nodes[next].text, &text))));
        equal.filter(|(_, clocks)| !clocks.is_none()).collect()
    }

    /// Makes the tree of all conversations of a fixture.
    fn tree(&self, fixture: &Fixture, rules: &Rules) -> Vec<Node> {
        let turns = fixture.table.turns();
        let mut nodes = vec![Node::default()];
        let mut known: HashMap<(usize, Hash), usize> = HashMap::new();
        // For each turn, the last message of its conversation, and its answer.
        let mut ends: Vec<Option<(usize, Option<usize>)>> = Vec::with_capacity(turns.len());
        let mut add = |nodes: &mut Vec<Node>, before: usize, message: &Json| {
            let text = self.message(message);
            *known.entry((before, Hash::of(text.as_bytes()))).or_insert_with(|| {
                let (index, depth) = (nodes.len(), nodes[before].depth + 1);
                let kind = message.str_of("type").unwrap_or_default().to_owned();
                nodes[before].next.push(index);
                nodes.push(Node { kind, text, before, depth, ..Node::default() });
                index
            })
        };
        let after = |index: usize| turns[index].input.as_ref().and_then(|input| input.after);
        let continued: BTreeSet<usize> = (0..turns.len()).filter_map(after).map(|after| after.turn).collect();
        for (index, turn) in turns.iter().enumerate() {
            let end = turn.input.as_ref().and_then(|input| {
                let mut node = match input.after {
                    None => 0,
                    Some(After { turn, keep }) => {
                        let (end, answer) = ends[turn]?;
                        let mut node = answer.unwrap_or(end);
                        while keep.is_some_and(|keep| nodes[node].depth > keep) {
                            node = nodes[node].before;
                        }
                        node
                    }
                };
                for message in &input.messages {
                    node = add(&mut nodes, node, message);
                }
                nodes[node].conversations.push(turn.key.conversation_hash);
                let answer = canonical_answer(&turn.output, rules).filter(|_| continued.contains(&index));
                Some((node, answer.map(|answer| add(&mut nodes, node, &answer))))
            });
            ends.push(end);
        }
        nodes
    }
}

/// Returns the conversation that ends at these messages, if it is one, and whether a day had to move for it.
fn one(nodes: &[Node], reached: &Reached) -> Option<(Hash, Found)> {
    let ends: BTreeSet<Hash> = reached.iter().flat_map(|of| nodes[of.0].conversations.iter().copied()).collect();
    let moved = reached.iter().all(|(_, clocks)| *clocks != Clocks::ANY);
    let found = if moved { Found::ByDay } else { Found::ByPlace };
    ends.first().filter(|_| ends.len() == 1).map(|one| (*one, found))
}

#[cfg(test)]
mod tests;
