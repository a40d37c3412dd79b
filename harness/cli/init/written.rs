//! The text of the first `suite.toml` and of the first scenario: what was tried, and marks at what was not.

use std::path::Path;

use super::probe::Seen;
use super::requests::Tried;
use super::routes::PROMPT;
use super::sources::Sources;
use super::start::{Start, UNKNOWN, declared};
use crate::new;

/// What is in the names of the packages of an SDK, and the variables that it reads.
const SDKS: [[&str; 2]; 4] = [
    ["openai", "OPENAI_BASE_URL=model.openai OPENAI_API_KEY=model.key"],
    ["anthropic", "ANTHROPIC_BASE_URL=model.anthropic ANTHROPIC_API_KEY=model.key"],
    [
        "google-adk api_server google-genai org/genai @google/ ai-sdk/google gemini",
        "GOOGLE_GEMINI_BASE_URL=model.gemini GOOGLE_API_KEY=model.key GEMINI_API_KEY=model.key",
    ],
    ["ollama", "OLLAMA_HOST=model.ollama"],
];

/// The variables that a service gets in each run: its port, and the addresses and keys of the models whose SDKs a text names.
pub(super) fn variables(named: &str) -> Vec<(String, String)> {
    let read = SDKS.iter().filter(|[words, _]| words.split(' ').any(|word| named.contains(word)));
    let pairs = read.flat_map(|[_, pairs]| pairs.split(' ')).filter_map(|pair| pair.split_once('='));
    let all = [("PORT", "port")].into_iter().chain(pairs);
    all.map(|(name, value)| (name.to_owned(), format!("{{{{ {value} }}}}"))).collect()
}

/// The variables of the service in a folder that is started by a command: those of the SDKs that its files name, and those that it
/// reads itself.
pub(super) fn variables_of(folder: &Path, command: &str, sources: &Sources) -> Vec<(String, String)> {
    let told = sources.variables();
    let names: String = told.iter().map(|(name, _)| name.to_lowercase()).collect();
    let mut env = variables(&[&declared(folder), command, &sources.imports(), &names].concat());
    // Most services speak this API, so it is proposed where no file names another.
    if env.len() == 1 {
        env = variables(SDKS[0][0]);
    }
    for pair in told {
        if env.iter().all(|(known, _)| *known != pair.0) {
            env.push(pair);
        }
    }
    env
}

/// The variables of a service that is started only to look at it: those of all providers, so that none is reached.
pub(super) fn all_variables() -> Vec<(String, String)> {
    variables("openai anthropic gemini ollama")
}

/// Stands where the command has to be written.
const UNTOLD: &str =
    "# not known: no file says how the service is started. Write it here, or: retake init --probe -- ITS COMMAND
";

/// The head of `suite.toml` in a project whose system is a command. `seen` is what its start showed; without it, the lines that
/// nobody tried are marked.
pub(super) fn system(start: &Start, env: &[(String, String)], seen: Option<&Seen>, mark: &str) -> String {
    let Start { command, ready, .. } = seen.map_or(start, |seen| &seen.start);
    let words: Vec<String> = command.iter().map(|word| format!("{word:?}")).collect();
    let pairs: Vec<String> = env.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let mark = match seen {
        Some(_) => String::new(),
        None if command[..] == [UNKNOWN] => UNTOLD.to_owned(),
        None => format!("# not tried: {mark}\n"),
    };
    let port =
        seen.and_then(|seen| seen.port).map(|port| format!("port = {port}                # it takes no other\n"));
    let limit = if seen.is_some_and(|seen| seen.slow) { "120s" } else { "30s" };
    // An inline table has to be on one line.
    let (inline, table) = if pairs.len() > 3 {
        (String::new(), format!("\n[systems.agent.env]\n{}\n", pairs.join("\n")))
    } else {
        (format!("env = {{ {} }}\n", pairs.join(", ")), String::new())
    };
    let reached = seen.filter(|seen| !seen.reached.is_empty()).map(|seen| {
        let line = format!("# allow = {:?}\n", seen.reached);
        format!("# Besides its model, the service tried to reach this. With `egress = \"fail\"`, only what is listed passes.\n{line}\n")
    });
    format!(
        "{}# The agent service under test. Retake starts it for each scenario, with these variables, PATH, and
# its own home and temporary folders.
[systems.agent]
{mark}command = [{}]
{inline}{}ready = {{ {ready}, timeout = {limit:?} }}       # or {{ line = \"regex of a log line\" }}
{table}",
        reached.unwrap_or_default(),
        words.join(", "),
        port.unwrap_or_default(),
    )
}

/// Whether a file is as it was written, but for its command, which may have been corrected before it is tried.
pub(super) fn is_alike(there: &str, written: &str) -> bool {
    let is_of_all = |line: &&str| !line.starts_with("command = ") && !line.starts_with("# not ");
    there.lines().filter(is_of_all).eq(written.lines().filter(is_of_all))
}

/// The first scenario: the request that was tried, or the template.
pub(super) fn scenario(request: Option<&Tried>, mark: Option<&str>) -> String {
    let template = new::scenario("hello");
    let Some(Tried { path, body, sent_as, streams, .. }) = request else {
        let not_tried = |mark: &str| format!("# not tried: {mark}\n[[step]]");
        return mark.map_or_else(|| template.clone(), |mark| template.replacen("[[step]]", &not_tried(mark), 1));
    };
    let body = toml::Value::try_from(body).map(|body| format!("{sent_as}   = {body}\n")).unwrap_or_default();
    let body = body.replace(&format!("\"{PROMPT}\""), "\"{{ prompt }}\"");
    let taken = if *streams {
        "stream = true               # an event stream: its shape goes into goldens/hello.snap\n"
    } else {
        "golden = true               # the shape of the answer goes into goldens/hello.snap\n"
    };
    let step = format!(
        "# `retake init` has sent this once: the service called its model.\n[[step]]\npost   = {path:?}\n{body}{taken}\n"
    );
    let (before, rest) = template.split_once("[[step]]\n").unwrap_or((&template, ""));
    let after = rest.find("\n[").map_or("", |at| &rest[at + 1..]);
    let text = [before, &step, after].concat();
    if step.contains("{{ prompt }}") { text } else { text.replacen(VARS, "", 1) }
}

/// The variables of the template.
const VARS: &str = "[vars]\nprompt = \"Say hello\"\n\n";

#[cfg(test)]
mod tests;
