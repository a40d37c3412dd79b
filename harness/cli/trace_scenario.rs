//! The scenario that `retake import … --scenario NAME` writes beside the fixture of a trace.

use std::path::{Path, PathBuf};

use super::schemas;
use crate::formats::traces::Taken;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_core::json::{Json, Layout};
use retake_scenario::{is_name, no_name};

/// Marks what a person has to fill in.
const FILL_IN: &str = "# FILL IN:";

/// Where a scenario's steps come from.
pub(super) enum Origin {
    /// The trace holds the request that started it.
    Request,
    /// Another scenario has the same steps, with another prompt.
    Scenario(String),
    /// Nothing: a person has to fill them in.
    Nothing,
}

/// A scenario to write.
pub(super) struct Written {
    pub(super) file: PathBuf,
    pub(super) origin: Origin,
    text: String,
    /// A body that TOML cannot express.
    body: Option<String>,
}

/// The file of a scenario that is to be written.
/// Fails if it exists, or the name is none.
pub(super) fn file(root: &Path, name: &str) -> Result<PathBuf> {
    if !is_name(name) || name == "none" {
        return Err(no_name(name, "scenario"));
    }
    let file = root.join("scenarios").join(name).join("scenario.toml");
    if file.exists() {
        return Err(Error::new("the file already exists").in_file(&file).help("choose another name: --scenario NAME"));
    }
    Ok(file)
}

/// Makes the scenario of a trace. `fixture` is the name of its fixture.
pub(super) fn of_trace(root: &Path, file: &Path, name: &str, fixture: &str, taken: &Taken) -> Written {
    let prompt = taken.prompt.as_deref().unwrap_or_default();
    let of_fixture = if fixture == name { String::new() } else { format!("fixture = {}\n", quoted(fixture)) };
    let head = format!("description = \"A conversation that happened in production\"\n{of_fixture}\n");
    let vars = format!("[vars]\nprompt = {}\n", quoted(&raw(prompt)));
    let written = |text: String, origin| Written { file: file.to_owned(), origin, text, body: None };
    match &taken.request {
        Some((method, path, Some(body))) => {
            let (with_prompt, found) = with_prompt(body, prompt);
            let vars = if found { vars } else { String::new() };
            let step = |json: &str| {
                format!(
                    "{head}{vars}\n[[step]]\n{} = {}\n{json}\n{STREAM}{GOLDEN}",
                    method.to_lowercase(),
                    quoted(&raw(path))
                )
            };
            match inline(&with_prompt) {
                Some(json) => written(step(&format!("json   = {json}")), Origin::Request),
                None => Written {
                    body: Some(with_prompt.print(Layout::Pretty) + "\n"),
                    ..written(step("json_file = \"body.json\""), Origin::Request)
                },
            }
        }
        request => {
            let path = request.as_ref().map(|(_, path, _)| path.as_str());
            if let Some((other, text)) = like(root, path, prompt) {
                return written(format!("{head}{text}"), Origin::Scenario(other));
            }
            let post = path.map_or_else(
                || format!("{FILL_IN} the path\npost   = \"/\""),
                |path| format!("post   = {}", quoted(&raw(path))),
            );
            let json = format!(
                "{FILL_IN} the body, with the prompt in its place\njson   = {{ message = \"{{{{ prompt }}}}\" }}"
            );
            written(format!("{head}{vars}\n[[step]]\n{post}\n{json}\n{STREAM}{GOLDEN}"), Origin::Nothing)
        }
    }
}

const STREAM: &str =
    "# FILL IN: `golden = true` instead, if the service answers with JSON and not with a stream\nstream = true\n";
const GOLDEN: &str = "\n[golden]\ndetail = \"types\"\n";

impl Written {
    pub(super) fn write(&self, root: &Path) -> Result<()> {
        if let Some(body) = &self.body {
            files::write_whole(&self.file.with_file_name("body.json"), body.as_bytes())?;
        }
        files::write_whole(&self.file, (schemas::OF_SCENARIO.to_owned() + &self.text).as_bytes())?;
        schemas::write(root).map(|_| ())
    }
}

