//! Texts in pieces, as streams carry them.

/// How many words of text, and how many characters of arguments, one event of a stream carries.
const WORDS: usize = 4;
const CHARACTERS: usize = 24;

/// A text, unless it is empty.
pub(in crate::wire) fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// A text in pieces of a few words, each with the white space after it.
pub(in crate::wire) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut words = 0;
    let mut in_word = false;
    pieces(text, move |c| {
        let begins = !in_word && !c.is_whitespace();
        in_word = !c.is_whitespace();
        words += usize::from(begins);
        begins && words > 1 && words % WORDS == 1
    })
}

/// A text in pieces of a few characters.
pub(in crate::wire) fn characters(text: &str) -> impl Iterator<Item = &str> {
    let mut count = 0;
    pieces(text, move |_| {
        count += 1;
        count > 1 && count % CHARACTERS == 1
    })
}

/// A text cut before each character of which `cut` is true.
fn pieces(text: &str, mut cut: impl FnMut(char) -> bool) -> impl Iterator<Item = &str> {
    let cuts: Vec<usize> = text.char_indices().filter(|(_, c)| cut(*c)).map(|(at, _)| at).collect();
    let ends = cuts.into_iter().chain(given(text).map(str::len));
    ends.scan(0, |start, end| text.get(std::mem::replace(start, end)..end))
}

#[cfg(test)]
mod tests;
