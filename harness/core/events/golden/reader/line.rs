//! The parts of a line, which is read from left to right.

use retake_base::error::{Error, Place, Result};
use retake_base::text::clipped;

/// The most characters of a line that an error shows.
const SHOWN: usize = 40;

/// A line, and how far it was read.
#[derive(Clone)]
pub(super) struct Line<'a> {
    /// Its index.
    pub(super) nth: usize,
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Line<'a> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn place(&self) -> Place {
        Place { line: self.nth + 1, column: self.text[..self.at].chars().count() + 1 }
    }

    pub(super) fn expected(&self, what: &str) -> Error {
        let found = match self.rest() {
            "" => "the end of the line".to_owned(),
            rest => format!("`{}`", clipped(rest, SHOWN)),
        };
        Error::new(format!("expected {what}, found {found}")).at(self.place())
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    pub(super) fn take(&mut self, text: &str) -> Result<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    pub(super) fn spaces(&mut self) -> usize {
        let count = self.rest().bytes().take_while(|c| *c == b' ').count();
        self.at += count;
        count
    }

    /// Reads up to the first of some texts, or to the end.
    pub(super) fn until(&mut self, ends: &[&str]) -> &'a str {
        let rest = self.rest();
        let is_end = |(at, _): &(usize, char)| ends.iter().any(|end| rest[*at..].starts_with(end));
        let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at);
        self.at += end;
        &rest[..end]
    }

    pub(super) fn number(&mut self) -> Result<usize> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..digits].parse().map_err(|_| self.expected("a number"))?;
        self.at += digits;
        Ok(number)
    }

    /// Reads a text in JSON's quotes, as it is written.
    pub(super) fn quoted(&mut self) -> Result<&'a str> {
        let (rest, mut escaped) = (self.rest(), false);
        let mut chars = rest.char_indices().skip(usize::from(rest.starts_with('"')));
        let end = chars.find(|(_, c)| {
            let is_end = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end.filter(|_| rest.starts_with('"')) else {
            return Err(self.expected("a text in quotes"));
        };
        self.at += end + 1;
        Ok(&rest[..=end])
    }

    /// Reads a name, in quotes or up to one of some characters.
    pub(super) fn name(&mut self, ends: &[&str]) -> Result<&'a str> {
        let name = if self.rest().starts_with('"') { self.quoted()? } else { self.until(ends) };
        if name.is_empty() { Err(self.expected("a name")) } else { Ok(name) }
    }

    pub(super) fn end<T>(&self, value: T) -> Result<T> {
        if self.rest().is_empty() { Ok(value) } else { Err(self.expected("the end of the line")) }
    }
}
