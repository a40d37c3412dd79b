//! Diffs of goldens for the terminal.

use similar::{DiffOp, DiffTag, TextDiff};

/// The most lines that are shown: a screenful.
const LINES: usize = 40;
/// The most characters of a line that are shown.
const WIDTH: usize = 160;
/// How many characters of a long line stand before the one at which it differs.
const AROUND: usize = 40;
/// Unchanged lines around a change.
const CONTEXT: usize = 2;

/// The most lines of a text that are compared, behind what both texts begin with and before what both end with. A golden
/// of more lines that differ is not read line by line by anybody, and comparing costs the square of them.
const COMPARED: usize = 1000;

/// A unified diff of two texts, at most a screenful: `-` for the first, `+` for the second.
#[must_use]
pub fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.trim_end().lines().collect(), new.trim_end().lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same;
    let same_at_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let from = same.saturating_sub(CONTEXT);
    let window = |lines: &[&'_ str]| -> (usize, usize) {
        let differing = lines.len() - same - same_at_end;
        let end = lines.len() - same_at_end.saturating_sub(CONTEXT);
        (end.min(same + COMPARED), differing.saturating_sub(COMPARED))
    };
    let ((old_end, old_more), (new_end, new_more)) = (window(&old), window(&new));
    let (old, new) = (&old[from..old_end], &new[from..new_end]);
    let mut lines = Vec::new();
    for (i, group) in TextDiff::from_slices(old, new).grouped_ops(CONTEXT).into_iter().enumerate() {
        if i > 0 {
            lines.push("  ⋮".to_owned());
        }
        for op in group {
            show(&op, old, new, &mut lines);
        }
    }
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("  … {more} more lines"));
    }
    if old_more + new_more > 0 {
        lines.push(format!(
            "  … and further on {old_more} lines of the first and {new_more} of the second, not compared"
        ));
    }
    lines.join("\n")
}

/// Appends the lines of one operation. A line that takes the place of another is cut to where the two begin to differ.
fn show(op: &DiffOp, old: &[&str], new: &[&str], lines: &mut Vec<String>) {
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    if op.tag() == DiffTag::Equal {
        lines.extend(old.iter().map(|line| clipped(' ', line, 0)));
        return;
    }
    let differs_at = |i: usize| match (old.get(i), new.get(i)) {
        (Some(old), Some(new)) => old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count(),
        _ => 0,
    };
    lines.extend(old.iter().enumerate().map(|(i, line)| clipped('-', line, differs_at(i))));
    lines.extend(new.iter().enumerate().map(|(i, line)| clipped('+', line, differs_at(i))));
}

/// A line with its sign, cut to its width around the character at which it differs.
fn clipped(sign: char, line: &str, differs_at: usize) -> String {
    let whole = line.chars().nth(WIDTH).is_none();
    let from = if whole || differs_at < WIDTH - AROUND { 0 } else { differs_at - AROUND };
    let mut shown = format!("{sign} {}", if from > 0 { "…" } else { "" });
    let mut rest = line.chars().skip(from);
    shown.extend(rest.by_ref().take(WIDTH));
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Captured, Event, Payload, ShapeOptions, Status, golden};

    #[test]
    fn changes_stand_with_their_context_and_stay_a_screenful() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        assert_eq!(unified(old, "a\nb\nc\nD\ne\nf\ng\nh\ni\n"), "  b\n  c\n- d\n+ D\n  e\n  f");
        let long = "x\n".repeat(500);
        let lines = unified("", &long).lines().count();
        assert_eq!(lines, LINES + 1);
        assert!(unified("", &"y".repeat(10_000)).chars().count() < 400);
    }

    #[test]
    fn a_long_line_is_cut_to_where_it_differs() {
        let line = |end: &str| format!("{}{end}{}", "x".repeat(5_000_000), "y".repeat(5_000_000));
        let shown =
            |sign: char, end: &str| format!("{sign} …{}{end}{}…", "x".repeat(AROUND), "y".repeat(WIDTH - AROUND - 3));
        let diff = unified(&format!("a\n{}\n", line("old")), &format!("a\n{}\n", line("new")));
        assert_eq!(diff, format!("  a\n{}\n{}", shown('-', "old"), shown('+', "new")));
    }

    #[test]
    fn of_many_lines_the_first_that_differ_are_compared() {
        let text = |word: &str, count: usize| {
            (0..count).map(|i| [word, " ", &i.to_string(), "\n"].concat()).collect::<String>()
        };
        let (same, ends) = (text("same", 50_000), text("end", 50_000));
        let (old, new) = (text("old", 200_000), text("new", 200_001));
        let diff = unified(&format!("{same}{old}{ends}"), &format!("{same}{new}{ends}"));
        let lines: Vec<&str> = diff.lines().collect();
        assert_eq!(lines.len(), LINES + 2);
        assert_eq!(lines[..3], ["  same 49998", "  same 49999", "- old 0"]);
        assert_eq!(
            lines[LINES..],
            [
                "  … 1962 more lines",
                "  … and further on 199000 lines of the first and 199001 of the second, not compared"
            ]
        );
        // One line that differs among many is found where it is, whatever stands around it.
        let one = |word: &str| format!("{old}{word}\n{old}");
        assert_eq!(unified(&one("a"), &one("b")), "  old 199998\n  old 199999\n- a\n+ b\n  old 0\n  old 1");
    }

    /// The golden of a stream whose events each have a line, and of one whose only event has a line of 10 MB.
    #[test]
    fn the_diffs_of_large_goldens_stay_a_screenful() {
        let text = |data: &str, show: &str| {
            let events = vec![Event { name: Some("values".into()), id: None, payload: Payload::Data(data.into()) }];
            let (request, content_type) = ("GET /".to_owned(), "text/event-stream".to_owned());
            let options = ShapeOptions { show: vec![show.to_owned()], ..ShapeOptions::default() };
            golden(&[Captured { request, status: Status::Http(200), content_type, events }], &options, &str::to_owned)
        };
        let line = |n: usize| format!("values  {{n}}  /n = {n}\n");
        let many = text(r#"{"n": 0}"#, "/n").replace(&line(0), &(0..200_000).map(line).collect::<String>());
        assert_eq!(many.lines().count(), 200_006);
        let middle = many.replace("/n = 100000\n", "/n = \"100000\"\n");
        let around = ["  values  {n}  /n = 99998", "  values  {n}  /n = 99999"];
        let differs = ["- values  {n}  /n = 100000", "+ values  {n}  /n = \"100000\""];
        let behind = ["  values  {n}  /n = 100001", "  values  {n}  /n = 100002"];
        assert_eq!(unified(&many, &middle), [around, differs, behind].concat().join("\n"));
        assert_eq!(unified(&many, &many), "");

        let one = text(&format!("{{\"text\": \"{}\"}}", "text ".repeat(2_000_000)), "/text");
        let other = "GET /\n500\n".to_owned();
        let backwards = many.lines().rev().fold(String::new(), |text, line| text + line + "\n");
        for (old, new) in [
            (&many, many.replace("values", "value")),
            (&many, backwards),
            (&many, other.clone()),
            (&other, many.clone()),
            (&one, one.replace("text", "texts")),
            (&one, one.replacen("values", "value", 1)),
            (&one, other.clone()),
        ] {
            let diff = unified(old, &new);
            assert!(!diff.is_empty() && diff.lines().count() <= LINES + 2, "{diff}");
            assert!(diff.lines().all(|line| line.chars().count() <= WIDTH + 4), "{diff}");
        }
    }
}
