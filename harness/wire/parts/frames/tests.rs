use super::*;

#[test]
fn joined_pieces_can_be_read_one_by_one() {
    for pieces in [&[][..], &["data: é\n\n", "", "data: 2\n\n"]] {
        let frames: Frames = pieces.iter().collect();
        assert_eq!(frames.iter().collect::<Vec<_>>(), pieces);
        assert_eq!(frames.bytes().collect::<Vec<_>>(), pieces);
        assert_eq!(frames.text(), pieces.concat());
    }
    assert_ne!(Frames::from_iter(["a", "b"]), Frames::from_iter(["ab"]));
}
