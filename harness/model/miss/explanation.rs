//! Explains a miss: the words of its first line, and the evidence, such as the nearest turn and the differences from it.

use std::collections::HashMap;

use super::caller_rule;
use super::difference::{Difference, differences};
use super::messages::{answer_in_short, outline, who};
use super::nearest::{Nearest, nearest};
use super::one_more::one_more;
use super::reason::MissReason;
use super::words::{change, diff};
use crate::lookup::Lookup;
use retake_base::cause::CauseKind;
use retake_base::line::Lines;
use retake_base::text::clipped;
use retake_core::json::Json;
use retake_core::key::{Rules, UNKNOWN_CALLER, plain_conversation};
use retake_wire::fixture::{Fixture, Turn};

/// How many differences of one call are shown.
const SHOWN: usize = 3;
/// How many characters of a call are shown if the fixture keeps only hashes.
const INPUT: usize = 800;
/// The least length of a message that is recognized in a prompt.
const TELLING: usize = 8;
/// How many open turns are listed if the fixture keeps only hashes.
const OPEN: usize = 8;

/// The explanation of a miss.
pub(crate) struct Explanation {
    /// How the call differs from the recording. There is at least one difference.
    pub(crate) differences: Vec<Difference>,
    /// The evidence, line by line.
    pub(crate) lines: Lines,
    /// The turn that the call resembles most, if no turn has its conversation.
    pub(crate) nearest: Option<usize>,
    /// Whether the call may be meant for that turn. A call that resembles no turn is not meant for one that calls tools.
    pub(crate) alike: bool,
}

/// The state of the replay: when a call missed, or when the run is over.
pub(crate) struct Situation<'a> {
    pub(crate) fixture: &'a Fixture,
    pub(crate) rules: &'a Rules,
    /// For each turn, whether a call got it and no other call can get it.
    pub(crate) served: Vec<bool>,
    /// For each turn that a call got, the number of that call.
    pub(crate) asked: &'a HashMap<usize, usize>,
}

/// Explains a miss.
pub(crate) fn explain(reason: &MissReason, lookup: &Lookup, situation: &Situation<'_>) -> Explanation {
    let Situation { fixture, rules, served, .. } = situation;
    let who = who_asks(lookup);
    let mut lines = head(lookup);
    let only = |kind, what: String| vec![Difference::of(kind, what).by(&who)];
    let (mut nearest_turn, mut alike, open) = (None, true, open(served));
    let differences = match reason {
        MissReason::Ambiguous { .. } => {
            let group = fixture.table.of_conversation(lookup.conversation.hash());
            let turns = group.map(|group| group.turns.as_slice()).unwrap_or_default();
            lines.extend(caller_rule::lines(turns, lookup.checks.as_ref().map(|checks| &checks.texts), fixture));
            only(CauseKind::CallerUnknown, reason.to_string())
        }
        MissReason::OtherCaller { callers } => {
            let callers: Vec<String> = callers.iter().map(|caller| format!("`{caller}`")).collect();
            only(CauseKind::Caller, format!("caller {who} asks what was recorded for {}", callers.join(", ")))
        }
        MissReason::AllServed { .. } if turn_of_another_caller(lookup, situation).is_some() => {
            let turn = turn_of_another_caller(lookup, situation).unwrap_or_default();
            let caller = fixture.table.turns()[turn].caller.as_deref().unwrap_or(UNKNOWN_CALLER);
            lines.push(format!("nearest    {}", place(situation, turn)));
            nearest_turn = Some(turn);
            only(CauseKind::Caller, format!("caller {who} asks what was recorded for `{caller}`"))
        }
        MissReason::AllServed { turns, more } => {
            let last = turns.last().copied().unwrap_or_default();
            let place = place(situation, last);
            lines.push(format!("nearest    {place}"));
            lines.push(format!("open       {} of {} turns were not served yet", open.len(), served.len()));
            let times =
                if turns.len() + more == 1 { String::new() } else { format!(" ({} turns)", turns.len() + more) };
            only(
                CauseKind::CalledAgain,
                format!("{who} asks once more than recorded: turns[{last}]{times} had already answered it"),
            )
        }
        MissReason::NoFixture => {
            only(CauseKind::NoModelExpected, format!("{who} calls a model, but the scenario says `fixture = \"none\"`"))
        }
        MissReason::RequestNotRecorded { request } if is_wrong_path(request, lookup, situation) => only(
            CauseKind::WrongUrl,
            format!("the service calls `{request}`, which is not a path of a model: is a base URL wrong?"),
        ),
        MissReason::NotRecorded | MissReason::RequestNotRecorded { .. } => {
            let found = nearest(lookup, fixture, rules, served);
            nearest_turn = found.as_ref().map(|nearest| nearest.turn);
            let calls_tools = |turn: usize| !fixture.table.turns()[turn].output.tool_calls().is_empty();
            alike =
                found.as_ref().is_none_or(|nearest| nearest.alike || !nearest.other_end && !calls_tools(nearest.turn));
            not_recorded(reason, found.as_ref(), lookup, situation, &who, &mut lines)
        }
        _ => only(kind_of(reason), reason.to_string()),
    };
    Explanation { differences, lines, nearest: nearest_turn, alike }
}

