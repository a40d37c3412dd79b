use super::*;

#[test]
fn digits_are_grouped_by_three() {
    assert_eq!([0, 999, 1_204, 1_000_000].map(in_thousands), ["0", "999", "1,204", "1,000,000"]);
}
