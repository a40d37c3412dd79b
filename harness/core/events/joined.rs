//! Joins the pieces of a text. How it was cut decides nothing: what was recorded tells two equal pieces from a text that is sent
//! twice, and a piece that begins like the one before it from a piece that repeats it.

use super::held::Manner;
use super::recorded::Recorded;

/// The fewest bytes of a text that can count as repeated if it was not recorded.
const LONG_ENOUGH: usize = 8;
/// The fewest pairs of equal pieces, each unlike the one before, by which a text that was not recorded was sent twice.
const PAIRS: usize = 3;

/// A text that came in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) text: String,
    pub(super) manner: Manner,
}

/// Joins pieces. Pieces that repeat everything so far count once, and so does the whole text after its pieces.
pub(super) fn joined(pieces: &[String], recorded: &Recorded) -> Joined {
    let plain = Joined { text: pieces.concat(), ..Joined::default() };
    if pieces.len() == 1 || recorded.cover(&plain.text).is_all() {
        return plain;
    }
    let is_one = |text: &str| recorded.is_one(text);
    let twice = twice(pieces, 1).filter(|joined| recorded.cover(&joined.text).is_all());
    let ways = [Some(plain), growing(pieces, is_one), with_whole(pieces, is_one), twice, unrecorded(pieces)];
    // The share that is recorded, in thousandths. If there is any, the simplest way comes first.
    let share = |joined: Joined| {
        let cover = recorded.cover(&joined.text);
        (cover.known() * 1000 / cover.all.max(1), joined)
    };
    let all: Vec<(usize, Joined)> = ways.into_iter().flatten().map(share).collect();
    let most = all.iter().map(|(share, _)| *share).max().unwrap_or_default();
    let mut best = all.into_iter().filter(|(share, _)| *share == most);
    if most == 0 { best.next_back() } else { best.next() }.unwrap_or_default().1
}

/// Joins pieces of a text that was not recorded. `None` if none of them repeats others.
fn unrecorded(pieces: &[String]) -> Option<Joined> {
    let is_growing = pieces.windows(2).all(|two| two[1].len() > two[0].len() && two[1].starts_with(&two[0]));
    let growing = growing(pieces, |_| false).filter(|_| is_growing);
    let with_whole = || with_whole(pieces, |text| text.len() >= LONG_ENOUGH);
    growing.or_else(|| twice(pieces, PAIRS).filter(|joined| joined.text.len() >= LONG_ENOUGH)).or_else(with_whole)
}

/// Joins pieces each of which comes twice. `None` if some do not, or fewer than `least` pairs differ from the one before.
fn twice(pieces: &[String], least: usize) -> Option<Joined> {
    let are_twice = pieces.len().is_multiple_of(2) && pieces.chunks(2).all(|pair| pair[0] == pair[1]);
    let once = || pieces.iter().step_by(2);
    let other = once().zip(once().skip(1)).filter(|(one, next)| one != next).count();
    let text = || once().map(String::as_str).collect();
    (are_twice && other >= least).then(|| Joined { text: text(), manner: Manner { twice: true, ..Manner::default() } })
}

/// Joins pieces each of which repeats the one before it and more, or begins another text. `None` if none grows, or one does not
/// end as a whole text: then equal pieces are pieces that were sent twice.
fn growing(pieces: &[String], is_text: impl Fn(&str) -> bool) -> Option<Joined> {
    let (mut text, mut last, mut grows) = (String::new(), "", false);
    for piece in pieces {
        if piece.starts_with(last) {
            grows |= !last.is_empty() && piece.len() > last.len();
        } else if is_text(last) {
            text.push_str(last);
        } else {
            return None;
        }
        last = piece;
    }
    text.push_str(last);
    grows.then_some(Joined { text, manner: Manner { grows, ..Manner::default() } })
}

/// Joins pieces of which some are the whole text of those before them. `None` if there is none.
fn with_whole(pieces: &[String], is_text: impl Fn(&str) -> bool) -> Option<Joined> {
    let (mut text, mut since, mut is_whole, mut again) = (String::new(), 0, false, false);
    for piece in pieces {
        if text[since..].ends_with(piece.as_str()) && is_text(piece) {
            (is_whole, again) = (true, true);
        } else {
            if is_whole {
                (since, is_whole) = (text.len(), false);
            }
            text.push_str(piece);
        }
    }
    // Where all pieces are equal, it is not known which of them is a piece.
    let then_whole = again && pieces.iter().any(|piece| *piece != pieces[0]);
    again.then_some(Joined { text, manner: Manner { then_whole, ..Manner::default() } })
}

#[cfg(test)]
mod tests;
