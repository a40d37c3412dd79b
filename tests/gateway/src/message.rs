//! The messages of a thread, in LangChain's form, which clients see.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{auth::new_id, mutants::mutant};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Message {
    Human { id: String, content: String },
    Ai { id: String, content: String, tool_calls: Vec<ToolCall>, response_metadata: ResponseMetadata },
    Tool { id: String, name: String, tool_call_id: String, content: String, status: String },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    /// An object, or the text itself if the model did not write valid JSON.
    pub(crate) args: Value,
    pub(crate) id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ResponseMetadata {
    pub(crate) finish_reason: String,
    pub(crate) model_name: String,
    pub(crate) token_usage: TokenUsage,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "its names on the wire")]
pub(crate) struct TokenUsage {
    pub(crate) prompt_tokens: u32,
    pub(crate) completion_tokens: u32,
    pub(crate) total_tokens: u32,
}

impl Message {
    pub(crate) fn human(content: String) -> Self {
        Self::Human { id: mutant!("question_id_empty", String::new(), new_id()), content }
    }

    /// Returns the text of the message.
    pub(crate) fn content(&self) -> &str {
        match self {
            Self::Human { content, .. } | Self::Ai { content, .. } | Self::Tool { content, .. } => content,
        }
    }

    /// Whether this is the result of a tool that failed.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Tool { status, .. } if status == "error")
    }

    /// Returns the messages of user and assistant, one on each line, without the tools.
    pub(crate) fn transcript(messages: &[Self]) -> String {
        let lines = messages.iter().filter_map(|message| match message {
            Self::Human { content, .. } => Some(format!("User: {content}")),
            Self::Ai { .. } if mutant!("transcript_without_answers") => None,
            Self::Tool { content, .. } if mutant!("transcript_with_tools") => Some(format!("Tool: {content}")),
            Self::Ai { content, .. } if !content.is_empty() || mutant!("transcript_empty_lines") => {
                Some(format!("Assistant: {content}"))
            }
            _ => None,
        });
        let mut lines: Vec<_> = lines.collect();
        if mutant!("transcript_last_only") {
            lines.drain(..lines.len().saturating_sub(2));
        }
        lines.join("\n")
    }
}