/// The text of the only scenario with a prompt of its own that posts to this path, from `[vars]` on, with this prompt.
fn like(root: &Path, path: Option<&str>, prompt: &str) -> Option<(String, String)> {
    let names = std::fs::read_dir(root.join("scenarios"))
        .ok()?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut fitting: Vec<(String, String)> = names
        .filter_map(|name| {
            let text = std::fs::read_to_string(root.join("scenarios").join(&name).join("scenario.toml")).ok()?;
            let table: toml::Table = text.parse().ok()?;
            let own = table.get("vars")?.get("prompt")?.as_str()?;
            // One that a conversation of its own is told apart by: cases and other prompts would not fit.
            let plain = !table.contains_key("case") && text.matches("{{ prompt }}").count() == 1;
            let same_path = path.is_none_or(|path| text.contains(&format!("\"{path}\"")));
            let replaced = with_var(&text, own, prompt)?;
            (plain && same_path).then_some((name, replaced))
        })
        .collect();
    fitting.sort();
    // Of several with the same steps, any will do.
    let steps = |text: &str| text.find("[[step]]").map(|at| text[at..].to_owned());
    fitting.dedup_by(|a, b| steps(&a.1) == steps(&b.1));
    if fitting.len() == 1 { fitting.pop() } else { None }
}

/// The text of a scenario from `[vars]` on, with another prompt; `None` if the prompt is not on one line.
fn with_var(text: &str, own: &str, prompt: &str) -> Option<String> {
    let from = text.lines().position(|line| line.trim() == "[vars]")?;
    let lines: Vec<&str> = text.lines().skip(from).collect();
    let is_prompt = |line: &&&str| line.trim_start().starts_with("prompt") && line.contains(own);
    let old = *lines.iter().find(is_prompt)?;
    let new = format!("prompt = {}", quoted(&raw(prompt)));
    let lines: Vec<&str> = lines.iter().map(|line| if *line == old { new.as_str() } else { *line }).collect();
    Some(lines.join("\n") + "\n")
}

/// The body with the prompt as a variable, and whether it was there.
fn with_prompt(body: &Json, prompt: &str) -> (Json, bool) {
    match body {
        Json::Str(text) if text == prompt && !prompt.is_empty() => ("{{ prompt }}".into(), true),
        Json::Str(text) => (raw(text).into(), false),
        Json::Array(list) => {
            let (list, found): (Vec<Json>, Vec<bool>) = list.iter().map(|value| with_prompt(value, prompt)).unzip();
            (Json::Array(list), found.contains(&true))
        }
        Json::Object(fields) => {
            let mut any = false;
            let fields = fields.iter().map(|(name, value)| {
                let (value, found) = with_prompt(value, prompt);
                any |= found;
                (name.to_owned(), value)
            });
            let object = Json::object(fields.collect::<Vec<_>>());
            (object, any)
        }
        other => (other.clone(), false),
    }
}

/// A value as TOML writes it in one line; `None` if it holds a null or a number that TOML does not have.
fn inline(value: &Json) -> Option<String> {
    Some(match value {
        Json::Null | Json::BigInt(_) => return None,
        Json::Float(number) if !number.is_finite() => return None,
        Json::Str(text) => quoted(text),
        Json::Array(list) => format!("[{}]", list.iter().map(inline).collect::<Option<Vec<_>>>()?.join(", ")),
        Json::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Json::Object(fields) => {
            let field = |(name, value): (&str, &Json)| Some(format!("{} = {}", quoted(name), inline(value)?));
            format!("{{ {} }}", fields.iter().map(field).collect::<Option<Vec<_>>>()?.join(", "))
        }
        other => other.print(Layout::Compact),
    })
}

fn quoted(text: &str) -> String {
    Json::from(text).print(Layout::Compact).replace('\u{7f}', "\\u007F")
}

/// A text that no template engine changes.
fn raw(text: &str) -> String {
    let is_template = ["{{", "{%", "{#"].iter().any(|begin| text.contains(begin));
    if is_template { format!("{{% raw %}}{text}{{% endraw %}}") } else { text.to_owned() }
}
