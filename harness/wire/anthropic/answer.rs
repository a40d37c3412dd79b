//! A recorded message as an [`Answer`].

use super::request::tool_use;
use crate::conversation::{Answer, Block, Finish, Native, Usage};
use crate::json::Json;
use crate::wire::Api;
use crate::wire::fields::{self, WireError};

pub(in crate::wire) fn of_json(body: &Json) -> Result<Answer, WireError> {
    if let Some(error) = fields::given(body, "error") {
        return Err(WireError::of_provider(error));
    }
    if fields::given(body, "content").is_none() {
        return Err(WireError::expected("content", "an array", body.get("content")));
    }
    let blocks = fields::each(body, "content", block)?.into_iter().flatten().collect();
    let usage = fields::optional_object(body, "usage")?.map(|usage| {
        let count = |key| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
        Usage { input: count("input_tokens"), output: count("output_tokens") }
    });
    Ok(Answer {
        id: fields::optional_string(body, "id")?.map(str::to_owned),
        model: fields::optional_string(body, "model")?.map(str::to_owned),
        blocks,
        finish: fields::optional_string(body, "stop_reason")?.map(finish),
        usage,
    })
}

/// One block. Encrypted thoughts and signatures say nothing to other APIs; this one replays them as they came.
fn block(block: &Json) -> Result<Option<Block>, WireError> {
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Ok(match fields::string(block, "type")? {
        "text" => filled(fields::string(block, "text")?).map(Block::Text),
        "thinking" => filled(fields::string(block, "thinking")?).map(Block::Reasoning),
        "redacted_thinking" => None,
        "tool_use" => Some(Block::ToolCall(tool_use(block)?)),
        _ => Some(Block::Native(Native { api: Api::Anthropic.name().to_owned(), block: block.clone() })),
    })
}

fn finish(word: &str) -> Finish {
    match word {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        other => Finish::from_word(other),
    }
}

/// The API's own word.
pub(super) fn stop_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::ToolCalls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::ContentFilter => "refusal",
        Finish::Other(word) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::ToolCall;

    fn answer(text: &str) -> Result<Answer, String> {
        of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn blocks_keep_their_order() {
        let found = answer(
            r#"{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use",
                "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 9},
                "content": [{"type": "thinking", "thinking": "Hm", "signature": "x"}, {"type": "text", "text": "a"},
                    {"type": "redacted_thinking", "data": "y"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, {"type": "text", "text": "b"}]}"#,
        )
        .unwrap();
        let call = ToolCall { id: "t".into(), name: "f".into(), args: Json::object::<String>([]) };
        let kinds: Vec<_> = found
            .blocks
            .iter()
            .map(|block| if let Block::Native(native) = block { native.kind() } else { "" })
            .collect();
        assert_eq!(kinds, ["", "", "", "web_search_tool_result", ""]);
        assert_eq!(found.blocks[..3], [Block::Reasoning("Hm".into()), Block::Text("a".into()), Block::ToolCall(call)]);
        assert_eq!((found.finish, found.usage), (Some(Finish::ToolCalls), Some(Usage { input: 3, output: 4 })));
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let cases = [
            ("{}", "content: expected an array, found nothing"),
            (
                r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
                "the provider's error: Overloaded",
            ),
            (r#"{"content": [{"type": "text"}]}"#, "content[0].text: expected a string, found nothing"),
        ];
        for (body, message) in cases {
            assert_eq!(answer(body), Err(message.to_owned()), "{body}");
        }
    }
}
