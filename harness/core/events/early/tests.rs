use super::*;
use crate::conversation::{Answer, Block as Said};
use crate::events::Payload;
use crate::json::Layout;

/// What a golden says of a stream with the words of turn 1 in pieces, and those of turn 2 as a whole.
const GOLDEN: &str = "POST /chat
200 text/event-stream, before turn 1 ends

delta  {text} ×3
       /text = turn 1, in pieces
end    {text}
       /text = turn 2

delta
  text  string
end
  text  string
";

fn recorded() -> Recorded {
    let answer = |text: &str| Answer { blocks: vec![Said::Text(text.to_owned())], ..Answer::default() };
    Recorded::of(&[answer("The \"capital\" of France is Paris."), answer("All is said.")])
}

fn golden() -> Golden {
    Golden::parse(GOLDEN).unwrap_or_else(|error| panic!("{error}"))
}

fn known() -> Passing {
    Passing::known(&golden(), &recorded(), &ShapeOptions::default())
}

fn asked(last_turn: Option<usize>, known: Option<&Golden>) -> Passing {
    let golden = golden().with_early(&[]);
    Passing::asked(&golden, known, &[last_turn], &recorded(), &ShapeOptions::default())
}

fn event(name: &str, text: &str) -> Event {
    let payload = Payload::Data(Json::object([("text", text.into())]).print(Layout::Compact).into());
    Event { name: Some(name.into()), id: None, payload }
}

#[test]
fn only_a_piece_of_the_text_at_its_place_is_a_part_of_the_answer() {
    for (came, expected) in [
        (event("delta", "The \"cap"), None),
        // As it is escaped in HTML.
        (event("delta", "The &quot;cap"), None),
        (event("delta", "of France"), Some(Patience::UntilItComes)),
        (event("delta", " "), Some(Patience::UntilItComes)),
        (event("end", "The \"cap"), Some(Patience::UntilItComes)),
    ] {
        let mut passing = known();
        passing.take(&came);
        assert_eq!(passing.patience(1), expected, "{came:?}");
    }
}

#[test]
fn what_is_known_to_come_and_does_not_is_missing() {
    let mut passing = known();
    passing.ends(1, true);
    // Too late.
    passing.take(&event("delta", "The \"cap"));
    assert_eq!(passing.came(), [Vec::<usize>::new()]);
}

#[test]
fn what_was_not_held_back_is_taken_for_granted_only_if_it_is_known() {
    let (mut passing, mut other) = (known(), asked(None, None));
    passing.ends(1, false);
    other.ends(1, false);
    assert_eq!((passing.came(), other.came()), (vec![vec![1]], vec![Vec::new()]));
}

#[test]
fn all_texts_in_pieces_are_asked_and_otherwise_any_event_before_the_last_turn() {
    let passing = asked(Some(2), None);
    assert_eq!(passing.patience(1), Some(Patience::UntilQuiet));
    assert!(passing.is_of_any_event(2) && !passing.is_of_any_event(1));
    let mut passing = asked(Some(2), Some(&golden()));
    assert_eq!(passing.patience(1), Some(Patience::UntilItComes));
    assert!(!passing.names(2), "what is known of the stream is asked again, and nothing besides");
    passing.begins();
    passing.take(&event("delta", "The"));
    passing.ends(1, true);
    assert_eq!(golden().with_early(&[]).with_early(&passing.came()), golden());
}

#[test]
fn any_event_counts_only_if_no_text_comes_early() {
    let mut with_text = asked(Some(2), None);
    with_text.take(&event("delta", "The"));
    with_text.ends(1, true);
    with_text.ends(2, true);
    assert_eq!(with_text.came(), [vec![1]]);
    let mut without = asked(Some(2), None);
    without.take(&event("other", "x"));
    without.ends(1, true);
    without.ends(2, true);
    assert_eq!(without.came(), [vec![2]]);
    // Another stream has begun since.
    let mut begun = asked(Some(2), None);
    begun.take(&event("other", "x"));
    begun.begins();
    assert_eq!(begun.patience(2), Some(Patience::UntilQuiet));
}
