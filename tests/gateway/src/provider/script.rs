//! The provider's script: rules over the conversation, of which the first that fits gives the answer.

use serde_json::{Value, json};

/// An answer: text, or tool calls with names and arguments.
#[derive(Debug)]
pub(super) enum Reply {
    Text(String),
    Calls(Vec<(&'static str, Value)>),
}

/// Whether the provider answers at all.
#[derive(Debug)]
pub(super) enum Mood {
    Fine,
    /// Every other request of the same conversation gets a 429.
    Busy,
    /// Every request gets a 500.
    Down,
}

/// Each country, its capital, and the number of inhabitants of the capital.
const CAPITALS: [(&str, &str, u32); 4] = [
    ("France", "Paris", 2_100_000),
    ("Italy", "Rome", 2_800_000),
    ("Spain", "Madrid", 3_300_000),
    ("Germany", "Berlin", 3_700_000),
];

const THREE_FILES: [(&str, &str); 3] = [("one.txt", "first"), ("two.txt", "second"), ("three.txt", "third")];

pub(super) fn mood(messages: &[Value]) -> Mood {
    match messages.iter().rfind(|message| message["role"] == "user").map(text).unwrap_or_default() {
        asked if asked.contains("while you are down") => Mood::Down,
        asked if asked.contains("when you are free") => Mood::Busy,
        _ => Mood::Fine,
    }
}

pub(super) fn reply(messages: &[Value], tools: &[&str]) -> Reply {
    if let Some(reply) = super::systems::reply(messages, tools) {
        return reply;
    }
    let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let (before, since) = (&messages[..asked], &messages[asked + 1..]);
    let prompt = text(&messages[asked]);
    let system = before.iter().filter(|message| message["role"] == "system").map(text).collect::<String>();
    if prompt.starts_with("Generate a concise title") {
        return Reply::Text(title(&prompt));
    }
    if prompt.contains("follow-up questions") {
        return Reply::Text(questions(&prompt));
    }
    if prompt.starts_with("Name one fact about the user") {
        return Reply::Text(if prompt.contains("I live in Oslo") { "Lives in Oslo.\n" } else { "NONE" }.to_owned());
    }
    if prompt.contains("Where do I live") && system.contains("Lives in Oslo") {
        return Reply::Text("You live in Oslo.".to_owned());
    }
    if system.contains("You are an optimist") {
        return Reply::Text(format!("Yes: much speaks for it, and now is a good time. You asked: {prompt}"));
    }
    if system.contains("You are a critic") {
        return Reply::Text(format!("I doubt it: the cost is certain, the gain is not. You asked: {prompt}"));
    }
    let results: Vec<_> = since.iter().filter(|message| message["role"] == "tool").map(text).collect();
    if !tools.is_empty()
        && let Some(reply) = files(&prompt, &results)
    {
        return reply;
    }
    Reply::Text(small_talk(&prompt, before))
}

/// Returns the next step of a task on files, chosen by the number of tool results so far. `None` if the prompt is not about
/// files.
fn files(prompt: &str, results: &[String]) -> Option<Reply> {
    let read = |path: &str| ("read_file", json!({ "path": path }));
    let write = |path: &str, content: &str| ("write_file", json!({ "content": content, "path": path }));
    let last = results.last().map_or("", String::as_str);
    if prompt.contains("Create note.txt") {
        return Some(match results.len() {
            0 => Reply::Calls(vec![write("note.txt", "hi from replay.")]),
            1 => Reply::Calls(vec![read("note.txt")]),
            _ => Reply::Text(format!("I wrote note.txt and read it back. It says: \"{last}\"")),
        });
    }
    if prompt.contains("three files") {
        return Some(match results {
            [] => Reply::Calls(THREE_FILES.map(|(path, content)| write(path, content)).to_vec()),
            [.., names, one, three] if results.len() >= 6 => Reply::Text(format!(
                "The folder holds {}. one.txt says \"{one}\", and three.txt says \"{three}\".",
                names.replace('\n', ", ")
            )),
            _ => Reply::Calls(vec![("ls", json!({})), read("one.txt"), read("three.txt")]),
        });
    }
    if prompt.contains("missing.txt") {
        return Some(match results {
            [] => Reply::Calls(vec![read("missing.txt"), write("list/note.txt", "milk"), read("../secret.txt")]),
            _ if results.len() == 3 => {
                Reply::Calls(vec![write("list/note.txt", "eggs"), ("ls", json!({})), ("search", json!({}))])
            }
            _ if results.len() == 6 => Reply::Calls(vec![read("list/note.txt")]),
            _ => Reply::Text(format!("There is only list/note.txt, and it says: {last}")),
        });
    }
    if prompt.contains("../secret.txt") {
        return Some(match results {
            [] => Reply::Calls(vec![read("../secret.txt")]),
            _ => Reply::Text(format!("I could not read that file. {last}")),
        });
    }
    None
}

fn small_talk(prompt: &str, before: &[Value]) -> String {
    let said: Vec<_> = before.iter().filter(|message| message["role"] == "assistant").map(text).collect();
    if let Some((_, number)) = prompt.split_once("Say number ") {
        return number.chars().take_while(char::is_ascii_digit).collect();
    }
    let country = CAPITALS.iter().find(|(country, ..)| prompt.contains(country));
    if let Some((country, capital, _)) = country {
        if prompt.contains("capital") || said.iter().any(|answer| answer.contains("The capital of")) {
            return format!("The capital of {country} is {capital}.");
        }
        return format!("What would you like to know about {country}?");
    }
    if prompt.contains("larger") {
        let named = CAPITALS.iter().filter(|(_, capital, _)| said.iter().any(|answer| answer.contains(capital)));
        let mut named: Vec<_> = named.map(|(_, capital, inhabitants)| (inhabitants, capital)).collect();
        named.sort();
        if let [.., (small, less), (large, more)] = named[..] {
            return format!("{more} is larger than {less}: it has {large} inhabitants, and {less} has {small}.");
        }
    }
    format!("You said: {prompt}")
}

fn title(prompt: &str) -> String {
    let asked = prompt.split_once("User: ").map_or("", |(_, asked)| asked);
    let asked = asked.split("\nAssistant: ").next().unwrap_or_default();
    if asked.contains("note.txt") {
        "Writing and reading a note".to_owned()
    } else if asked.contains("three files") {
        "Three files at once".to_owned()
    } else if asked.contains("How are you") {
        "\"How it goes\"".to_owned()
    } else if asked.contains("capital") {
        "Capitals of Europe".to_owned()
    } else {
        let words: Vec<_> = asked.split_whitespace().take(4).collect();
        format!("About: {}", words.join(" "))
    }
}

fn questions(prompt: &str) -> String {
    let questions = if prompt.contains("The capital of") {
        ["What is the capital of Spain?", "Which of them is the oldest?", "How far apart are they?"]
    } else {
        ["Can you say more about that?", "What should I do next?", "Is there another way?"]
    };
    // Models often put their JSON into a code fence.
    let (before, after) = if prompt.contains("when you are free") { ("```json\n", "\n```") } else { ("", "") };
    format!("{before}{}{after}", json!(questions))
}

/// Returns the text of a message, whether its content is text or a list of parts.
pub(super) fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
