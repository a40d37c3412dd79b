//! Text in the columns of a terminal. Pure, but for the width that the terminal has.

use crate::text::visible;

/// How wide a report is where nothing says more, in characters.
pub(crate) const WIDTH: usize = 80;

/// How wide the terminal is, as `COLUMNS` or the terminal itself says; 80 where neither does.
pub(crate) fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.or_else(of_terminal).filter(|width| *width >= 20).unwrap_or(WIDTH)
}

#[cfg(unix)]
fn of_terminal() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn of_terminal() -> Option<usize> {
    None
}

/// A text in lines of at most `width` characters behind an indent, broken at spaces where there are some. Its own line breaks
/// stay; what no terminal shows is written out.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> Vec<String> {
    let room = width.saturating_sub(indent).max(20);
    let indent = " ".repeat(indent);
    let text = visible(text).replace('\t', "    ");
    text.trim_end_matches('\n')
        .split('\n')
        .flat_map(|line| broken(line, room))
        .map(|line| format!("{indent}{line}").trim_end().to_owned())
        .collect()
}

/// A rule over a width, with a title at its begin.
pub(crate) fn ruled(title: &str, width: usize) -> String {
    let begin = format!("── {title} ");
    let line = width.saturating_sub(begin.chars().count());
    format!("{begin}{}", "─".repeat(line))
}

/// The first lines of such a text, and how many more there are.
pub(crate) fn first_lines(text: &str, indent: usize, width: usize, most: usize) -> (Vec<String>, usize) {
    let mut lines = wrapped(text, indent, width);
    // One line more takes no more room than saying that there is one.
    let more = if lines.len() <= most + 1 { 0 } else { lines.len() - most };
    lines.truncate(lines.len() - more);
    (lines, more)
}

/// A text in one line of at most `width` characters.
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
        // A space that stands at the first room characters' end, or in their last half.
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
