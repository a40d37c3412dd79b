use super::*;
use retake_core::events::{AfterLast, Captured, Event, Payload, ShapeOptions, Status, golden};

#[test]
fn changes_have_context_and_fit_a_screen() {
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
fn of_many_different_lines_only_the_first_are_compared() {
    let text =
        |word: &str, count: usize| (0..count).map(|i| [word, " ", &i.to_string(), "\n"].concat()).collect::<String>();
    let (same, ends) = (text("same", 50_000), text("end", 50_000));
    let (old, new) = (text("old", 200_000), text("new", 200_001));
    let diff = unified(&format!("{same}{old}{ends}"), &format!("{same}{new}{ends}"));
    let lines: Vec<&str> = diff.lines().collect();
    assert_eq!(lines.len(), LINES + 2);
    assert_eq!(lines[..3], ["  same 49998", "  same 49999", "- old 0"]);
    assert_eq!(
        lines[LINES..],
        ["  … 1962 more lines", "  … and 199000 more lines of the first text and 199001 of the second, not compared"]
    );
    // A single different line among many equal ones is found.
    let one = |word: &str| format!("{old}{word}\n{old}");
    assert_eq!(unified(&one("a"), &one("b")), "  old 199998\n  old 199999\n- a\n+ b\n  old 0\n  old 1");
}

/// Compares goldens of 400,000 lines, and a golden with a line of 10 MB.
#[test]
fn diffs_of_large_goldens_fit_a_screen() {
    let text = |data: &str, show: &str| {
        let events = vec![Event { name: Some("values".into()), id: None, payload: Payload::Data(data.into()) }];
        let (request, content_type) = ("GET /".to_owned(), "text/event-stream".to_owned());
        let options = ShapeOptions { show: vec![show.to_owned()], ..ShapeOptions::default() };
        golden(
            &[Captured {
                request,
                status: Status::Http(200),
                content_type,
                events,
                after: AfterLast::default(),
                tree: None,
                delivery: retake_core::events::Delivery::default(),
            }],
            &options,
            &str::to_owned,
        )
        .to_string()
    };
    let line = |n: usize| format!("values    {{n}}\n          /n = {n}\n");
    let many = text(r#"{"n": 0}"#, "/n").replace(&line(0), &(0..200_000).map(line).collect::<String>());
    assert_eq!(many.lines().count(), 400_006);
    let middle = many.replace("/n = 100000\n", "/n = \"100000\"\n");
    let around = ["            /n = 99999", "  values    {n}"];
    let differs = ["-           /n = 100000", "+           /n = \"100000\""];
    let behind = ["  values    {n}", "            /n = 100001"];
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
