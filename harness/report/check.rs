//! What a check against the provider of today found: as data, as text, and as the failure of a scenario. Pure.

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use retake_base::cause::{Cause, CauseKind};
use retake_base::text::{counted, nth_turn};
use retake_core::key::attributed;
use retake_model::{Comparison, Finding};
use retake_wire::{WireChange, WireChangeKind};

/// What a check of one recording found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckData {
    /// How many calls went to the provider.
    pub calls: u64,
    /// The tokens that they took, as the provider counted them.
    pub tokens: u64,
    /// What differs in the responses, for each API.
    pub apis: Vec<ApiCheckData>,
    /// The calls, in the order in which they were made.
    pub turns: Vec<TurnCheckData>,
    /// What could not be checked and belongs to no turn, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<String>,
}

/// What differs in the responses of one API.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApiCheckData {
    /// The name of the API, as in fixtures.
    pub api: String,
    /// The differences, those that are drift first.
    pub changes: Vec<ChangeData>,
}

/// A difference in the responses of an API.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeData {
    /// `removed`, `type`, `framing`, `order`, `added`, or `data` where keys are data and nothing is compared.
    pub kind: String,
    /// Whether it is drift; otherwise it is a note.
    pub drift: bool,
    /// The event type and the path, as in `[message_delta]/delta/stop_details`.
    pub place: String,
    /// The JSON types, or the forms, that were recorded.
    pub recorded: Vec<String>,
    /// Those that came today.
    pub today: Vec<String>,
    /// All of this as a sentence.
    pub what: String,
}

/// One call of a check.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnCheckData {
    /// The index of the recorded turn.
    pub turn: usize,
    /// Who made the call, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The name of the API.
    pub api: String,
    /// Why it could not be checked; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// What differs in what the answer does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behaviour: Vec<BehaviourData>,
}

/// A difference in what an answer does.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BehaviourData {
    /// Whether it is drift; otherwise it is a note.
    pub drift: bool,
    /// What differs.
    pub what: String,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckResult {
    /// All calls were checked, and nothing is drift.
    Same,
    /// Something could not be checked, and what was is no drift.
    Unchecked,
    /// Something is drift.
    Drift,
}

impl CheckResult {
    /// The exit code of the command.
    pub fn code(self) -> u8 {
        match self {
            CheckResult::Same => 0,
            CheckResult::Drift => 1,
            CheckResult::Unchecked => 2,
        }
    }
}

impl CheckData {
    /// The data of a comparison, and of what it cost.
    pub fn of(comparison: &Comparison, (calls, tokens): (u64, u64)) -> CheckData {
        let change = |change: &WireChange| ChangeData {
            kind: change.kind.word().to_owned(),
            drift: change.breaks,
            place: change.place.clone(),
            recorded: change.recorded.clone(),
            today: change.today.clone(),
            what: change.to_string(),
        };
        let apis = comparison.wire().map(|(api, changes)| ApiCheckData {
            api: api.name().to_owned(),
            changes: changes.iter().map(change).collect(),
        });
        let finding = |finding: &Finding| BehaviourData { drift: finding.breaks, what: finding.what.clone() };
        let turns = comparison.turns.iter().map(|compared| TurnCheckData {
            turn: compared.turn,
            caller: compared.caller.clone(),
            api: compared.api.name().to_owned(),
            unchecked: compared.unchecked.clone(),
            behaviour: compared.findings.iter().map(finding).collect(),
        });
        CheckData { calls, tokens, apis: apis.collect(), turns: turns.collect(), unchecked: Vec::new() }
    }

    /// A check that came to nothing.
    pub fn impossible(why: String) -> CheckData {
        CheckData { unchecked: vec![why], ..CheckData::default() }
    }

    /// The result.
    pub fn result(&self) -> CheckResult {
        if !self.lines(true).is_empty() {
            CheckResult::Drift
        } else if self.not_checked().is_empty() {
            CheckResult::Same
        } else {
            CheckResult::Unchecked
        }
    }

