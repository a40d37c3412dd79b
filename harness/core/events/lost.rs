//! Texts that stand where the golden has words of the model, and are none: what the service sends in place of these.

use super::golden::{Block, Golden, Shown, Text, Top};
use super::held::{Held, Manner};
use super::texts;
use super::turns::Turns;

/// The texts at a place of the model's that are not the model's.
pub(super) struct Lost {
    pub(super) held: Held,
    pub(super) manner: Manner,
    pub(super) texts: Vec<texts::Text>,
}

impl Golden {
    /// Adds the texts that came in place of what a committed golden has, for each of its blocks. They may be what other `turns` say.
    pub(super) fn add_lost(&mut self, committed: &Golden, lost: &[Vec<(String, Lost)>], turns: &Turns<'_>) {
        for ((is, was), lost) in self.blocks.iter_mut().zip(&committed.blocks).zip(lost) {
            let (now, had) = (is.texts(), was.texts());
            if now == had {
                continue;
            }
            let others = turns.here(None);
            let mut lost: Vec<(&String, &Held, usize, Text)> = lost
                .iter()
                .flat_map(|(label, of)| of.texts.iter().map(move |text| (label, of, text)))
                .map(|(label, of, text)| (label, &of.held, text.line, text.shown(of.manner, others.told(&text.whole))))
                .collect();
            let gone = had.iter().filter(|text| !now.contains(text)).filter_map(|(label, held, text)| {
                let Text::Turns(told, _) = text else { return None };
                // The same words in another way say more.
                let is_there = |(of, at, now): &(&String, &Held, &Text)| {
                    (of, at) == (label, held) && matches!(now, Text::Turns(now, _) if now.of == told.of)
                };
                (!now.iter().any(is_there)).then_some((*label, *held, told))
            });
            for (label, held, told) in gone.collect::<Vec<_>>() {
                let said: Vec<&String> = told.of.iter().filter_map(|of| self.said.0.get(of)).collect();
                let likeness = |text: &Text| said.iter().map(|said| shared(&text.to_string(), said)).max();
                let there = lost.iter().enumerate().filter(|(_, (of, at, ..))| (*of, *at) == (label, held));
                let Some((at, _)) = there.max_by_key(|(_, (.., text))| likeness(text)) else { continue };
                let (_, held, line, text) = lost.remove(at);
                is.add(line, held.clone(), text);
            }
            // What a golden holds as it was sent.
            lost.retain(|(label, held, _, text)| had.contains(&(*label, *held, text)));
            for (_, held, line, text) in lost {
                is.add(line, held.clone(), text);
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
