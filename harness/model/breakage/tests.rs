use super::*;
use retake_core::conversation::{Answer, Block, ToolCall};
use retake_core::key::{Hash, Key};
use retake_wire::fixture::Sent;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// A turn whose answer calls the tool `save`.
fn saving(args: &str) -> Turn {
    let call = ToolCall { id: "c".into(), name: "save".into(), args: json(args) };
    let hash = Hash::of(b"");
    Turn {
        caller: Some("lead_agent".into()),
        key: Key { conversation_hash: hash, input_hash: hash },
        input: None,
        checks: None,
        request: None,
        output: Answer { blocks: vec![Block::ToolCall(call)], ..Answer::default() },
        wire: None,
        sent: Sent::default(),
    }
}

const SCHEMA: &str = r#"{"type": "object", "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}}, "required": ["path"]}"#;

/// The tools of a call in the form of four APIs.
fn tools(name: &str, schema: &str) -> [String; 4] {
    [
        format!(r#"[{{"type": "function", "function": {{"name": "{name}", "parameters": {schema}}}}}]"#),
        format!(r#"[{{"name": "{name}", "input_schema": {schema}}}]"#),
        format!(r#"[{{"type": "function", "name": "{name}", "parameters": {schema}}}]"#),
        format!(r#"[{{"functionDeclarations": [{{"name": "{name}", "parametersJsonSchema": {schema}}}]}}]"#),
    ]
}

/// Returns what a change breaks. The change is tried in the form of each API, and all have to agree.
fn broken_by(args: &str, name: &str, schema: &str) -> Option<Breakage> {
    let turn = saving(args);
    let pairs = tools("save", SCHEMA).into_iter().zip(tools(name, schema));
    let found: Vec<_> =
        pairs.map(|(recorded, called)| breakage(&turn, Check::Tools, &recorded, &called, || None)).collect();
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
    found.into_iter().next().flatten()
}

fn misfit_of(args: &str, schema: &str) -> String {
    match broken_by(args, "save", schema) {
        Some(Breakage::ToolArguments { tool, what }) if tool == "save" => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_empty_message_more_than_recorded_breaks_a_call() {
    let with = |empty: &[&str]| {
        let of = empty.iter().map(|at| format!(r#""{at}": {{"empty": true}}"#)).collect::<Vec<_>>().join(", ");
        format!(r#"{{"messages": {{{of}}}}}"#)
    };
    let found = |recorded: &[&str], called: &[&str]| {
        breakage(&saving("{}"), Check::Extra, &with(recorded), &with(called), || None)
    };
    assert_eq!(found(&["3"], &["3", "5"]), Some(Breakage::Empty));
    assert_eq!([found(&["3"], &["5"]), found(&["3"], &[])], [None, None]);
}

#[test]
fn a_missing_tool_breaks_a_recorded_answer_that_calls_it() {
    let recorded = r#"{"path": "a"}"#;
    assert_eq!(broken_by(recorded, "store", SCHEMA), Some(Breakage::ToolNotOffered("save".into())));
    assert_eq!(broken_by(recorded, "save", &SCHEMA.replace("object", "object\", \"title\": \"Save")), None);
}

#[test]
fn arguments_that_a_tool_no_longer_takes_break_the_answer() {
    let recorded = r#"{"path": "a", "mode": 1}"#;
    assert_eq!(misfit_of(recorded, &SCHEMA.replace("mode", "kind")), "there is no argument `mode`");
    let required = SCHEMA.replace(r#"["path"]"#, r#"["path", "kind"]"#);
    assert_eq!(misfit_of(recorded, &required), "`kind` is required, but was not recorded");
    let other = SCHEMA.replace("integer", "string");
    assert_eq!(misfit_of(recorded, &other), "`mode` has to be string, but was recorded as number");
    // None of these breaks the answer: a type that allows the value, one more argument, an open object, a value that never fit.
    assert_eq!(broken_by(recorded, "save", &SCHEMA.replace("integer", "NUMBER")), None);
    let more = SCHEMA.replace(r#""mode""#, r#""more": {"type": "string"}, "mode""#);
    assert_eq!(broken_by(recorded, "save", &more), None);
    let open = SCHEMA.replace("mode", "kind").replace(r#""type": "object""#, r#""additionalProperties": true"#);
    assert_eq!(broken_by(recorded, "save", &open), None);
    assert_eq!(broken_by(r#"{"path": 1}"#, "save", &SCHEMA.replace("string", "boolean")), None);
}

#[test]
fn a_missing_prompt_or_missing_tools_break_the_answer() {
    let turn = saving("{}");
    let gone = |check| breakage(&turn, check, "Be brief.", " ", || None);
    assert_eq!(gone(Check::Prompt), Some(Breakage::PromptGone));
    assert_eq!(gone(Check::Tools), Some(Breakage::ToolsGone));
    assert_eq!(gone(Check::Model), None);
    assert_eq!(breakage(&turn, Check::Prompt, "Be brief.", "Be long.", || None), None);
}
