//! Code that the APIs share: it reads fields, parses arguments, makes ids, and cuts texts into pieces and streams into frames.

pub(super) mod args;
pub(super) mod events;
pub(super) mod fields;
pub(super) mod frames;
pub(super) mod ids;
pub(super) mod pieces;
pub(super) mod sse;
