//! Runs a scenario against the real service: starts the system, sends the steps, captures the answers, and stands in for tools.
//! What a run means is judged above it, in `retake`.
//!
//! A room uses only rooms above it in this table.
//!
//! | room | contents |
//! |---|---|
//! | `system` | the system under test, and the stage: everything that one running scenario owns |
//! | `browser` | pages in a real Chromium; requires the feature `browser` |
//! | `drive` | sending a scenario's steps, and capturing the answers |
//! | `tools` | recorded tool calls against live tools, with the drift of their results; doubles of tool servers |

#[cfg(feature = "browser")]
pub mod browser;
pub mod drive;
pub mod system;
pub mod tools;
