//! Text in the columns of a terminal. Pure, except for reading the terminal's width.

use retake::__private::report::terminal_size;
use retake_base::text::{counted, visible};

/// The width of a report in characters, if the terminal's width is not known.
pub(crate) const WIDTH: usize = 80;

/// The most characters of a line. Formatting panics at widths above 65,535.
const MOST: usize = 10_000;

/// The terminal's width: `COLUMNS`, otherwise what the terminal reports, otherwise 80.
pub(crate) fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let known = said.or_else(|| terminal_size().map(|(columns, _)| columns)).filter(|width| *width >= 20);
    known.unwrap_or(WIDTH).min(MOST)
}

/// A text as indented lines of at most `width` characters, broken at spaces if possible. Its own line breaks stay, and invisible
/// characters are escaped.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> Vec<String> {
    let room = width.saturating_sub(indent).max(20);
    let indent = " ".repeat(indent);
    let text = visible(text).replace('\t', "    ");
    let lines = text.trim_end_matches('\n').split('\n').flat_map(|line| broken(line, room));
    lines.map(|line| format!("{indent}{line}").trim_end().to_owned()).collect()
}

/// A horizontal line of this width that begins with a title.
pub(crate) fn ruled(title: &str, width: usize) -> String {
    let begin = format!("── {title} ");
    let line = width.saturating_sub(begin.chars().count());
    format!("{begin}{}", "─".repeat(line))
}

/// The first lines of a wrapped text, and how many more there are.
fn first_lines(text: &str, indent: usize, width: usize, most: usize) -> (Vec<String>, usize) {
    let mut lines = wrapped(text, indent, width);
    // Show a single further line: a note about it would take as much room.
    let more = if lines.len() <= most + 1 { 0 } else { lines.len() - most };
    lines.truncate(lines.len() - more);
    (lines, more)
}

/// A label with a text to its right, in the column `indent` and of at most `most` lines. A longer label has a line of its own.
pub(crate) fn labelled(label: &str, text: &str, indent: usize, width: usize, most: usize) -> Vec<String> {
    let (mut lines, more) = first_lines(text, indent, width, most);
    if more > 0 {
        lines.push(format!("{:indent$}… {}", "", counted(more, "more line")));
    }
    match lines.first_mut() {
        Some(first) if label.chars().count() < indent => {
            format!("{label:<indent$}{}", first.trim_start()).trim_end().clone_into(first);
        }
        _ => lines.insert(0, label.to_owned()),
    }
    lines
}

/// A text on one line of at most `width` characters.
pub(crate) fn in_a_line(text: &str, width: usize) -> String {
    let line = visible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

fn broken(line: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = line.chars().collect();
    while rest.len() > room {
        // Break at the last space in the second half of the line, otherwise at its end.
        let at = rest[room / 2..=room].iter().rposition(|c| *c == ' ').map_or(room, |at| at + room / 2);
        lines.push(rest[..at].iter().collect());
        let next = rest[at..].iter().position(|c| *c != ' ').map_or(rest.len(), |spaces| at + spaces);
        rest.drain(..next);
    }
    lines.push(rest.into_iter().collect());
    lines
}

#[cfg(test)]
mod tests;
