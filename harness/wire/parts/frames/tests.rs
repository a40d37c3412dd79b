use super::*;

#[test]
fn pieces_stay_apart() {
    for pieces in [&[][..], &["data: é\n\n", "", "data: 2\n\n"]] {
        let frames: Frames = pieces.iter().collect();
        assert_eq!(frames.iter().collect::<Vec<_>>(), pieces);
        assert_eq!(frames.bytes().collect::<Vec<_>>(), pieces);
        assert_eq!(frames.text(), pieces.concat());
    }
    assert_ne!(Frames::from_iter(["a", "b"]), Frames::from_iter(["ab"]));
}
