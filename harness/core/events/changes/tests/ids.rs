//! Changes of ids, and of what only their numbers change.

use super::changed;

#[test]
fn ids_that_are_only_numbered_anew_are_no_change() {
    let golden = "POST /a\n200 text/event-stream\n\nvalues  {messages[2]}\npiece   {id}\n\npiece\n  id  id 3\nvalues\n  \
                  messages  [1..2 × ai | human]\n    ai.id     id 3\n    human.id  id 1..2\n";
    let said = |other: String| -> Vec<String> { changed(golden, &other) };
    // The list became shorter, and so the ids have other numbers.
    let shorter = golden.replace("[1..2 ×", "[1 ×").replace("id 3", "id 2").replace("id 1..2", "id 1");
    assert_eq!(
        said(shorter),
        ["the event `values` has a different shape: `/messages` is `[1 × ai | human]`, not `[1..2 × ai | human]`"]
    );
    let other = golden.replacen("  id  id 3", "  id  id", 1).replace("ai.id     id 3", "ai.id     id");
    assert_eq!(
        said(other),
        [
            "the event `values` has other ids at `/messages/ai.id`: they are no longer those at `/id` of the event `piece`"
        ]
    );
}

#[test]
fn an_id_that_is_sent_in_place_of_another_is_told_where_it_is_sent() {
    let golden = |call: &str, result: &str| {
        format!(
            "POST /a\n200 text/event-stream\n\ntool_call  {{id}} ×2\ntool_result  {{id}} ×2\n\ntool_call\n  id  {call}\ntool_result\n  id  {result}\n"
        )
    };
    assert_eq!(
        changed(&golden("id 1..2", "id 1..2"), &golden("id | id 1", "id 1")),
        ["the event `tool_result` has other ids at `/id`: they are the same each time now"]
    );
}

/// What goes on at a time stands in the order of its ids.
#[test]
fn events_that_moved_because_their_ids_are_others_have_other_ids() {
    let golden = |events: &str, ask: &str, got: &str| {
        format!("GET /a\n200 text/event-stream\n\n{events}\nask\n  id  {ask}\ngot\n  id  {got}\n")
    };
    let in_turn = "ask  {id}\ngot  {id}\nask  {id}\ngot  {id}\n";
    let was = golden(in_turn, "id 1..2", "id 1..2");
    let moved = golden("ask  {id} ×2\ngot  {id} ×2\n", "id | id 1", "id 1");
    assert_eq!(changed(&was, &moved), ["the event `got` has other ids at `/id`: they are the same each time now"]);
    let moved = golden("ask  {id} ×2\ngot  {id} ×2\n", "id 1..2", "id 1..2");
    assert_eq!(changed(&was, &moved), ["the event `got` came in a different place: after `ask`"]);
}

#[test]
fn ids_of_headers_that_are_numbered_anew_are_told_only_if_nothing_else_is() {
    let golden = |at: &str, items: &str| {
        let tree = format!("body  {{id, items}}\n\nbody\n  id     id 3\n  items  {items}\n");
        format!("POST /a\n201 application/json\n  link: </b/<UUID:1>>\n  location: {at}\n\n{tree}")
    };
    let (was, header) = (golden("/a/id 3?next=id 4", "[id 3]"), "`location` of the answer to `POST /a`: ");
    let now = "\"/a/id 3?next=id 4\" → ";
    assert_eq!(
        changed(&was, &golden("/a/id?next=id 3", "[]").replace("UUID:1", "UUID")),
        ["the body of `POST /a` has a different shape: `/items` is `[]`, not `[id 3]`"]
    );
    assert_eq!(changed(&was, &golden("/a/id 2?next=id 4", "[id 3]")), [format!("{header}{now}\"/a/id 2?next=id 4\"")]);
    assert_eq!(changed(&was, &golden("/a/3?next=id 4", "[]"))[0], format!("{header}{now}\"/a/3?next=id 4\""));
}
