use proptest::prelude::*;

use super::*;

const A: &str = "0b5e0a6e-6b1c-4f0f-9d7a-1f0c2d3e4f5a";
const B: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

#[test]
fn ids_are_recognized_by_their_form() {
    let prefixed = format!("e-{A}");
    assert_eq!(id_of(A), Some(A));
    assert_eq!(id_of(&prefixed), Some(A), "the id is the UUID after the prefix");
    let part = format!("lc_run--{A}-0");
    assert_eq!(id_of(&part), Some(&*part), "a part of what the UUID identifies has its own id");
    for id in [
        "5eb6b05c4e36",
        "5EB6B05C4E36F0",
        "call_5eb6b05c4e365f5bab7cac3c",
        "chatcmpl-d86a8c7a33305931b27e89a50a984",
        "toolu_01A09q90qw90lq917835lq9x",
        "call_AbCdEfGhIjKlMnOpQrStUvWx",
        "run_5eb6b05c4e36",
        // A hexadecimal id that by chance has no letter.
        "531904710522",
    ] {
        assert_eq!(id_of(id), Some(id));
    }
    for none in [
        "",
        "5eb6b05c4e3",
        "write_read_file",
        "call_get_the_weather_of_today",
        "gpt-4o-mini-2024-07-18",
        "claude-3-5-sonnet-20241022",
        "run_item_stream_event",
        "MessageContentDeltaReceived",
        "note.txt",
        // A nanoid can have this form by chance.
        "V1StGXR8_Z5jdHi6B-myT",
        "msg-V1StGXR8Z5jdHi6BmyTx",
        // Points in time can be equal by chance.
        "1764000000000",
        "20261122103000",
        "5eb6b05c4e36 and more",
        &"a".repeat(300),
    ] {
        assert_eq!(id_of(none), None, "{none}");
    }
}

proptest! {
    /// If it were sometimes an id by chance, the golden would vary by chance.
    #[test]
    fn a_nanoid_is_never_taken_for_an_id(text in "[A-Za-z0-9_-]{21}") {
        prop_assert_eq!(id_of(&text), None);
        let prefixed = format!("item-{text}");
        prop_assert_eq!(id_of(&prefixed), None);
    }

    #[test]
    fn twelve_hexadecimal_digits_are_always_an_id(text in "[0-9a-f]{12}", prefix in "[a-z]{1,8}_") {
        prop_assume!(!text.starts_with("20"));
        prop_assert_eq!(id_of(&text), Some(&*text));
        let prefixed = prefix + &text;
        prop_assert_eq!(id_of(&prefixed), Some(&*prefixed));
    }
}

#[test]
fn a_uuid_in_a_text_is_shown_by_its_number_or_its_name() {
    let shown = [(A.to_owned(), ShownId::Numbered(3)), (B.to_owned(), ShownId::Named("<thread>".into()))];
    let ids = Ids { shown: shown.into(), ..Ids::default() };
    let normalize = |text: &str| text.replace(B, "<thread>").replace(A, "<UUID>").replace(&A.to_uppercase(), "<UUID>");
    let number = |raw: &str| ids.number_uuids(raw, normalize(raw));
    assert_eq!(number(&format!("{A} of {B} and {A}")), "<UUID:3> of <thread> and <UUID:3>");
    assert_eq!(number(&A.to_uppercase()), "<UUID:3>");
    // A rule replaced one of the two, and it is unknown which.
    assert_eq!(ids.number_uuids(&format!("{A} {A}"), "<UUID>".into()), "<UUID>");
}
