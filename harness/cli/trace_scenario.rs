//! The scenario that `retake import … --scenario NAME` writes beside the fixture of a trace.

use std::path::Path;

use super::schemas;
use crate::formats::traces::Taken;
use retake_base::error::Result;
use retake_base::files;
use retake_core::json::{Json, Layout};

/// Marks what a person has to fill in.
const FILL_IN: &str = "# FILL IN:";

/// Writes the scenario of a trace. `fixture` is the name of its fixture.
/// Returns whether a person has to fill in its request, since the trace does not hold it.
pub(super) fn write(root: &Path, file: &Path, name: &str, fixture: &str, taken: &Taken) -> Result<bool> {
    let prompt = taken.prompt.as_deref().unwrap_or_default();
    let of_fixture = if fixture == name { String::new() } else { format!("fixture = {}\n", quoted(fixture)) };
    let request = taken.request.as_ref();
    let path = request.map_or_else(
        || format!("{FILL_IN} the path\npost   = \"/\""),
        |(method, path, _)| format!("{} = {}", method.to_lowercase(), quoted(&raw(path))),
    );
    let mut vars = format!("[vars]\nprompt = {}\n", quoted(&raw(prompt)));
    let known = request.and_then(|(.., body)| body.clone());
    let is_known = known.is_some();
    let json = if let Some(mut with_prompt) = known {
        if !put_prompt(&mut with_prompt, prompt) {
            vars.clear();
        }
        // TOML has no null.
        let inline = serde_json::from_str::<toml::Value>(&with_prompt.print(Layout::Compact));
        if let Ok(json) = inline {
            format!("json   = {json}")
        } else {
            let body = with_prompt.print(Layout::Pretty) + "\n";
            files::write_whole(&file.with_file_name("body.json"), body.as_bytes())?;
            "json_file = \"body.json\"".to_owned()
        }
    } else {
        format!("{FILL_IN} the body, with the prompt in its place\njson   = {{ message = \"{{{{ prompt }}}}\" }}")
    };
    let text = format!(
        "description = \"A conversation that happened in production\"\n{of_fixture}\n{vars}\n[[step]]\n{path}\n{json}\n{STREAM}{GOLDEN}"
    );
    files::write_whole(file, (schemas::OF_SCENARIO.to_owned() + &text).as_bytes())?;
    schemas::write(root)?;
    Ok(!is_known)
}

const STREAM: &str =
    "# FILL IN: `golden = true` instead, if the service answers with JSON and not with a stream\nstream = true\n";
const GOLDEN: &str = "\n[golden]\ndetail = \"types\"\n";

/// Puts a variable in the place of the prompt, and tells whether it was there.
fn put_prompt(body: &mut Json, prompt: &str) -> bool {
    match body {
        Json::Str(text) => {
            let is_prompt = text == prompt && !prompt.is_empty();
            *text = if is_prompt { "{{ prompt }}".to_owned() } else { raw(text) };
            is_prompt
        }
        Json::Array(list) => list.iter_mut().fold(false, |found, value| found | put_prompt(value, prompt)),
        Json::Object(fields) => fields.values_mut().fold(false, |found, value| found | put_prompt(value, prompt)),
        _ => false,
    }
}

fn quoted(text: &str) -> String {
    Json::from(text).print(Layout::Compact).replace('\u{7f}', "\\u007F")
}

/// A text that no template engine changes.
fn raw(text: &str) -> String {
    let is_template = ["{{", "{%", "{#"].iter().any(|begin| text.contains(begin));
    if is_template { format!("{{% raw %}}{text}{{% endraw %}}") } else { text.to_owned() }
}
