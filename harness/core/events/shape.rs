//! Makes the golden of what a scenario captured: for each response its request, its status, the sequence of its events, and one
//! tree for each event label.
//!
//! If each event were written out with its types, the lines would be too long to read. So the sequence has only names and
//! top-level keys, and the payloads are merged into trees, where a change at any depth changes its own line.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};

use super::beside::Kept;
use super::captured::{Captured, Ending, Event, Payload};
use super::chosen::{At, Chosen, Places};
use super::foreign::Foreign;
use super::golden::{Block, EventIds, Golden, Head, Kind, Repeat, Shown, Text, Tree};
use super::id_places::IdPlaces;
use super::ids::{Ids, Stands, StandsAt, is_name};
use super::labels::{ReadEvent, read, request_of};
use super::lost::Lost;
use super::marked::{Passed, Tells};
use super::merge::Keep;
use super::notation::Normalize;
use super::options::{Detail, Loose, ShapeOptions};
use super::parallel::Calls;
use super::pins::{Pinned, Pins};
use super::places::add_places;
use super::recorded::Recorded;
use super::remembered::Remembered;
use super::search::holdings;
use super::sequence::{LabelShape, Sequence, Writing};
use super::told::Beside;
use super::turns::Turns;
use super::words::{Exactly, WordKeys};
use super::{beside, headers, notation, outline, times};
use crate::json::Json;
use time::{OffsetDateTime, UtcOffset};

/// The golden of a run, and what it pins.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped {
    pub golden: Golden,
    pinned: Pinned,
}

impl Shaped {
    /// Makes the golden of what a scenario captured, in the order of its steps.
    ///
    /// `normalize` replaces texts that vary between runs with names. It is called separately for each request, label, key,
    /// comment, text and shown value.
    pub fn of(captures: &[Captured], options: &ShapeOptions, known: &Known<'_>, normalize: &Normalize<'_>) -> Shaped {
        // Each of the passes below asks for most texts.
        let made = RefCell::new(Remembered::<str>::default());
        let normalize = |text: &str| made.borrow_mut().of(text, || normalize(text)).to_string();
        let normalize: &Normalize<'_> = &normalize;
        let kept = beside::kept(captures, known.committed, normalize);
        let mut events = read(kept.iter().map(|of| of.capture), options, normalize);
        for (events, of) in events.iter_mut().zip(&kept) {
            events.retain(|_| of.is_whole);
            known.calls.order(events, options);
        }
        // A golden that names no turn holds all texts as they were sent.
        let before = known.committed.filter(|_| !matches!(known.tells, Tells::Shown(_)));
        let tells = !options.without_turns && before.is_none_or(Golden::names_turns);
        let turns = if tells { Turns::of(known, normalize) } else { Turns::default() };
        let named = turns.passed.as_ref().map(|passed| passed.holdings.clone());
        let named = named.or_else(|| Some(Passed::of(before?).holdings)).unwrap_or_default();
        let mut holdings = holdings(named, &events, options, known, normalize);
        if tells && turns.passed.is_none() {
            add_places(&mut holdings, &events, normalize, &turns);
        }
        let mut places = known.id_places.cloned().unwrap_or_default();
        known.committed.iter().for_each(|committed| places.0.extend(IdPlaces::named(committed).0));
        // A value of the run is the same value in any form: an id that has one may get another.
        let of_run = known.committed.map(Golden::values_of_run).unwrap_or_default();
        let quoted = known.committed.map(Golden::quoted).unwrap_or_default();
        let stands = |label: &str, pointer: &str, text: &str| {
            if of_run.contains(&*normalize(text)) {
                return Some(Stands::ShortIds);
            }
            // What somebody else said is no id of the service, unless the scenario captured it. Where values are shown, so are those of ids.
            places.knows(label, pointer, text, &known.recorded).filter(|stands| match stands {
                Stands::Ids => {
                    let came = || known.foreign.as_ref().is_some_and(|foreign| foreign.came(text));
                    // An older golden may quote an id that has no form where other events of that name have only ids.
                    let is_quoted = || quoted.contains(&*notation::json_quoted(text));
                    let is_recorded = known.recorded.ids.contains(text);
                    if is_recorded { !is_quoted() } else { is_name(&normalize(text)) || !came() }
                }
                Stands::ShortIds => true,
                Stands::Texts => options.detail != Detail::Values,
            })
        };
        let stands: Option<&StandsAt<'_>> = if places.is_empty() && of_run.is_empty() { None } else { Some(&stands) };
        let (ids, words) = (Ids::of(&events, options, normalize, stands), WordKeys::new(&options.words));
        let chosen = Chosen::of(&events, options, normalize, &ids, known.committed.is_some(), (known, &holdings));
        let said = (chosen.holds_order && !tells).then(|| Turns::of(known, normalize));
        let pinned = RefCell::default();
        let writing = Writing {
            options,
            normalize,
            ids: &ids,
            words: &words,
            chosen: &chosen,
            holdings: &holdings,
            recorded: &known.recorded,
            turns: &turns,
            said: said.as_ref().unwrap_or(&turns),
            zones: &known.zones,
            pinned: &pinned,
        };
        let blocks = kept.iter().zip(&events).map(|(of, events)| block(of, events, &writing));
        let (blocks, lost): (Vec<Block>, Vec<_>) = blocks.unzip();
        let mut golden = Golden { blocks, said: turns.said(), ..Golden::default() };
        if let Some(committed) = known.committed {
            golden.tell_derived_as(committed, &known.recorded);
            golden.keep_order_as(committed);
            golden.keep_pieces_as(committed, false);
            golden.keep_open(committed);
            golden.keep_varying_beside(committed);
        }
        if let Some(committed) = before {
            golden.add_lost(committed, &lost, &turns, known.foreign.as_ref());
        }
        Shaped { golden, pinned: pinned.into_inner() }
    }

