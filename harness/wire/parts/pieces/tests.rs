use super::*;

#[test]
fn pieces_are_cut_at_word_starts() {
    assert_eq!(words("").count(), 0);
    assert_eq!(words("  a b\n\nc d   é f").collect::<Vec<_>>(), ["  a b\n\nc d   ", "é f"]);
    assert_eq!(words(" \n ").collect::<Vec<_>>(), [" \n "]);
    assert_eq!(characters(&"é".repeat(49)).map(|piece| piece.chars().count()).collect::<Vec<_>>(), [24, 24, 1]);
}
