//! A fast search for control characters in texts.

/// Whether some byte is a control character. The loop has no branch, so the compiler can check many bytes at once.
pub(super) fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20
}

/// Like [`has_control`], but ignores line feeds.
pub(super) fn has_control_but_newline(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(if *byte == b'\n' { b' ' } else { *byte })) < 0x20
}
