//! Real traces of ten frameworks, each with an independent reading of its observations. They cannot be committed to this
//! project: `RETAKE_TRACES` names their folder, and without it this test passes.

use super::*;

/// A message in the words that both readings have: role, text, and the names and arguments of tool calls.
type Words = (String, String, Vec<(String, String)>);

#[test]
fn messages_and_answers_agree_with_an_independent_reading() {
    let Some(folder) = std::env::var_os("RETAKE_TRACES") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut compared, mut wrong) = (0, Vec::new());
    for file in files.iter().filter(|file| file.to_string_lossy().ends_with(".trace.json")) {
        let text = std::fs::read_to_string(file).unwrap();
        let reading = file.to_string_lossy().replace(".trace.json", ".chatml.json");
        let reading: Value = serde_json::from_str(&std::fs::read_to_string(reading).unwrap()).unwrap();
        let traces = traces(TraceFormat::Langfuse, &text, &mut Redactor::default());
        for spans in &traces.all {
            let (found, _) = calls(spans);
            for call in &found {
                let span = &spans[call.span];
                let sides = &reading[&span.id];
                if let Some(expected) = words_of(&sides["input"]) {
                    let (expected, found) = (but_system(&expected), but_system(&asked(call)));
                    compared += 1;
                    if expected != found {
                        wrong.push(format!("{}: {}: asked\n  {expected:?}\n  {found:?}", file.display(), span.id));
                    }
                }
                if let Some(expected) = words_of(&sides["output"]) {
                    let message = call.answer.to_message();
                    compared += 1;
                    if expected != vec![words(&message)] {
                        wrong.push(format!("{}: {}: answered\n  {expected:?}\n  {message:?}", file.display(), span.id));
                    }
                }
            }
            // Where the reading has both sides of what the trace calls a generation, there is a call.
            for span in spans.iter().filter(|span| span.text("langfuse.observation.type") == Some("generation")) {
                let sides = &reading[&span.id];
                let both = words_of(&sides["input"]).is_some() && words_of(&sides["output"]).is_some();
                let known = found.iter().any(|call| spans[call.span].id == span.id);
                if both && !known {
                    wrong.push(format!("{}: {}: refused, but the reading has both sides", file.display(), span.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 15, "only {compared} sides were compared");
}

fn asked(call: &ModelCall) -> Vec<Words> {
    call.messages.iter().map(words).collect()
}

fn words(message: &retake_core::conversation::Message) -> Words {
    let text = match &message.content {
        Json::Array(parts) => parts.iter().filter_map(|part| part.str_of("text")).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let calls = message.tool_calls.iter().map(|call| (call.name.clone(), call.args.print(Layout::Python))).collect();
    (message.kind.clone(), text, calls)
}

/// The messages of a side of the reading; `None` if it could not read it, or has no roles.
fn words_of(side: &Value) -> Option<Vec<Words>> {
    let messages = side["data"].as_array().filter(|_| side["success"] == true)?;
    let message = |message: &Value| {
        let role = match message["role"].as_str()? {
            "user" => "human",
            "assistant" | "model" => "ai",
            other => other,
        };
        let text = match &message["content"] {
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let call = |call: &Value| {
            let args = Json::parse(call["arguments"].as_str()?.as_bytes()).ok()?;
            Some((call["name"].as_str()?.to_owned(), args.print(Layout::Python)))
        };
        Some((role.to_owned(), text, calls.filter_map(call).collect()))
    };
    messages.iter().map(message).collect()
}

fn but_system(words: &[Words]) -> Vec<Words> {
    words.iter().filter(|(role, ..)| role != "system").cloned().collect()
}