    /// Returns the places at which this golden pins something different from another golden of the same scenario.
    pub fn differing_pins(&self, other: &Shaped) -> Vec<Loose> {
        let places: BTreeSet<&Loose> = self.pinned.keys().chain(other.pinned.keys()).collect();
        let differs = |place: &&Loose| self.pinned.get(*place) != other.pinned.get(*place);
        places.into_iter().filter(differs).cloned().collect()
    }
}

/// Returns the golden of what a scenario captured, of which nothing else is known.
pub fn golden(captures: &[Captured], options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) -> Golden {
    Shaped::of(captures, options, &Known::default(), normalize).golden
}

/// Returns the label and the sorted top-level keys of each event, or `None` as keys if its payload is not an object. Comments
/// and unterminated tails are left out.
pub fn event_keys(events: &[Event]) -> Vec<(String, Option<Vec<String>>)> {
    let keys = |event: &Event| {
        let json = event.json();
        let keys = json.as_ref().and_then(Json::as_object).map(|o| o.keys().map(ToString::to_string).collect());
        (event.label_with(json.as_ref()).to_owned(), keys)
    };
    events.iter().filter(|event| event.is_real()).map(keys).collect()
}

/// Returns the part of a golden for one capture.
fn block(of: &Kept<'_>, events: &[ReadEvent<'_>], writing: &Writing<'_>) -> (Block, Vec<(String, Lost)>) {
    let Kept { capture, committed, .. } = *of;
    let Writing { options, normalize, pinned, chosen, ids, .. } = *writing;
    let seen = |text: &str| notation::unseen_escaped(text).into_owned();
    let request = request_of(capture, normalize);
    if let Some(tree) = &capture.tree {
        let page = tree.lines().map(|line| seen(&normalize(line))).filter(|line| !line.trim().is_empty()).collect();
        return (Block { request, page, ..Block::default() }, Vec::new());
    }
    let committed = committed.filter(|committed| committed.request == request);
    let headers = headers::held(capture, committed, options, ids, normalize);
    let there = |at: OffsetDateTime| writing.zones.iter().map(move |zone| at.to_offset(*zone));
    let told = times::answered(capture).map(|at| there(at).find(|there| there.date() != at.date()).unwrap_or(at));
    let Sequence { lines, shapes, lost } = Sequence::of(events, told, writing);
    let (ids, ids_repeat) = event_ids(events, committed.and_then(Block::ids_repeat));
    let media = seen(capture.content_type.split(';').next().unwrap_or_default().trim());
    // What a piece of a text says is no contract.
    let is_piece = |shown: &Shown| matches!(shown, Shown::Text(_, text) if text.manner().in_pieces);
    let in_pieces = |label: &str| lines.iter().any(|line| line.label == label && line.shown.iter().any(is_piece));
    let before = |label: &str| of.committed?.trees.iter().find(|of| of.label() == label);
    let tree = |(label, of): (String, LabelShape)| {
        let pins = Pins::new(&of.label.name, options, pinned);
        let before = before(&label);
        // At the level of types, only where a committed golden has it, and where nothing of it may be another one.
        let is_unheld = chosen.is_committed() && before.is_none_or(|before| before.whole.is_none());
        let is_open = is_unheld || in_pieces(&label) || options.loose.iter().any(|loose| loose.label == of.label.name);
        let whole = of.whole().filter(|_| of.keep != Keep::Types || !is_open);
        let held = lines.iter().filter(|line| line.label == label).flat_map(|line| &line.shown);
        let cut = held.filter_map(|shown| match shown {
            Shown::Text(places, Text::Turns(told, _)) if told.how.is_cut() => Some(places),
            _ => None,
        });
        let cut = cut.flatten().map(|held| held.path.pointer()).collect();
        let at = At::label(&label, &request);
        outline::tree(&at, &of.seen, whole, of.keep, (&pins, chosen, before.map(Places::of).as_ref(), cut))
    };
    // A text is shown where something of it is held, or was.
    let was_held = |tree: &Tree| before(tree.label()).is_some_and(|of| !of.is_nested());
    let is_text = |kind: &Kind| matches!(kind.bare(), Kind::Quoted(_));
    let is_held = |tree: &Tree| tree.whole.is_some() || tree.root.kinds.iter().any(is_text);
    let is_shown = |tree: &Tree| tree.is_nested() || is_held(tree) || was_held(tree);
    let trees = shapes.into_iter().map(tree).filter(is_shown).collect();
    let head = Some(Head { status: capture.status.to_string(), media, ids, ids_repeat, early: Vec::new() });
    let ending = if options.until_last && !capture.is_left_open() { Ending::Ended } else { capture.after.ending };
    let is_blank = |read: &ReadEvent<'_>| matches!(&read.event.payload, Payload::Data(text) if text.trim().is_empty());
    let is_blank = Beside(matches!(events, [body] if body.event.is_body() && is_blank(body)));
    (Block { request, head, headers, ending, trees, events: lines, is_blank, page: Vec::new() }, lost)
}

