//! Cuts texts into the pieces that a stream carries.

/// The number of words of text in one event of a stream.
const WORDS: usize = 4;
/// The number of characters of a tool call's arguments in one event of a stream.
const CHARACTERS: usize = 24;

/// Returns the text; `None` if it is empty.
pub(crate) fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Cuts a text into pieces of [`WORDS`] words, each with the white space after it.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut words = 0;
    let mut in_word = false;
    pieces(text, move |c| {
        let begins = !in_word && !c.is_whitespace();
        in_word = !c.is_whitespace();
        words += usize::from(begins);
        begins && words > 1 && words % WORDS == 1
    })
}

/// Cuts a text into pieces of [`CHARACTERS`] characters.
pub(crate) fn characters(text: &str) -> impl Iterator<Item = &str> {
    let mut count = 0;
    pieces(text, move |_| {
        count += 1;
        count > 1 && count % CHARACTERS == 1
    })
}

/// Cuts a text before each character for which `cut` returns `true`.
fn pieces(text: &str, mut cut: impl FnMut(char) -> bool) -> impl Iterator<Item = &str> {
    let cuts: Vec<usize> = text.char_indices().filter(|(_, c)| cut(*c)).map(|(at, _)| at).collect();
    let ends = cuts.into_iter().chain(given(text).map(str::len));
    ends.scan(0, |start, end| text.get(std::mem::replace(start, end)..end))
}

#[cfg(test)]
mod tests;
