//! TOML for a system that is a command, and for a scenario that uses it.

use super::service;

/// The variables that the system needs to call the model.
pub(crate) const MODEL: &str =
    r#"PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}""#;

/// Returns a `[systems.NAME]` table with additional environment variables and fields.
pub(crate) fn system(name: &str, env: &str, fields: &str) -> String {
    let command = service::command();
    let sep = if env.is_empty() { "" } else { ", " };
    format!("[systems.{name}]\ncommand = {command}\nenv = {{ {MODEL}{sep}{env} }}\n{fields}\n")
}

/// The field that says how to know that the system is ready.
pub(crate) const READY: &str = r#"ready = { http = "/health" }"#;

/// A scenario that sends one chat message.
pub(crate) const CHAT: &str = r#"
[[step]]
post = "/chat"
json = { message = "hello" }
stream = { last = "end" }
"#;