/// Which of the events have ids, and whether a client that comes back with one misses events or gets some again.
fn event_ids(events: &[ReadEvent<'_>], known: Option<Repeat>) -> (EventIds, Repeat) {
    let mut real: Vec<&ReadEvent<'_>> = events.iter().filter(|read| read.event.is_real()).collect();
    real.sort_by_key(|read| read.at);
    let ids: Vec<&str> = real.iter().filter_map(|read| read.event.id.as_deref()).collect();
    let which = match ids.len() {
        0 => EventIds::None,
        all if all == real.len() => EventIds::All,
        _ => EventIds::Some,
    };
    let told = ids.into_iter().filter(|id| !id.is_empty());
    let distinct: HashSet<&str> = told.clone().collect();
    let numbers: Option<Vec<u64>> = told.clone().map(|id| id.parse().ok()).collect();
    let repeat = match numbers.as_deref() {
        _ if known == Some(Repeat::Varies) => Repeat::Varies,
        _ if distinct.len() < told.count() => Repeat::Yes,
        Some(numbers) if !numbers.is_sorted() => Repeat::Falls,
        // A few numbers may count by chance. Where they counted before, they may begin elsewhere.
        Some([first, rest @ ..])
            if (*first < 2 || matches!(known, Some(Repeat::From(_))))
                && known.map_or(rest.len() > 1, |known| known != Repeat::No)
                && rest.last().is_none_or(|last| last - first == rest.len() as u64) =>
        {
            Repeat::From(*first)
        }
        _ => Repeat::No,
    };
    (which, repeat)
}

/// What is known of a run besides its events: what the model answered, what does not come from the service, and what the committed
/// golden pins. Without any of this, the usual keys tell what is a text, and what is a word.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// The texts in the recorded answers.
    pub recorded: Recorded,
    /// What tells which texts are the model's, if no committed golden does. What was shown counts more than that.
    pub tells: Tells<'a>,
    /// The tool calls in the recorded answers.
    pub calls: Calls,
    /// The texts that are not the service's own. Without them, no word counts as its own.
    pub foreign: Option<Foreign>,
    /// Whether other runs show which numbers and texts vary, so that the others can be held.
    pub has_others: bool,
    /// How far the clocks are from UTC by which its system may tell the day.
    pub zones: Vec<UtcOffset>,
    /// How words with digits are told in texts of which the committed golden decides nothing: see [`Golden::tell_exactly`].
    pub exactly: Exactly,
    /// Where texts are ids, or are none, in spite of their form, if no committed golden names these places.
    pub id_places: Option<&'a IdPlaces>,
    /// The committed golden, if the run is compared with it: it names the places of texts, and those that are pinned because of
    /// what stands there. Otherwise these are found out anew, as are the texts of events of which it names nothing.
    pub committed: Option<&'a Golden>,
}

#[cfg(test)]
mod tests;
