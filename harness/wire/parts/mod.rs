//! What the APIs share: how fields are read, arguments parsed, ids made, texts cut into pieces, and streams into frames.

pub(super) mod args;
pub(super) mod fields;
pub(super) mod frames;
pub(super) mod ids;
pub(super) mod pieces;
pub(super) mod sse;
