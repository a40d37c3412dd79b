//! Texts that stand where the golden has words of the model, and are none: what the service sends in place of these.

use super::foreign::Foreign;
use super::golden::{Block, Golden, Shown, Text, Top};
use super::held::{Held, Manner};
use super::texts;
use super::told::quoted;
use super::turns::Turns;

/// The texts at a place of the model's that are not the model's.
pub(super) struct Lost {
    pub(super) held: Held,
    pub(super) manner: Manner,
    pub(super) texts: Vec<texts::Text>,
}

impl Golden {
    /// Adds the texts that came in place of what a committed golden has, for each of its blocks. They may be what other `turns` say,
    /// but hardly what a tool or the scenario says, which stands there beside the model's words.
    pub(super) fn add_lost(
        &mut self,
        committed: &Golden,
        lost: &[Vec<(String, Lost)>],
        turns: &Turns<'_>,
        foreign: Option<&Foreign>,
    ) {
        for ((is, was), lost) in self.blocks.iter_mut().zip(&committed.blocks).zip(lost) {
            let (now, had) = (is.texts(), was.texts());
            if now == had {
                continue;
            }
            let others = turns.here(None);
            let is_beside = |text: &str| !text.is_empty() && foreign.is_some_and(|of| of.is_known_in_case(text));
            let mut lost: Vec<(&String, &Held, &texts::Text, Text)> = lost
                .iter()
                .flat_map(|(label, of)| of.texts.iter().map(move |text| (label, of, text)))
                .map(|(label, of, text)| (label, &of.held, text, text.shown(of.manner, others.told(&text.whole))))
                .collect();
            let gone = had.iter().filter(|text| !now.contains(text)).filter_map(|(label, held, text)| {
                let Text::Turns(told, _) = text else { return None };
                // The same words in another way, or with others, say more.
                let has =
                    |now: &Text| matches!(now, Text::Turns(now, _) if told.of.iter().all(|of| now.of.contains(of)));
                let is_there =
                    |is: &(&String, &Held, &Text)| (is.0, is.1) == (*label, *held) && has(is.2) && !had.contains(is);
                (!now.iter().any(is_there)).then_some((*label, *held, told))
            });
            for (label, held, told) in gone.collect::<Vec<_>>() {
                let said: Vec<&String> = told.of.iter().filter_map(|of| self.said.0.get(of)).collect();
                let likeness = |text: &str| said.iter().map(|said| shared(&quoted(text), said)).max();
                let rank = |text: &str| (!is_beside(text), likeness(text), !text.is_empty());
                let there = lost.iter().enumerate().filter(|(_, (of, at, ..))| (*of, *at) == (label, held));
                let Some((at, _)) = there.max_by_key(|(_, (_, _, text, _))| rank(&text.whole)) else { continue };
                let (_, held, text, shown) = lost.remove(at);
                is.add(text.line, held.clone(), shown);
            }
            // What a golden holds as it was sent.
            lost.retain(|(label, held, _, shown)| had.contains(&(*label, *held, shown)));
            for (_, held, text, shown) in lost {
                is.add(text.line, held.clone(), shown);
            }
        }
    }
}

impl Block {
    /// The texts of events that are not collapsed, with label and place.
    pub(super) fn texts(&self) -> Vec<(&String, &Held, &Text)> {
        let of_events = self.texts_held().filter(|(_, event, ..)| event.top != Top::Collapsed);
        of_events.map(|(_, event, held, text)| (&event.label, held, text)).collect()
    }

    /// Adds a text to a line, where one that is the model's would stand.
    fn add(&mut self, line: usize, held: Held, text: Text) {
        let Some(event) = self.events.get_mut(line) else { return };
        let shown = Shown::Text(vec![held], text);
        if !event.shown.contains(&shown) {
            event.shown.push(shown);
            event.shown.sort_by_cached_key(|shown: &Shown| matches!(shown, Shown::Text(..)).then(|| shown.to_string()));
        }
    }
}

/// How many words of a text are in another, in any case.
fn shared(text: &str, other: &str) -> usize {
    let other = other.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| other.contains(&word.to_lowercase())).count()
}
