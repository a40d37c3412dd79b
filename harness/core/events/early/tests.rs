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

fn asked(known: Option<&Golden>) -> Passing {
    Passing::asked(&golden().with_early(&[]), known, &recorded(), &ShapeOptions::default())
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
        // Its beginning is lost, and is missed in the golden.
        (event("delta", "of France is Paris."), None),
        (event("delta", " "), Some(Patience::UntilItComes)),
        (event("end", "The \"cap"), Some(Patience::UntilItComes)),
    ] {
        let mut passing = known();
        // Another answer may begin with the same words.
        passing.take(&came);
        assert_eq!(passing.patience(1), Some(Patience::UntilItComes));
        passing.begins(1);
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
    assert_eq!(passing.came(false), [Vec::<usize>::new()]);
}

#[test]
fn what_was_not_held_back_is_taken_for_granted_only_if_it_is_known() {
    let (mut passing, mut other) = (known(), asked(None));
    passing.ends(1, false);
    other.ends(1, false);
    assert_eq!((passing.came(false), other.came(false)), (vec![vec![1]], vec![Vec::new()]));
    // But not what was held back when its run broke off.
    assert_eq!((passing.came(true), known().came(true)), (vec![Vec::new()], vec![vec![1]]));
}

#[test]
fn all_texts_in_pieces_are_asked() {
    assert_eq!((asked(None).patience(1), asked(None).patience(2)), (Some(Patience::UntilQuiet), None));
    let mut passing = asked(Some(&golden()));
    assert_eq!(passing.patience(1), Some(Patience::UntilItComes));
    passing.begins(1);
    passing.take(&event("delta", "The"));
    passing.ends(1, true);
    assert_eq!(golden().with_early(&[]).with_early(&passing.came(false)), golden());
}

#[test]
fn what_is_asked_anew_and_cannot_be_held_back_is_known_no_more() {
    // The answer never begins: its recording has one piece now.
    assert_eq!((known().came(false), asked(Some(&golden())).came(false)), (vec![vec![1]], vec![Vec::new()]));
}