/// Parts of paths at which providers serve something other than chat models.
const OTHER_THAN_CHATS: [&str; 9] = [
    "embeddings",
    "rerank",
    "moderations",
    "count_tokens",
    "tokenize",
    "generations",
    "speech",
    "transcriptions",
    "files",
];

/// Whether the path of a request is probably wrong. That is so if nothing was recorded for the path, providers do not serve
/// anything other than chats there, and either it looks like the path of a chat, or no turn was served yet.
fn is_wrong_path(request: &str, lookup: &Lookup, situation: &Situation<'_>) -> bool {
    let name = |messages: &[Json]| messages.first().and_then(|message| message.str_of("name").map(str::to_owned));
    let recorded =
        |turn: usize| situation.fixture.conversation(turn, situation.rules).and_then(|messages| name(&messages));
    let of_opaque = |turn: &usize| {
        let turns = situation.fixture.table.turns();
        turns[*turn].wire.as_ref().is_some_and(|wire| wire.api == retake_wire::Api::Opaque)
    };
    let known = (0..situation.served.len()).filter(of_opaque).any(|turn| recorded(turn) == name(&lookup.conversation));
    let path = request.split_once(' ').map_or(request, |(_, path)| path);
    let path = path.split('?').next().unwrap_or_default();
    let other_than_chat = OTHER_THAN_CHATS.iter().any(|known| path.contains(known));
    let asks_for_a_chat = ["completions", "messages", "responses", "chat"].iter().any(|end| path.ends_with(end));
    request.starts_with("POST ")
        && !known
        && !other_than_chat
        && (asks_for_a_chat || situation.served.iter().all(|served| !served))
}

/// Compares a call whose conversation no turn has with this turn.
pub(super) fn compared(nearest: &Nearest, lookup: &Lookup, situation: &Situation<'_>) -> Explanation {
    let mut lines = head(lookup);
    let differences =
        not_recorded(&MissReason::NotRecorded, Some(nearest), lookup, situation, &who_asks(lookup), &mut lines);
    Explanation { differences, lines, nearest: Some(nearest.turn), alike: nearest.alike }
}

/// Returns the first lines of the evidence: the messages of the call, and its flaws.
fn head(lookup: &Lookup) -> Lines {
    let messages = lookup.conversation.len();
    let mut lines = Lines::default();
    lines.push(format!("messages   {messages} in the key: {}", outline(&lookup.conversation)));
    lines.extend(lookup.flaws.iter().map(|(kind, what)| format!("{:<10} {what}", kind.to_string())));
    lines
}

/// Returns the kind of cause that a reason stands for.
pub(crate) fn kind_of(reason: &MissReason) -> CauseKind {
    match reason {
        MissReason::NotRecorded => CauseKind::Conversation,
        MissReason::OtherCaller { .. } => CauseKind::Caller,
        MissReason::AllServed { .. } => CauseKind::CalledAgain,
        MissReason::Ambiguous { .. } => CauseKind::CallerUnknown,
        MissReason::NoFixture => CauseKind::NoModelExpected,
        MissReason::Unreadable { .. } => CauseKind::Unreadable,
        MissReason::Unrenderable { .. } => CauseKind::Unrenderable,
        MissReason::RequestNotRecorded { .. } => CauseKind::OtherRequest,
        MissReason::ToolNotRecorded { .. } | MissReason::ToolAllServed { .. } => CauseKind::ToolRequest,
        MissReason::UnknownRoute { .. } => CauseKind::WrongUrl,
        MissReason::WrongKey => CauseKind::WrongKey,
    }
}

/// Names who makes a call.
fn who_asks(lookup: &Lookup) -> String {
    let prompt = lookup.checks.as_ref().map_or("", |checks| &checks.texts.prompt);
    who(lookup.caller.as_deref(), &lookup.conversation, prompt)
}

