use super::*;
use crate::events::Capture;

fn captured(body: &str) -> [Captured; 1] {
    let events = Capture::new().push(body.as_bytes());
    [Captured::stream("GET /", events)]
}

fn nothing(body: &str, options: &ShapeOptions) -> Option<(&'static str, String, String)> {
    let normalize = |text: &str| text.replace("r-1", "<run>");
    let found = names_nothing(&captured(body), options, &normalize)?;
    Some((found.option, found.name, found.there.join(" ")))
}

#[test]
fn a_name_that_no_event_has_is_found_together_with_the_existing_names() {
    let options = |collapse: &str, unordered: &str| ShapeOptions {
        collapse: vec![collapse.into()],
        unordered: vec![unordered.into()],
        ..ShapeOptions::default()
    };
    let body = ": beat\n\nevent: r-1\ndata: 1\n\ndata: {\"type\": \"b\"}\n\n";
    assert_eq!(nothing(body, &options("b", "r-1")), None);
    assert_eq!(nothing(body, &options("<run>", "b")), None);
    assert_eq!(nothing(body, &options("c", "b")), Some(("collapse", "c".into(), "b r-1".into())));
    assert_eq!(nothing(body, &options("b", "c")), Some(("unordered", "c".into(), "b r-1".into())));
    // The name of comments counts only if comments are shown.
    assert_eq!(nothing(body, &options(":", "b")), Some(("collapse", ":".into(), "b r-1".into())));
    assert_eq!(nothing(body, &ShapeOptions { comments: true, ..options(":", "b") }), None);
    assert_eq!(nothing(body, &ShapeOptions::default()), None);
}

#[test]
fn a_pointer_in_no_event_is_found_and_lines_are_a_mistake_if_no_event_has_text() {
    let body = "event: a\ndata: {\"m\": [1]}\n\nevent: b\ndata: prose\n\n";
    let show = |pointer: &str| ShapeOptions { show: vec![pointer.into()], ..ShapeOptions::default() };
    assert!(shown_nowhere(&captured(body), &show("/m/-1")).is_empty());
    assert_eq!(shown_nowhere(&captured(body), &show("/n")), ["/n"]);
    let lines = ShapeOptions { text: TextAs::Lines, ..ShapeOptions::default() };
    assert_eq!(nothing(body, &lines), None);
    assert_eq!(nothing("event: a\ndata: 1\n\n", &lines), Some(("text", "lines".into(), "a".into())));
}
