use super::*;
use retake_base::cause::Cause;

fn difference(kind: Kind, who: &str) -> Difference {
    Difference::of(kind, format!("{kind:?} of {who}, {}", NEXT.with(|next| next.replace(next.get() + 1)))).by(who)
}

thread_local! {
    /// No two differences have the same words, since these alone make them one.
    static NEXT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Makes two differences for a row, with what it asks for.
fn example(row: &Row) -> (Difference, Difference) {
    let of = |kinds: &[Kind]| difference(kinds.first().copied().unwrap_or(Kind::SystemPrompt), "`agent`");
    let (mut earlier, mut later) = (of(row.earlier), of(row.later));
    let texts = |difference: &mut Difference, recorded: &str, called: &str| {
        (difference.recorded, difference.called) = (recorded.to_owned(), called.to_owned());
    };
    match row.given {
        Given::SameCaller => {}
        Given::LaterLacksTools => later.of_tools = true,
        Given::EarlierLacksTools => earlier.of_tools = true,
        Given::BothLackTools => (earlier.of_tools, later.of_tools) = (true, true),
        Given::SameDone => (earlier.done, later.done) = ("cut".to_owned(), "cut".to_owned()),
        Given::SameLines => texts(&mut later, "one\ntwo", "two\none"),
        Given::SameWords => {
            texts(&mut earlier, "read it back", "read it again");
            texts(&mut later, "Title: read it back please", "Title: read it again please");
        }
    }
    (earlier, later)
}

/// Takes away what a row asks for besides the kinds.
fn without((mut earlier, mut later): (Difference, Difference), given: Given) -> (Difference, Difference) {
    match given {
        Given::SameCaller => later = later.by("`other`"),
        Given::LaterLacksTools | Given::BothLackTools => later.of_tools = false,
        Given::EarlierLacksTools => earlier.of_tools = false,
        Given::SameDone => later.done = "spelled".to_owned(),
        Given::SameLines => later.called = "three".to_owned(),
        Given::SameWords => later.called = "Title: something else".to_owned(),
    }
    (earlier, later)
}

#[test]
fn each_row_holds_for_what_it_names_and_for_nothing_else() {
    for row in &TABLE {
        let (earlier, later) = example(row);
        assert!(row.fits(&earlier, &later), "{}", row.why);
        assert!(follows(&earlier, &later), "{}", row.why);
        let (earlier, later) = without(example(row), row.given);
        assert!(!row.fits(&earlier, &later), "without {:?}: {}", row.given, row.why);
        if !row.later.is_empty() {
            let (earlier, mut later) = example(row);
            later.cause = Cause::new(Kind::NewCall, "another");
            assert!(!row.fits(&earlier, &later), "{}", row.why);
        }
    }
}

#[test]
fn no_row_makes_two_changes_of_one_call_into_one() {
    let (result, text) = (difference(Kind::ToolResult, "`agent`"), difference(Kind::MessageText, "`agent`"));
    assert!(!follows(&result, &text) && !follows(&text, &result));
    assert!(follows(&result, &result));
}