/// Names a call, for a sentence about it: ``a call of `agent` ``.
fn a_call_of(lookup: &Lookup, who: &str) -> String {
    if lookup.caller.is_some() { format!("a call of {who}") } else { who.to_owned() }
}

/// Returns an open turn of another caller that has the call's conversation.
fn turn_of_another_caller(lookup: &Lookup, situation: &Situation<'_>) -> Option<usize> {
    let group = situation.fixture.table.of_conversation(lookup.conversation.hash())?;
    group.turns.iter().copied().find(|turn| !situation.served[*turn])
}

/// Returns the turns that were not served.
fn open(served: &[bool]) -> Vec<usize> {
    (0..served.len()).filter(|turn| !served[*turn]).collect()
}

/// Describes a turn: its place, its caller, and whether it was served.
fn place(situation: &Situation<'_>, turn: usize) -> String {
    let caller = situation.fixture.table.turns()[turn].caller.as_deref().unwrap_or(UNKNOWN_CALLER);
    let state = match (situation.served[turn], situation.asked.get(&turn)) {
        (false, None) => "not yet served".to_owned(),
        (true, None) => "served before".to_owned(),
        (_, Some(call)) => format!("served before, to call {call}"),
    };
    format!("{}, by `{caller}`, {state}", situation.fixture.place_of(turn))
}

/// Returns the differences of a call whose conversation no turn has, and adds their evidence to `lines`.
fn not_recorded(
    reason: &MissReason,
    found: Option<&Nearest>,
    lookup: &Lookup,
    situation: &Situation<'_>,
    who: &str,
    lines: &mut Lines,
) -> Vec<Difference> {
    let Situation { fixture, served, .. } = situation;
    let turns = fixture.table.turns();
    let only = |kind, what: String| vec![Difference::of(kind, what).by(who)];
    if turns.is_empty() {
        let is_loaded = fixture.path.extension().is_some();
        let why = if is_loaded {
            format!("{} has no turns", fixture.path.display())
        } else {
            "no fixture is loaded".to_owned()
        };
        lines.push(format!("nearest    none, {why}"));
        let who = match (&lookup.caller, who.strip_prefix("the call ")) {
            (None, Some(words)) => format!("the service called the model ({words})"),
            (None, None) => "the service called the model".to_owned(),
            (Some(_), _) => format!("{who} called the model"),
        };
        return only(CauseKind::NewCall, format!("{who}, but this scenario has no recording"));
    }
    let Some(Nearest { turn: index, conversation, alike, last_of_caller, .. }) = found else {
        hashes_only(lookup, fixture, served, lines);
        return only(CauseKind::Conversation, format!("{who} asks something that was never recorded"));
    };
    let turn = &turns[*index];
    lines.push(format!("nearest    {}", place(situation, *index)));
    let text = |json: &Json| json.clone();
    let of_plain = turn.wire.as_ref().is_some_and(|wire| lookup.api.is_some_and(|api| api != wire.api));
    let (recorded, called) = if of_plain {
        (plain_conversation(conversation), plain_conversation(&lookup.conversation))
    } else {
        (conversation.iter().map(text).collect(), lookup.conversation.to_vec())
    };
    if called.is_empty() && recorded.is_empty() {
        let recorded = turn.checks.and_then(|checks| fixture.texts.get(&checks.prompt)).map_or("", |text| text);
        let now = lookup.checks.as_ref().map_or("", |checks| &checks.texts.prompt);
        lines.push("difference in the system prompt, which alone tells such calls apart:");
        lines.extend(diff(recorded, now));
        return only(
            CauseKind::SystemPrompt,
            format!("the system prompt of {who} changed ({})", change(recorded, now)),
        );
    }
    let mut differences = differences(&recorded, &called, who);
    if let Some(difference) = sent_in_another_role(&recorded, lookup, turn, fixture, who) {
        differences =
            vec![Difference { lines: differences.into_iter().flat_map(|other| other.lines).collect(), ..difference }];
    }
    for difference in differences.iter().take(SHOWN) {
        lines.extend(difference.lines.iter().cloned());
    }
    if differences.len() > SHOWN {
        lines.push(format!("           … and {} more differences", differences.len() - SHOWN));
    }
    // The recorded history continues with the answer to exactly this call, so the fixture lacks that turn.
    let goes_on = recorded.get(called.len()).filter(|next| next.str_of("type") == Some("ai"));
    if let Some(answer) = goes_on.filter(|_| recorded.starts_with(&called) && !called.is_empty()) {
        let answer = super::messages::describe(answer);
        return only(
            CauseKind::NewCall,
            format!(
                "the fixture lacks the turn of {who} before turns[{index}]: its answer ({answer}) is in the history there"
            ),
        );
    }
    if let MissReason::RequestNotRecorded { .. } = reason {
        // A request that is not for a chat model is compared only with one of the same method and path.
        let name = |messages: &[Json]| {
            messages.first().map(|message| (message.str_of("type").map(str::to_owned), message.get("name").cloned()))
        };
        if name(&recorded) != name(&called) || differences.is_empty() {
            return only(CauseKind::OtherRequest, reason.to_string());
        }
        return differences;
    }
    let recorded_callers = turns.iter().any(|turn| turn.caller == lookup.caller);
    if lookup.caller.is_some() && !recorded_callers && turns.iter().any(|turn| turn.caller.is_some()) {
        return only(CauseKind::NewCall, format!("caller {who} asks, but no recorded turn is by that caller"));
    }
    if *last_of_caller {
        let answer = answer_in_short(&turn.output);
        differences = vec![one_more(lookup, 1, &format!("after turns[{index}] ({answer})"))];
    } else if !alike || differences.is_empty() {
        differences = only(CauseKind::NewCall, format!("{} matches no recorded turn", a_call_of(lookup, who)));
    }
    differences
}

