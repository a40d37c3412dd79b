use super::*;

#[test]
fn pointers_follow_the_rfc() {
    for right in ["", "/", "/a/-1/b", "/a~1b/m~0n", "//"] {
        assert_eq!(Pointer::parse(right).map(|p| p.to_string()), Ok(right.to_owned()));
    }
    for wrong in ["a", "a/b", "/a~", "/~2", "/~0~"] {
        assert!(Pointer::parse(wrong).is_err(), "{wrong}");
    }
}
