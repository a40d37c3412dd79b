//! What differs between a recording and the provider of today, over all calls that could be compared.

use std::collections::BTreeMap;

use super::behaviour::behaviour;
use super::kept_call::KeptCall;
use retake_core::json::Json;
use retake_wire::{self as wire, Api, Known, Response, WireChange, WireShape};

/// The comparison so far.
#[derive(Debug, Default)]
pub struct Comparison {
    shapes: BTreeMap<Api, (WireShape, WireShape)>,
    /// The calls, in the order in which they were made.
    pub turns: Vec<TurnCompared>,
}

/// One call and what became of it.
#[derive(Clone, Debug)]
pub struct TurnCompared {
    /// The index of the recorded turn.
    pub turn: usize,
    /// Who made the call, if it is known.
    pub caller: Option<String>,
    /// The API.
    pub api: Api,
    /// Why it could not be checked; `None` if it was.
    pub unchecked: Option<String>,
    /// What differs in what the answer does.
    pub findings: Vec<Finding>,
}

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it is drift; otherwise it is a note.
    pub breaks: bool,
    /// What differs, on one line.
    pub what: String,
}

impl Finding {
    pub(super) fn breaking(what: String) -> Finding {
        Finding { breaks: true, what }
    }

    pub(super) fn note(what: String) -> Finding {
        Finding { breaks: false, what }
    }
}

impl Comparison {
    /// Adds a call with what the provider answered today, or why that cannot be compared.
    pub fn add(&mut self, kept: &KeptCall, today: Result<Response, String>) {
        let KeptCall { served, call } = kept;
        let caller = call.caller.clone().or_else(|| served.turn().caller.clone());
        let found = today.map(|today| self.compare(kept, &today));
        let (unchecked, findings) = (found.as_ref().err().cloned(), found.unwrap_or_default());
        self.turns.push(TurnCompared { turn: served.index, caller, api: call.api, unchecked, findings });
    }

    fn compare(&mut self, KeptCall { served, call }: &KeptCall, today: &Response) -> Vec<Finding> {
        let (turn, api) = (served.turn(), call.api);
        let asked = wire::decode(api, call.target(), &call.request, &Known::default()).ok();
        let sent = turn.wire.as_ref().filter(|wire| wire.api == api).and_then(|wire| {
            let asked = asked.as_ref()?;
            let is_recorded = wire::as_recorded(Some((api, &wire.response)), &asked.render_for("")).is_some();
            is_recorded.then(|| served.response_to(asked).ok())?
        });
        let mut found = Vec::new();
        match sent {
            Some(sent) => {
                if (sent.status < 300) != (today.status < 300) {
                    found.push(Finding::breaking(format!("status: recorded {}, today {}", sent.status, today.status)));
                }
                let (recorded, now) = self.shapes.entry(api).or_default();
                recorded.add(&sent);
                now.add(today);
            }
            None => found
                .push(Finding::note("no response over this API is recorded, so its shape was not compared".to_owned())),
        }
        if turn.output.is_untold() || api == Api::Opaque {
            return found;
        }
        match wire::decode_response(api, today) {
            Ok(now) => {
                found.extend(behaviour(&turn.output, &now, asked.as_ref().map_or(&Json::Null, |call| &call.tools)));
            }
            Err(why) => found.push(Finding::breaking(format!("a client could not read today's answer: {why}"))),
        }
        found
    }

    /// What differs in the responses, for each API; nothing if the shapes are equal.
    pub fn wire(&self) -> impl Iterator<Item = (Api, Vec<WireChange>)> {
        self.shapes.iter().map(|(api, (recorded, today))| (*api, recorded.changes(today)))
    }
}
