//! What a live tool returned: one of three kinds of result, and the event that the log shows for it. Pure.

use retake_core::json::{Json, Layout, Object};

/// One observation of a live tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Observed {
    /// The content of a result, and whether the call failed. A tool server, a command or a plain text returns nothing else.
    Content {
        content: Json,
        is_error: bool,
        structured: Option<Json>,
    },
    /// An observation with fields of its own, all of which are compared.
    Payload(Object),
    Event(Json),
}

impl Observed {
    /// The observation of a tool that returned a text.
    pub(crate) fn text(text: impl Into<String>) -> Observed {
        Observed::Content { content: Json::Str(text.into()), is_error: false, structured: None }
    }

    /// The observation of a tool that failed.
    pub(crate) fn error(text: impl Into<String>) -> Observed {
        Observed::Content { content: Json::Str(text.into()), is_error: true, structured: None }
    }

    /// Returns the observations that a JSON value stands for. A text is content. A list of events is one observation for each
    /// event. An object is an event if it has an `observation` or is an agent's error; otherwise it holds the fields of an
    /// observation. Any other value is content, printed as JSON.
    pub(crate) fn of_value(value: Json) -> Vec<Observed> {
        match value {
            Json::Str(text) => vec![Observed::text(text)],
            Json::Array(values) if !values.is_empty() && values.iter().all(is_event) => {
                values.into_iter().map(Observed::Event).collect()
            }
            event if is_event(&event) => vec![Observed::Event(event)],
            Json::Object(mut fields) => {
                // MCP spells the field `isError`.
                if let Some(is_error) = fields.remove("isError") {
                    fields.insert("is_error".into(), is_error);
                }
                vec![Observed::Payload(fields)]
            }
            other => {
                let content = Json::Str(other.print(Layout::Python));
                vec![Observed::Content { content, is_error: false, structured: Some(other) }]
            }
        }
    }

    /// Returns the event that the log shows.
    pub(crate) fn event(&self, tool: &str) -> Json {
        let observation = match self {
            Observed::Event(event) => return event.clone(),
            Observed::Payload(fields) => Json::Object(fields.clone()),
            Observed::Content { content, is_error, structured } => {
                let structured = structured.iter().map(|value| ("structured_content", value.clone()));
                Json::object(
                    [("content", content.clone()), ("is_error", (*is_error).into())].into_iter().chain(structured),
                )
            }
        };
        observation_event(Some(tool), observation)
    }
}

/// The event of an observation. Where a recording does not name the tool, neither does the event.
pub(super) fn observation_event(tool: Option<&str>, observation: Json) -> Json {
    Json::object([("kind", "ObservationEvent".into()), ("tool_name", tool.into()), ("observation", observation)])
}

fn is_event(value: &Json) -> bool {
    let kind = value.str_of("kind").unwrap_or_default();
    value.get("observation").is_some() || matches!(kind, "AgentErrorEvent" | "UserRejectObservation")
}
