//! A system of `suite.toml` that is a command, and a scenario that asks it.

use super::service;

/// The environment of the system: what it needs to call the model.
pub(crate) const MODEL: &str =
    r#"PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}""#;

/// A system in `suite.toml`, with more of its environment and more fields.
pub(crate) fn system(name: &str, env: &str, fields: &str) -> String {
    let command = service::command();
    let sep = if env.is_empty() { "" } else { ", " };
    format!("[systems.{name}]\ncommand = {command}\nenv = {{ {MODEL}{sep}{env} }}\n{fields}\n")
}

/// How the system is ready.
pub(crate) const READY: &str = r#"ready = { http = "/health" }"#;

/// A scenario that asks once.
pub(crate) const CHAT: &str = r#"
[[step]]
post = "/chat"
json = { message = "hello" }
stream = { last = "end" }
"#;
