use proptest::prelude::*;

use super::*;
use crate::conversation::{Answer, Block};
use crate::events::Recorded;
use crate::events::{Capture, Captured, Change, Foreign, Golden, Known, ShapeOptions, Shaped, changes};

const HELLO: &str = "Hello from the model, \"friend\" & co.";
const TITLE: &str = "\"Our trip to Rome\"\n";
const RAIN: &str = "  It rains a lot in Cologne.\n";

fn answers(texts: &[&str]) -> Recorded {
    let answer = |text: &&str| Answer { blocks: vec![Block::Text((*text).to_owned())], ..Answer::default() };
    Recorded::of(&texts.iter().map(answer).collect::<Vec<_>>())
}

fn turns(texts: &[&str]) -> Turns<'static> {
    Turns::of(&Known { recorded: answers(texts), ..Known::default() }, &|text: &str| text.to_owned())
}

#[track_caller]
fn check(text: &str, expected: Option<&str>) {
    let turns = turns(&[HELLO, "ok", RAIN, r#"{"title": "A day in May", "n": [{"x": "So it is."}]}"#, TITLE]);
    let told = turns.here(None).told(text);
    assert_eq!(told.map(|told| format!("{}{told}", told.how.verb())).as_deref(), expected, "{text}");
}

#[test]
fn few_and_exact_relations_tell_where_words_go() {
    check(HELLO, Some(" = turn 1"));
    check(RAIN, Some(" = turn 3"));
    check(RAIN.trim(), Some(" = turn 3, trimmed"));
    check("Our trip to Rome", Some(" = turn 5, without its quotes"));
    check("\"Our trip to Rome\"", Some(" = turn 5, trimmed"));
    check("Our trip to R", Some(" = turn 5, cut"));
    check("Hello from the model, &quot;friend&quot; &amp; co.", Some(" = turn 1, escaped as HTML"));
    check("Hello from the model, \"friend\" &amp; co.", Some(" = turn 1, escaped as HTML"));
    check(r#""Hello from the model, \"friend\" & co.""#, Some(" = turn 1, escaped as JSON"));
    check("Hello from the mod", Some(" = turn 1, cut"));
    check("Hello from the mod…", Some(" = turn 1, cut with …"));
    check("Hello from the...", Some(" = turn 1, cut with …"));
    check(&format!("{HELLO}\n\n{RAIN}"), Some(" = turn 1 and turn 3, with space between"));
    check(&format!("{HELLO}{RAIN}"), Some(" = turn 1 and turn 3"));
    check(&format!("> {HELLO} <"), Some(" has turn 1"));
    check(&format!("a {RAIN} b {HELLO}!"), Some(" has turn 3 and turn 1"));
    check(r#"{"text": "Hello from the model, \"friend\" & co."}"#, Some(" has turn 1, escaped as JSON"));
    check("<p>Hello from the model, &quot;friend&quot; &amp; co.</p>", Some(" has turn 1, escaped as HTML"));
    check("A day in May", Some(" = turn 4's /title"));
    check("So it is.", Some(" = turn 4's /n/0/x"));
}

#[test]
fn other_words_and_short_ones_have_no_relation() {
    for text in [
        &HELLO.to_uppercase(),
        "ok",
        "",
        "   ",
        "Hello",
        "lot in",
        "lot in Cologne",
        "HELLO from the model",
        "It rains a lot in Bonn.",
    ] {
        check(text, None);
    }
}

fn shaped(body: &str, texts: &[&str], committed: Option<&Golden>, options: &ShapeOptions) -> Golden {
    let mut capture = Capture::new();
    let mut events = capture.push(body.as_bytes());
    events.extend(capture.finish());
    let known = Known { recorded: answers(texts), committed, ..Known::default() };
    Shaped::of(&[Captured::stream("GET /a", events)], options, &known, &|text: &str| text.to_owned()).golden
}

fn event(json: &str) -> String {
    format!("data: {json}\n\n")
}

fn lines(golden: &Golden) -> Vec<String> {
    let text = golden.to_string();
    text.lines().filter(|line| line.contains(" turn")).map(|line| line.trim().to_owned()).collect()
}

/// Returns the first line of the difference between a golden and a run that says something else.
#[track_caller]
fn first(body: &str, other: &str, texts: &[&str]) -> String {
    let options = ShapeOptions::default();
    let golden = shaped(body, texts, None, &options);
    // A test reads the places from the golden as it is written.
    let golden = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(shaped(body, texts, Some(&golden), &options), golden);
    let run = shaped(other, texts, Some(&golden), &options);
    changes(&golden, &run).first().map(Change::words).unwrap_or_default()
}

#[test]
fn a_golden_names_the_turn_and_not_its_words() {
    let whole = event(r#"{"type": "a", "title": "It rains a lot in Cologne.", "n": 1}"#);
    let golden = shaped(&whole, &[HELLO, RAIN], None, &ShapeOptions::default());
    assert_eq!(lines(&golden), ["/title = turn 2, trimmed"]);
    let other = whole.replace("rains", "snows");
    let again = shaped(&other, &[HELLO, " It snows a lot in Cologne."], None, &ShapeOptions::default());
    assert_eq!(again, golden);
}

#[test]
fn pieces_are_joined_by_the_id_beside_them_whatever_comes_between() {
    let piece = |id: &str, text: &str| event(&format!(r#"{{"type": "d", "id": "{id}", "text": "{text}"}}"#));
    let ping = event(r#"{"type": "ping"}"#);
    let parts =
        [piece("m1", "The sun is "), piece("m2", "And the rain "), ping, piece("m1", "up."), piece("m2", "falls.")];
    let texts = ["The sun is up.", "And the rain falls."];
    let golden = shaped(&parts.concat(), &texts, None, &ShapeOptions::default());
    assert_eq!(lines(&golden), ["/text by /id = turns 1, 2, in pieces"]);
    let none = event(r#"{"text": "The sun "}"#) + &event(r#"{"text": "is up."}"#);
    let golden = shaped(&none, &texts, None, &ShapeOptions::default());
    assert_eq!(lines(&golden), ["/text = turn 1, in pieces"]);
    let collapsed = ShapeOptions { collapse: vec!["d".to_owned()], ..ShapeOptions::default() };
    let golden = shaped(&parts.concat(), &texts, None, &collapsed);
    assert_eq!(lines(&golden).len(), 2, "{golden}");
    assert!(!golden.to_string().contains("The sun"), "{golden}");
}

#[test]
fn into_how_many_pieces_a_text_is_cut_is_no_contract() {
    let pieces = |pieces: &[&str]| {
        let piece = |text: &&str| event(&format!(r#"{{"type": "d", "text": "{text}"}}"#));
        pieces.iter().map(piece).collect::<String>() + &event(r#"{"type": "end"}"#)
    };
    let of = |parts: &[&str], known: Option<&Golden>| {
        shaped(&pieces(parts), &["The sun is up."], known, &ShapeOptions::default())
    };
    let held = of(&["The ", "sun ", "is up."], None);
    assert!(held.to_string().contains("d         {text, type} ×3\n"), "{held}");
    assert_eq!(of(&["The sun", " is up."], Some(&held)), held);
    assert_ne!(of(&["The sun is up."], Some(&held)), held);
    assert_ne!(of(&["The sun", " is up.", " is up."], Some(&held)), held);
}

#[test]
fn a_state_that_grows_names_its_turns_in_one_line() {
    let state = |messages: &str| event(&format!(r#"{{"type": "values", "messages": [{messages}]}}"#));
    let (hi, one, two) = (r#"{"t": "hi there, you"}"#, r#"{"t": "The sun is up."}"#, r#"{"t": "And the rain falls."}"#);
    let body = [state(hi), state(&format!("{hi}, {one}")), state(&format!("{hi}, {one}, {two}"))].concat();
    let golden = shaped(&body, &["The sun is up.", "And the rain falls."], None, &ShapeOptions::default());
    assert_eq!(lines(&golden), ["/messages/*/t = turns 1, 2"]);
    let other = body.replace("And the rain falls.", "and the rain falls");
    let said = first(&body, &other, &["The sun is up.", "And the rain falls."]);
    assert_eq!(
        said,
        "`/messages/*/t` of the event `values` is turn 2's text no more: \"and the rain falls\" in place of \"And the rain falls.\""
    );
    // What else stands at the place is not what came instead.
    let said = first(
        &body,
        &body.replace("And the rain falls.", "And the rain f"),
        &["The sun is up.", "And the rain falls."],
    );
    assert_eq!(
        said,
        "`/messages/*/t` of the event `values` is turn 2, cut, where it was turn 2's text: \"And the rain falls.\""
    );
}

#[test]
fn what_the_user_says_beside_the_models_words_did_not_come_instead_of_them() {
    let body = |texts: &[&str]| {
        let text = |text: &&str| format!(r#"{{"text": "{text}"}}"#);
        event(&format!(r#"{{"messages": [{}]}}"#, texts.iter().map(text).collect::<Vec<_>>().join(", ")))
    };
    let (user, texts) = ("The sun, is it up?", ["The sun is up.", "And the rain falls."]);
    let mut foreign = Foreign::default();
    foreign.add_text(&format!(" {user}"));
    let is = |now: &[&str], committed: Option<&Golden>| {
        let (recorded, foreign) = (answers(&texts), Some(foreign.clone()));
        let known = Known { recorded, foreign, committed, ..Known::default() };
        let mut capture = Capture::new();
        let events = capture.push(body(now).as_bytes());
        Shaped::of(&[Captured::stream("GET /a", events)], &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let golden = is(&[user, texts[0], user, texts[1]], None);
    let first = |now: &[&str]| changes(&golden, &is(now, Some(&golden)))[0].words();
    let place = "`/messages/*/text` of the event `message`";
    let no_more = format!("{place} is turn 1's text no more:");
    let sun = r#"in place of "The sun is up.""#;
    assert_eq!(first(&[user, "", user, texts[1]]), format!("{no_more} \"\" {sun}"));
    assert_eq!(first(&[user, "Sorry", "", texts[1]]), format!("{no_more} \"Sorry\" {sun}"));
    assert_eq!(first(&[user, user, user, texts[1]]), format!("{no_more} {user:?} {sun}"));
    let both = texts.concat();
    assert_eq!(
        first(&[user, texts[0], user, &both]),
        format!("{place} is turn 1 and turn 2, where it was turn 2's text: \"And the rain falls.\"")
    );
}

#[test]
fn a_change_of_the_words_is_told_with_what_came_instead() {
    let body = |text: &str| event(&format!(r#"{{"type": "a", "answer": "{text}"}}"#));
    let texts = ["hi from the model.", "It rains a lot."];
    let check = |text: &str, expected: &str| {
        let said = first(&body("hi from the model."), &body(text), &texts);
        assert_eq!(said, format!("`/answer` of the event `a` is turn 1's text no more{expected}"), "{text}");
    };
    let now = |text: &str, expected: &str| {
        let said = first(&body("hi from the model."), &body(text), &texts);
        assert_eq!(said, format!("`/answer` of the event `a` {expected}: \"hi from the model.\""), "{text}");
    };
    now("hi from the mod", "is turn 1, cut, where it was turn 1's text");
    now("hi from the model. Bye", "has turn 1, where it was turn 1's text");
    now("It rains a lot.", "is turn 2, where it was turn 1's text");
    check("HI FROM THE MODEL.", ": \"HI FROM THE MODEL.\" in place of \"hi from the model.\"");
    check("", ": \"\" in place of \"hi from the model.\"");
    // Of two, that which is there no more is quoted.
    let both = body("hi from the model. It rains a lot.");
    assert_eq!(
        first(&both, &both.replace("rains a", "snows a"), &texts),
        "`/answer` of the event `a` has turn 1, where it was turn 1 and turn 2, with space between: \"It rains a lot.\""
    );
    // What is equal where both begin is not quoted twice.
    let long = "hi from the model, which says that the way is long, and that it ends where others begin, in Rome.";
    let said = first(&body(long), &body(&long.replace("Rome", "Bonn")), &[long]);
    assert!(said.ends_with("… goes on otherwise, to 97 characters"), "{said}");
    assert_eq!(first(&body("hi from the model."), &body("hi from the model."), &texts), "");
}

proptest! {
    #[test]
    fn what_is_told_is_the_same_however_a_text_is_cut(
        words in "[a-z]{3,8}( [a-z\"&<é…]{1,8}){2,9}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(words.len())).filter(|at| words.is_char_boundary(*at)).collect();
        at.extend([0, words.len()]);
        at.sort_unstable();
        at.dedup();
        let pieces = at.windows(2).map(|two| Json::from(&words[two[0]..two[1]]).print(Layout::Compact));
        let body: String = pieces.map(|piece| event(&format!(r#"{{"type": "d", "text": {piece}}}"#))).collect();
        let golden = shaped(&body, &[&words], None, &ShapeOptions::default());
        let pieces = if at.len() > 2 { ", in pieces" } else { "" };
        prop_assert_eq!(lines(&golden), [format!("/text = turn 1{pieces}")]);
    }

    #[test]
    fn any_texts_have_a_relation_or_none(text in ".{0,40}", said in prop::collection::vec(".{0,20}", 0..4)) {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let turns = turns(&said);
        let told = turns.here(None).told(&text);
        if said.iter().any(|said| *said == text) && is_telling(&text) && !text.trim().is_empty() {
            prop_assert!(told.is_some_and(|told| told.how == How::Equal));
        }
    }
}
