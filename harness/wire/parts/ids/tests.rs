use super::*;

#[test]
fn a_derived_id_depends_on_seed_and_position() {
    // printf 'ab:0' | sha256sum
    assert_eq!(derived("call_", "ab", 0), "call_d91340dc171c9c50340ec0c2");
    assert_ne!(derived("call_", "ab", 0), derived("call_", "ab", 1));
    assert_ne!(derived("call_", "ab", 0), derived("call_", "ac", 0));
}
