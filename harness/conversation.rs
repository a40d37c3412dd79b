//! Messages, tool calls and answers, in no provider's words. Pure data; everything passes through these types.

use crate::json::Json;

/// The kind of the one message that stands for a request of no chat model: its content is the request's body, `null` where
/// it has none.
pub(crate) const OPAQUE: &str = "opaque";

/// One message of a conversation, before it is normalized.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The LangChain name of who speaks: `human`, `ai`, `tool`, `system`; other names are kept as they are.
    pub kind: String,
    /// A string, or a list of content blocks.
    pub content: Json,
    /// A user's or a tool's name, where there is one.
    pub name: Option<String>,
    /// The calls an `ai` message makes.
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call that a `tool` message answers.
    pub tool_call_id: Option<String>,
    /// Whether a `tool` message says of itself that it is an error.
    pub failed: bool,
    /// Injected by a framework and not shown to users: no part of the key.
    pub hidden: bool,
}

impl Message {
    /// A message of a kind with plain text.
    pub fn new(kind: &str, text: impl Into<String>) -> Message {
        Message {
            kind: kind.to_owned(),
            content: Json::Str(text.into()),
            name: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            failed: false,
            hidden: false,
        }
    }
}

/// One call of a tool that a model asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id of the call; may be empty.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, an object as a rule; a string where they did not parse.
    pub args: Json,
}

/// What a model answered, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The provider's id of the answer, where it was recorded: ids leak into event streams, so they are replayed.
    pub id: Option<String>,
    /// The model that answered, by its own word.
    pub model: Option<String>,
    /// Text, reasoning, tool calls and the rest, in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped.
    pub finish: Option<Finish>,
    /// Tokens, where they were reported.
    pub usage: Option<Usage>,
}

/// One piece of an [`Answer`].
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// The model's own thoughts; no part of a key.
    Reasoning(String),
    /// A refusal to answer.
    Refusal(String),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// What only one provider's API can say.
    Native(Native),
}

/// A block that only one provider's API can say: a tool that the provider ran itself, its result, an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// The name of the API, as fixtures store it.
    pub api: String,
    /// The block as that API says it.
    pub block: Json,
}

impl Native {
    /// What it is, by its API's own word: its `type`, or the name of its only field.
    #[must_use]
    pub fn kind(&self) -> &str {
        let field = || self.block.as_object()?.keys().find(|key| *key != "thoughtSignature");
        self.block.str_of("type").or_else(field).unwrap_or("block")
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// It waits for tool results.
    ToolCalls,
    /// The token limit cut it.
    Length,
    /// A filter cut it.
    ContentFilter,
    /// A provider's own word.
    Other(String),
}

impl Finish {
    /// The neutral word, as fixtures hold it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            Finish::Other(word) => word,
        }
    }

    /// From the neutral word.
    #[must_use]
    pub fn from_word(word: &str) -> Finish {
        match word {
            "stop" => Finish::Stop,
            "tool_calls" => Finish::ToolCalls,
            "length" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            other => Finish::Other(other.to_owned()),
        }
    }
}

/// Tokens of one model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, all of them.
    pub input: u64,
    /// Tokens written, all of them.
    pub output: u64,
    /// Those of the input that came from the provider's cache.
    pub cached: u64,
    /// Those of the input that went into the provider's cache.
    pub cache_written: u64,
    /// Those of the output that nobody sees: the model's own thoughts.
    pub reasoning: u64,
}

/// What stands in place of an API's name in an answer that none can say.
const THE_RECORDING: &str = "the recording";

impl Answer {
    /// What stands for a response that says nothing in neutral words, a provider's error as a rule. Its own API sends it
    /// as it came; another API answers that it cannot express it.
    #[must_use]
    pub fn untold(kind: impl Into<String>) -> Answer {
        let block = Json::object([("type", Json::Str(kind.into()))]);
        Answer { blocks: vec![Block::Native(Native { api: THE_RECORDING.to_owned(), block })], ..Answer::default() }
    }

    /// Whether it stands for such a response.
    #[must_use]
    pub(crate) fn is_untold(&self) -> bool {
        matches!(&self.blocks[..], [Block::Native(native)] if native.api == THE_RECORDING)
    }

    /// The text blocks, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(|b| if let Block::Text(t) = b { Some(t.as_str()) } else { None }).collect()
    }

    /// The tool calls, in order.
    #[must_use]
    pub fn tool_calls(&self) -> Vec<&ToolCall> {
        self.blocks.iter().filter_map(|b| if let Block::ToolCall(c) = b { Some(c) } else { None }).collect()
    }

    /// The `ai` message that an agent keeps of this answer: text, native blocks and tool calls, no reasoning.
    #[must_use]
    pub fn to_message(&self) -> Message {
        let content = if self.blocks.iter().any(|block| matches!(block, Block::Native(_))) {
            let blocks = self.blocks.iter().filter_map(|block| match block {
                Block::Text(text) => Some(Json::object([("type", "text".into()), ("text", text.as_str().into())])),
                Block::Native(native) => Some(native.block.clone()),
                Block::Reasoning(_) | Block::Refusal(_) | Block::ToolCall(_) => None,
            });
            Json::Array(blocks.collect())
        } else {
            Json::Str(self.text())
        };
        let tool_calls = self.tool_calls().into_iter().cloned().collect();
        Message { content, tool_calls, ..Message::new("ai", "") }
    }
}
