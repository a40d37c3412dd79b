//! Joins the pieces of a text. How it was cut decides nothing: what was recorded tells two equal pieces from a text that is sent
//! twice, and a piece that begins like the one before it from a piece that repeats it.

use super::recorded::{Cover, Recorded};

/// The fewest bytes of a text that can count as repeated if it was not recorded.
const LONG_ENOUGH: usize = 8;

/// A text that came in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) text: String,
    /// Whether a piece repeated everything before it, and more.
    pub(super) grows: bool,
    /// Whether the text came again as a whole after its pieces.
    pub(super) then_whole: bool,
}

/// Joins pieces. Pieces that repeat everything so far count once, and so does the whole text after its pieces.
pub(super) fn joined(pieces: &[String], recorded: &Recorded) -> (Joined, Cover) {
    let plain = Joined { text: pieces.concat(), ..Joined::default() };
    let of_plain = recorded.cover(&plain.text);
    if pieces.len() == 1 || of_plain.is_all() {
        return (plain, of_plain);
    }
    let ways = [growing(pieces), with_whole(pieces, |text| recorded.is_one(text))];
    let ways = ways.into_iter().flatten().map(|joined| {
        let cover = recorded.cover(&joined.text);
        (joined, cover)
    });
    let all: Vec<(Joined, Cover)> = std::iter::once((plain, of_plain)).chain(ways).collect();
    // The share that is recorded, in thousandths. The simplest way comes first.
    let share = |cover: &Cover| cover.known() * 1000 / cover.all.max(1);
    let most = all.iter().map(|(_, cover)| share(cover)).max().unwrap_or_default();
    if most == 0 {
        let joined = unrecorded(pieces);
        return (joined, of_plain);
    }
    all.into_iter().find(|(_, cover)| share(cover) == most).unwrap_or_default()
}

/// Joins pieces of a text that was not recorded.
fn unrecorded(pieces: &[String]) -> Joined {
    let is_long = pieces[0].len() >= LONG_ENOUGH;
    let is_growing = pieces.windows(2).all(|two| two[1].len() > two[0].len() && two[1].starts_with(&two[0]));
    let is_constant = is_long && pieces.iter().all(|piece| *piece == pieces[0]);
    let again = growing(pieces).filter(|_| is_growing || is_constant);
    again
        .or_else(|| with_whole(pieces, |text| text.len() >= LONG_ENOUGH))
        .unwrap_or_else(|| Joined { text: pieces.concat(), ..Joined::default() })
}

/// Joins pieces each of which repeats the one before it, or begins another text. `None` if none of them repeats another.
fn growing(pieces: &[String]) -> Option<Joined> {
    let (mut text, mut last, mut grows, mut repeats) = (String::new(), "", false, false);
    for piece in pieces {
        if !last.is_empty() && piece.starts_with(last) {
            (grows, repeats) = (grows || piece.len() > last.len(), true);
        } else {
            text.push_str(last);
        }
        last = piece;
    }
    text.push_str(last);
    repeats.then_some(Joined { text, grows, then_whole: false })
}

/// Joins pieces of which some are the whole text of those before them. `None` if there is none.
fn with_whole(pieces: &[String], is_text: impl Fn(&str) -> bool) -> Option<Joined> {
    let (mut text, mut since, mut again) = (String::new(), 0, false);
    for piece in pieces {
        if text[since..].ends_with(piece.as_str()) && is_text(piece) {
            (since, again) = (text.len(), true);
        } else {
            text.push_str(piece);
        }
    }
    again.then_some(Joined { text, grows: false, then_whole: true })
}

#[cfg(test)]
mod tests;
