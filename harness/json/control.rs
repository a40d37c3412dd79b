//! Control characters in texts, looked for many bytes at once.

/// Whether a byte below a space is among some; without a branch a byte, so that it takes many at once.
pub(super) fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20
}

/// As [`has_control`], of any but the line feed.
pub(super) fn has_control_but_newline(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(if *byte == b'\n' { b' ' } else { *byte })) < 0x20
}