    /// What is drift, or what is only noted, one line each. What differs where keys are data is only in the JSON.
    pub fn lines(&self, drift: bool) -> Vec<String> {
        let data = WireChangeKind::Data.word();
        let of_wire = self.apis.iter().flat_map(|api| {
            let these = api.changes.iter().filter(move |change| change.drift == drift && change.kind != data);
            these.map(|change| format!("{}: {}", api.api, change.what))
        });
        let closed = self.apis.iter().filter(|_| !drift).filter_map(|api| {
            let places: Vec<&str> =
                api.changes.iter().filter(|change| change.kind == data).map(|change| change.place.as_str()).collect();
            let said = format!("{}: not compared, since the keys are data: {}", api.api, places.join(", "));
            (!places.is_empty()).then_some(said)
        });
        let of_turns = self.turns.iter().flat_map(|turn| {
            let these = turn.behaviour.iter().filter(move |finding| finding.drift == drift);
            these.map(|finding| format!("{}: {}", turn.title(), finding.what))
        });
        of_wire.chain(closed).chain(of_turns).collect()
    }

    /// What could not be checked, one line each.
    pub fn not_checked(&self) -> Vec<String> {
        let of_turns = self.turns.iter().filter_map(|of| Some(format!("{}: {}", of.title(), of.unchecked.as_ref()?)));
        of_turns.chain(self.unchecked.iter().cloned()).collect()
    }

    /// The failure of the scenario, unless the provider still sends what was recorded.
    pub fn failure(&self, take_over: &str) -> Option<Failure> {
        let (drift, unchecked) = (self.lines(true), self.not_checked());
        let listed = |lines: &[String]| lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
        let said = |lines: &[String]| format!("could not be checked:\n{}", listed(lines));
        match self.result() {
            CheckResult::Same => None,
            CheckResult::Unchecked => {
                let what = match self.turns.len() {
                    0 => format!("could not be checked: {}", unchecked[0]),
                    turns => {
                        let (left, calls) = (unchecked.len(), counted(turns, "call"));
                        format!("{left} of {calls} could not be checked, the others are as recorded")
                    }
                };
                let failure = Failure::of(vec![Cause::new(CauseKind::NotChecked, what)]);
                Some(if self.turns.is_empty() { failure } else { failure.evidence(said(&unchecked)) })
            }
            CheckResult::Drift => {
                let why = format!("the provider no longer answers as recorded: {}", counted(drift.len(), "difference"));
                let mut failure = Failure::of(vec![Cause::new(CauseKind::Provider, why)]).evidence(listed(&drift));
                if !unchecked.is_empty() {
                    failure = failure.evidence(said(&unchecked));
                }
                Some(failure.resolve("to take over what the provider sends today", take_over))
            }
        }
    }
}

impl TurnCheckData {
    fn title(&self) -> String {
        nth_turn(self.turn) + &attributed(" of", self.caller.as_deref())
    }
}

/// The checks of several recordings, by name, as one text for people.
pub fn check_text(checks: &[(String, CheckData)], take_over: impl Fn(&str) -> String) -> String {
    let mut lines = Vec::new();
    for (name, check) in checks {
        let result = match check.result() {
            CheckResult::Same => "still true",
            CheckResult::Drift => "DRIFT",
            CheckResult::Unchecked => "not checked completely",
        };
        let calls = counted(usize::try_from(check.calls).unwrap_or(usize::MAX), "call");
        lines.push(format!("{name}: {result} ({calls}, {} tokens)", check.tokens));
        let found = [("drift", check.lines(true)), ("not checked", check.not_checked()), ("note", check.lines(false))];
        for (word, found) in found {
            lines.extend(found.into_iter().map(|line| format!("  {word}: {line}")));
        }
        if check.result() == CheckResult::Drift {
            lines.push(format!("  to take over what the provider sends today: {}", take_over(name)));
        }
    }
    lines.join("\n")
}

/// The same as JSON, in the format `retake-check/1`.
pub fn check_json(checks: &[(String, CheckData)]) -> String {
    let each = checks
        .iter()
        .map(|(name, check)| serde_json::json!({ "name": name, "result": check.result(), "check": check }));
    let all = serde_json::json!({ "format": "retake-check/1", "checks": each.collect::<Vec<_>>() });
    serde_json::to_string_pretty(&all).unwrap_or_default()
}
