//! Parses the text of a golden back into its parts, since this text is all that is known about an earlier run. Pure.

/// The words before the hash of all payloads of a label.
pub(super) const AS_A_WHOLE: &str = "as a whole ";
/// What the line of a status says of a stream that comes in several pieces.
pub(super) const IN_PIECES: &str = ", in pieces";

/// The line above the events that came after the last one for which the step waited.
pub(super) const AFTER_LAST: &str = "(after the last event)";
pub(super) const BROKE_OFF: &str = "(broke off)";
/// The line of a stream that did not end.
pub(super) const LEFT_OPEN: &str = "(left open)";

/// Returns which responses of a golden come in several pieces; nothing if none does.
pub fn in_pieces(golden: &str) -> Vec<bool> {
    if !golden.contains(IN_PIECES) {
        return Vec::new();
    }
    read(golden).iter().map(|part| part.content_type.ends_with(IN_PIECES)).collect()
}

/// One captured response in a golden.
#[derive(Debug, Default)]
pub(super) struct Written<'a> {
    /// The method and the path.
    pub(super) request: &'a str,
    /// The status; empty for a page.
    pub(super) status: &'a str,
    /// The content type, and whether events have ids; empty for a page.
    pub(super) content_type: &'a str,
    pub(super) headers: Vec<&'a str>,
    /// The lines of the sequence.
    pub(super) events: Vec<WrittenEvent<'a>>,
    /// How the stream ended, if it did not end by itself: `broke off`, `left open`.
    pub(super) ending: &'a str,
    /// The trees.
    pub(super) shapes: Vec<WrittenShape<'a>>,
    /// The lines of a page's tree.
    pub(super) tree: Vec<&'a str>,
}

/// One line of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenEvent<'a> {
    pub(super) label: &'a str,
    /// The text after the label, without the count.
    pub(super) rest: &'a str,
    /// The number of times that the event repeats.
    pub(super) times: usize,
    /// The lines of values below it.
    pub(super) values: Vec<&'a str>,
    /// Whether it came after the last event for which the step waited.
    pub(super) is_late: bool,
}

/// The tree of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenShape<'a> {
    pub(super) label: &'a str,
    /// The text next to the label, without the hash of all payloads.
    pub(super) what: &'a str,
    pub(super) hash: &'a str,
    /// The lines below the label.
    pub(super) keys: Vec<WrittenKey<'a>>,
}

/// One line of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenKey<'a> {
    /// The path of keys to it: `/messages/tool.status`.
    pub(super) path: String,
    pub(super) name: &'a str,
    /// The number of lines above it that it belongs to.
    pub(super) depth: usize,
    /// The description of its value: `string`.
    pub(super) what: &'a str,
}

/// Returns the parts of a golden, in the order of the steps.
pub(super) fn read(text: &str) -> Vec<Written<'_>> {
    let mut parts: Vec<Written<'_>> = Vec::new();
    let mut lines = text.lines().peekable();
    let (mut in_events, mut late) = (false, false);
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            in_events = in_events && parts.last().is_some_and(|part| part.events.is_empty());
            continue;
        }
        let (status, content_type) =
            lines.peek().map(|next| next.split_once(' ').unwrap_or((next, ""))).unwrap_or_default();
        let code = if status == "exit" { content_type } else { status };
        let is_head = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_head && !line.starts_with(' ') && line.contains(' ') {
            parts.push(Written { request: line, status, content_type, ..Written::default() });
            lines.next();
            (in_events, late) = (true, false);
        } else if parts.is_empty() || line.starts_with("browser ") {
            parts.push(Written { request: line, ..Written::default() });
            in_events = false;
        } else if let Some(part) = parts.last_mut() {
            take(part, line, in_events, &mut late);
        }
    }
    parts
}

fn take<'a>(part: &mut Written<'a>, line: &'a str, in_events: bool, late: &mut bool) {
    if part.status.is_empty() {
        part.tree.push(line);
    } else if in_events {
        match part.events.last_mut().filter(|_| line.starts_with(' ')) {
            Some(event) => event.values.push(line.trim()),
            None if line.starts_with(' ') => part.headers.push(line.trim()),
            // A label that begins like a note is written in quotes.
            None if line == AFTER_LAST => *late = true,
            None if [BROKE_OFF, LEFT_OPEN].contains(&line) => part.ending = line.trim_matches(['(', ')']),
            None => part.events.push(WrittenEvent { is_late: *late, ..WrittenEvent::of(line) }),
        }
    } else if line.starts_with(' ') {
        if let Some(WrittenShape { keys, .. }) = part.shapes.last_mut() {
            keys.push(WrittenKey::of(line, keys));
        }
    } else {
        part.shapes.push(WrittenShape::of(line));
    }
}

impl<'a> WrittenEvent<'a> {
    fn of(line: &'a str) -> WrittenEvent<'a> {
        // A quoted label can contain any spaces.
        let quoted = line.starts_with('"').then(|| line.find("\"  ")).flatten().map(|quote| line.split_at(quote + 1));
        let (label, rest) = match quoted.or_else(|| line.split_once("  ")) {
            Some((label, rest)) => (label, rest.trim()),
            // Without data there is only a count.
            None => line.rsplit_once(" ×").map_or((line, ""), |(label, _)| (label, &line[label.len()..])),
        };
        if let Some(text) = rest.strip_prefix("…  ") {
            return WrittenEvent { label, rest: "…", times: 1, values: vec![text], is_late: false };
        }
        let counted = rest.rsplit_once(" ×").and_then(|(rest, times)| Some((rest, times.parse().ok()?)));
        let (rest, times) = counted.unwrap_or((rest, 1));
        // Values on the line itself.
        let (rest, values) = match rest.find("  /") {
            Some(at) => (&rest[..at], rest[at..].split("  /").filter(|value| !value.is_empty()).collect()),
            None => (rest, Vec::new()),
        };
        WrittenEvent { label, rest, times, values, is_late: false }
    }
}

impl<'a> WrittenShape<'a> {
    fn of(line: &'a str) -> WrittenShape<'a> {
        let (label, what) = line.split_once("  ").map_or((line, ""), |(label, what)| (label, what.trim()));
        let (what, hash) = match what.find(AS_A_WHOLE) {
            Some(at) => (what[..at].trim_end_matches(", "), &what[at + AS_A_WHOLE.len()..]),
            None => (what, ""),
        };
        WrittenShape { label, what, hash: hash.split(',').next().unwrap_or_default(), keys: Vec::new() }
    }
}

impl<'a> WrittenKey<'a> {
    fn of(line: &'a str, before: &[WrittenKey<'a>]) -> WrittenKey<'a> {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let (key, what) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        let above = before.iter().rev().find(|above| above.path.matches('/').count() < depth);
        let path = above.filter(|_| depth > 1).map_or("", |above| above.path.as_str());
        WrittenKey { path: format!("{path}/{}", key.trim_end_matches('?')), name: key, depth, what: what.trim() }
    }
}
