//! Messages, tool calls and answers in a form that belongs to no provider. Pure data, which the whole library uses.

use crate::json::Json;

/// The kind of the single message that represents a request to something other than a chat model. The message's content is
/// the body of the request, or `null` if it has none.
pub const OPAQUE: &str = "opaque";

/// One message of a conversation, before it is normalized.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// The LangChain name of the message's type: `human`, `ai`, `tool` or `system`. Other names are kept as they are.
    pub kind: String,
    /// A string, or a list of content blocks.
    pub content: Json,
    /// The name of the user or the tool, if the message has one.
    pub name: Option<String>,
    /// The tool calls of an `ai` message.
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call that a `tool` message answers.
    pub tool_call_id: Option<String>,
    /// Whether a `tool` message is marked as an error.
    pub failed: bool,
    /// Whether a framework injected the message and hides it from users. The key leaves such messages out.
    pub hidden: bool,
    /// What counts for no key: the role of a prompt, and which parts of the content may be cached. Null if there is nothing.
    pub extra: Json,
}

impl Message {
    /// Creates a message of a kind with plain text.
    pub fn new(kind: &str, text: impl Into<String>) -> Message {
        Message { kind: kind.to_owned(), content: Json::Str(text.into()), ..Message::default() }
    }
}

/// One call of a tool that a model requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id of the call, which may be empty.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments: usually an object, or a string if they could not be parsed.
    pub args: Json,
}

/// The answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The provider's id of the answer, if it was recorded. It is replayed, since such ids end up in event streams.
    pub id: Option<String>,
    /// The model's name, as the response gives it.
    pub model: Option<String>,
    /// Text, reasoning, tool calls and other blocks, in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped.
    pub finish: Option<Finish>,
    /// The numbers of tokens, if they were reported.
    pub usage: Option<Usage>,
}

/// One piece of an [`Answer`].
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// The model's reasoning, which is not part of any key.
    Reasoning(String),
    /// A refusal to answer.
    Refusal(String),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A block that only one provider's API can express.
    Native(Native),
}

/// A block that only one provider's API can express: a tool that the provider ran itself, the result of one, or an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// The name of the API, as fixtures store it.
    pub api: String,
    /// The block in that API's own form.
    pub block: Json,
}

impl Native {
    /// Returns what its API calls the block: its `type`, or the name of its only field.
    pub fn kind(&self) -> &str {
        let field = || self.block.as_object()?.keys().map(|key| &**key).find(|key| *key != "thoughtSignature");
        self.block.str_of("type").or_else(field).unwrap_or("block")
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// The model waits for tool results.
    ToolCalls,
    /// The token limit cut the answer off.
    Length,
    /// A content filter cut the answer off.
    ContentFilter,
    /// A provider's own reason.
    Other(String),
}

impl Finish {
    /// Returns the neutral word, as fixtures store it.
    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            Finish::Other(word) => word,
        }
    }

    /// Returns the reason for a neutral word.
    pub fn from_word(word: &str) -> Finish {
        let known = [Finish::Stop, Finish::ToolCalls, Finish::Length, Finish::ContentFilter];
        known.into_iter().find(|finish| finish.as_str() == word).unwrap_or_else(|| Finish::Other(word.to_owned()))
    }
}

/// The numbers of tokens of one model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input tokens.
    pub input: u64,
    /// All output tokens.
    pub output: u64,
    /// Input tokens that came from the provider's cache.
    pub cached: u64,
    /// Input tokens that the provider wrote to its cache.
    pub cache_written: u64,
    /// Output tokens of the model's reasoning.
    pub reasoning: u64,
}

/// Takes the place of an API's name in a block that no API can express.
const THE_RECORDING: &str = "the recording";

impl Answer {
    /// Creates the answer for a response that has no neutral form, usually a provider's error. Over the API that it was
    /// recorded from, the response is replayed as it came; over another API, replay fails because it cannot express it.
    pub fn untold(kind: impl Into<String>) -> Answer {
        let block = Json::object([("type", Json::Str(kind.into()))]);
        Answer { blocks: vec![Block::Native(Native { api: THE_RECORDING.to_owned(), block })], ..Answer::default() }
    }

    /// Whether the answer was created by [`untold`](Answer::untold). There may be a text before what has no neutral form.
    pub fn is_untold(&self) -> bool {
        matches!(self.blocks.last(), Some(Block::Native(native)) if native.api == THE_RECORDING)
    }

    /// Returns the joined text blocks.
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(|b| if let Block::Text(t) = b { Some(t.as_str()) } else { None }).collect()
    }

    /// Returns the tool calls, in order.
    pub fn tool_calls(&self) -> Vec<&ToolCall> {
        self.blocks.iter().filter_map(|b| if let Block::ToolCall(c) = b { Some(c) } else { None }).collect()
    }

    /// Returns the `ai` message that an agent adds to its history for this answer: text, native blocks and tool calls, but no
    /// reasoning.
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
        Message { content, tool_calls: self.tool_calls().into_iter().cloned().collect(), ..Message::new("ai", "") }
    }
}