/// Finds a message that became part of the system prompt, or a prompt that became a message. Neither is in the key of the other.
fn sent_in_another_role(
    recorded: &[Json],
    lookup: &Lookup,
    turn: &Turn,
    fixture: &Fixture,
    who: &str,
) -> Option<Difference> {
    let now = &lookup.checks.as_ref()?.texts.prompt;
    let before = fixture.texts.get(&turn.checks?.prompt)?;
    let texts = |messages: &[Json]| -> Vec<String> {
        messages.iter().map(|message| message.str_of("content").unwrap_or_default().trim().to_owned()).collect()
    };
    let (recorded_texts, called_texts) = (texts(recorded), texts(&lookup.conversation));
    // A text of a few characters occurs in others by chance.
    let moved = |from: &[String], to: &[String], prompt: &str, other: &str| {
        from.iter().position(|text| {
            text.chars().count() >= TELLING
                && prompt.contains(text.as_str())
                && !other.contains(text.as_str())
                && !to.contains(text)
        })
    };
    let kind = |messages: &[Json], at: usize| messages[at].str_of("type").unwrap_or("message").to_owned();
    let what = if let Some(at) = moved(&recorded_texts, &called_texts, now, before) {
        format!("message {} of {who} is sent as `system`, recorded: `{}`", at + 1, kind(recorded, at))
    } else {
        let at = moved(&called_texts, &recorded_texts, before, now)?;
        format!("message {} of {who} is of type `{}`, recorded: `system`", at + 1, kind(&lookup.conversation, at))
    };
    Some(Difference::of(CauseKind::MessageType, what).by(who))
}

/// Adds the evidence for a fixture that keeps hashes instead of conversations: the open turns, and the text of the call.
fn hashes_only(lookup: &Lookup, fixture: &Fixture, served: &[bool], lines: &mut Lines) {
    let open = open(served);
    lines.push(format!(
        "nearest    not known: {} keeps hashes and no conversations; {} of its {} turns are still open",
        fixture.path.display(),
        open.len(),
        served.len()
    ));
    for index in open.iter().take(OPEN) {
        let turn = &fixture.table.turns()[*index];
        let caller = turn.caller.as_deref().unwrap_or(UNKNOWN_CALLER);
        lines.push(format!(
            "open       turns[{index}], by `{caller}`, conversation {}…: {}",
            turn.key.conversation_hash.short(),
            answer_in_short(&turn.output)
        ));
    }
    if open.len() > OPEN {
        lines.push(format!("           … and {} more", open.len() - OPEN));
    }
    let said = |message: &Json| {
        let calls =
            message.get("tool_calls").map(|calls| format!(" {}", calls.print(retake_core::json::Layout::Python)));
        format!(
            "{}: {}{}",
            super::messages::describe(message),
            message.str_of("content").unwrap_or_default(),
            calls.unwrap_or_default()
        )
    };
    let input: Vec<String> = lookup.conversation.iter().map(said).collect();
    lines.push("input      as it was normalized for the key:");
    lines.extend(clipped(&input.join("\n"), INPUT).lines().map(|line| format!("  {line}")));
}
