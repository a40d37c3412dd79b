use super::*;
use crate::events::{Change, changes};

/// What 0.1 wrote, and what this version writes of the same run.
const FIRST: &str = "POST /runs
200 text/event-stream

values    {messages}  /messages/-1/content = \"hi  /x = 3\"  /title = \"<TS>\" ×2
messages  …
end       null

messages
  content  string
values
  messages  [ai | human]
    ai.id          string
    ai.tool_calls  [{args: {path?: string}, id: string, name: string}]
    human.id       string
";
const NOW: &str = "POST /runs
200 text/event-stream, with ids, in pieces

values    {messages[1..2]} ×2
          /messages/-1/content = \"hi  /x = 3\"
          /title = yyyy-mm-ddThh:mm:ss.fZ
messages  …  /content by /id = \"hi\" (2, 8f43, growing)
end       null

messages
  content    string
values
  messages   [1..2 × ai | human]
    ai.id      id 1
    ai.tool_calls      [0..1 × object, 9 in all]
      [].args    object
        path?      string
      [].id      id 2..3
      [].name    \"read_file\" | \"write_file\"
    human.id   <run_id> | id
";

/// Returns the changes to a run, compared with a golden of a format.
fn said(format: Format, golden: &str, run: &str) -> Vec<String> {
    let [golden, run] = [golden, run].map(|text| Golden::parse(text).unwrap_or_else(|error| panic!("{error}")));
    let (golden, run) = format.in_common(&golden, &run, Detail::Types);
    changes(&golden, &run).iter().map(Change::words).collect()
}

#[test]
fn a_golden_of_0_1_is_compared_in_what_it_held() {
    assert!(said(Format(0), FIRST, NOW).is_empty());
    for (from, to, expected) in [
        ("end       null\n", "", "the event `end` did not come"),
        (
            "[].name    \"read_file\" | \"write_file\"",
            "[].name    number",
            "`/messages/ai.tool_calls/[].name` is `number`",
        ),
        ("path?      string", "path?      null", "`/messages/ai.tool_calls/[].args/path` is `null`, not `string`"),
        ("human.id   <run_id> | id\n", "human.key  id\n", "`/messages/human.id` is now called `/messages/human.key`"),
        ("hi  /x", "ho  /x", "has a different `/messages/-1/content`: \"ho  /x = 3\", not \"hi  /x = 3\""),
        ("200 text", "202 text", "the status is 202, not 200"),
    ] {
        assert!(NOW.contains(from), "{from}");
        let found = said(Format(0), FIRST, &NOW.replace(from, to));
        assert!(found.len() == 1 && found[0].contains(expected), "{from} → {to}: {found:?}");
    }
}

#[test]
fn a_golden_of_0_2_is_compared_in_what_it_held() {
    let golden = |texts: &str| {
        format!(
            "POST /a\n200 text/event-stream, with ids\n\na  …  {texts}\nb  {{c[2]}}\n\nb\n  c          [2 × id 1..2]\n"
        )
    };
    let run = |texts: &str| golden(texts);
    let (was, is) = ("\"hi\" (2, 8f43)", "/content by /id = \"hi\" (2, 8f43, then whole)");
    assert!(said(Format(1), &golden(was), &run(is)).is_empty());
    // A text that the golden did not find says nothing, one that it did has to be there.
    assert!(said(Format(1), &golden(was), &run(&format!("{is}\n   /more = \"x\" (1, 2d71)"))).is_empty());
    let other = said(Format(1), &golden(was), &run("/content by /id = \"ho\" (2, 0000)"));
    assert_eq!(other, ["the event `a` has a different text: \"ho\" (2, 0000), not \"hi\" (2, 8f43)"]);
    assert_eq!(said(Format(1), &golden(was), &run("(text not held)")).len(), 1);
    // Lengths, ids and words are held.
    let longer = run(is).replace("[2", "[3").replace("1..2", "1..3");
    assert_eq!(said(Format(1), &golden(was), &longer).len(), 1);
}

#[test]
fn a_format_holds_what_all_later_ones_lack_no_more() {
    assert!(!Format(0).holds(Part::Headers) && !Format(0).holds(Part::Lengths));
    assert!(!Format(1).holds(Part::Headers) && Format(1).holds(Part::Lengths));
    assert!(Format::THIS.holds(Part::Headers) && Format(u32::MAX).holds(Part::Headers));
}

#[test]
fn a_golden_from_before_0_3_is_compared_in_what_it_held() {
    let was = "GET /a
200 application/json, with ids
  cache-control: max-age=number, no-store
  set-cookie: a=string; httponly

body      {ok}

body
  error      boolean | null
  list       [2 × {ok: boolean}]
";
    let is = "GET /a
200 application/json, with ids, which repeat
  cache-control: max-age=60, no-store
  set-cookie: a=string; httponly

body      {ok}

body
  error      false | null
  list       [2 × {ok: false | true}]
";
    assert!(said(Format(2), was, is).is_empty());
    let changed = |from: &str, to: &str| said(Format(2), was, &is.replace(from, to));
    assert_eq!(changed("max-age=60, ", "").len(), 1);
    assert_eq!(changed("; httponly", "").len(), 1);
    assert_eq!(changed("false | null", "\"false\" | null").len(), 1);
    assert_eq!(said(Format::THIS, is, &is.replace("false | null", "true | null")).len(), 1);
}
