//! Flaws of a call, whatever its answer is: tool calls and results that do not belong together, which a provider may refuse or
//! answer badly, and text that is not part of the key.

use std::fmt;

/// One flaw of a model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFlaw {
    /// The caller, if it is known.
    pub caller: Option<String>,
    /// The turn that answered the call; `None` for a miss, and while recording.
    pub turn: Option<usize>,
    /// What is wrong: `a tool result without its call: call_1`.
    pub what: String,
    /// The kind of the flaw.
    pub kind: FlawKind,
}

/// The kinds of flaws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlawKind {
    /// Tool calls and results do not belong together.
    Protocol,
    /// The recording knows who made the call, and the call no longer says it.
    Caller,
    /// It was refused, and is no miss: it brought no key, or came from a page of another server.
    Refused,
    /// The flaw concerns the key: for example, a part of the call is not in it.
    Key,
}

impl fmt::Display for FlawKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FlawKind::Protocol => "protocol",
            FlawKind::Caller => "caller",
            FlawKind::Refused => "refused",
            FlawKind::Key => "key",
        })
    }
}
