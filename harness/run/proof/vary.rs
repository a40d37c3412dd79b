//! Finds what varies between two texts that should be equal, and the rules that make them equal. Pure.

use super::candidates::{Candidate, candidates, line_at};
use super::order::permuted;
use super::rule::{Rule, common};

/// The most places of one text that are compared.
const PLACES: usize = 64;
/// From this many rules of one form on, a single rule without context replaces them.
const MANY: usize = 4;

/// One place in which two texts differ.
#[derive(Clone, Debug)]
pub(super) struct Variation {
    /// What the values look like: `a time of day`.
    pub cause: String,
    /// The values in the first and in the second text.
    pub values: (String, String),
    /// What makes the two texts equal there.
    pub mend: Mend,
}

/// How to make two texts equal at a place.
#[derive(Clone, Debug)]
pub(super) enum Mend {
    Rule(Rule),
    /// No rule can: the same items are in a different order.
    Order,
    /// No rule is known.
    None,
}

/// The places in which two texts differ, from the front. With `in_context`, rules may contain the text around the place. `fits`
/// decides whether a rule may be proposed.
pub(super) fn compare(a: &str, b: &str, in_context: bool, fits: &dyn Fn(&Rule) -> bool) -> Vec<Variation> {
    let (mut a, mut b) = (a.to_owned(), b.to_owned());
    let mut found: Vec<Variation> = Vec::new();
    let mut forms: Vec<(String, &'static str)> = Vec::new();
    while a != b && found.len() < PLACES {
        let at = common(&a, &b);
        if let Some((of_a, of_b)) = permuted(&a, &b, at) {
            let values = (a[of_a.clone()].to_owned(), b[of_b.clone()].to_owned());
            let cause = "the same items in a different order".to_owned();
            found.push(Variation { cause, values, mend: Mend::Order });
            a.replace_range(of_a, &b[of_b]);
            continue;
        }
        let mends = |candidate: &Candidate| {
            let left = |text: &str, end: usize| text.len() - end;
            let (new_a, new_b) = (candidate.rule.apply(&a), candidate.rule.apply(&b));
            let at = common(&new_a, &new_b);
            let goes = new_a.len() - at <= left(&a, candidate.ends.0) && new_b.len() - at <= left(&b, candidate.ends.1);
            goes && (in_context || candidate.rule.alone) && fits(&candidate.rule)
        };
        let Some(candidate) = candidates(&a, &b, at).into_iter().find(mends) else {
            let values = (line_at(&a, at).to_owned(), line_at(&b, at).to_owned());
            found.push(Variation { cause: "different text".to_owned(), values, mend: Mend::None });
            break;
        };
        let values = (a[candidate.start..candidate.ends.0].to_owned(), b[candidate.start..candidate.ends.1].to_owned());
        (a, b) = (candidate.rule.apply(&a), candidate.rule.apply(&b));
        forms.push((candidate.alone, candidate.word));
        found.push(Variation { cause: candidate.name.to_owned(), values, mend: Mend::Rule(candidate.rule) });
    }
    without_many(&mut found, &forms, fits);
    found
}

/// Replaces many rules of one form with different contexts by one rule without a context, which is easier to maintain.
fn without_many(found: &mut [Variation], forms: &[(String, &'static str)], fits: &dyn Fn(&Rule) -> bool) {
    let ruled: Vec<usize> = (0..found.len()).filter(|i| matches!(found[*i].mend, Mend::Rule(_))).collect();
    for (pattern, word) in forms {
        let same: Vec<_> = ruled.iter().zip(forms).filter(|(_, (other, _))| other == pattern).map(|of| *of.0).collect();
        let Some(rule) = Rule::alone(pattern, word).filter(|rule| same.len() >= MANY && fits(rule)) else {
            continue;
        };
        for i in same {
            found[i].mend = Mend::Rule(rule.clone());
        }
    }
}

#[cfg(test)]
mod tests;
