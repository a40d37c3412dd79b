//! A recorded response as an [`Answer`].

use super::items::tool_call;
use crate::conversation::{Answer, Block, Finish, Native, Usage};
use crate::json::Json;
use crate::wire::Api;
use crate::wire::fields::{self, WireError};

pub(in crate::wire) fn of_json(body: &Json) -> Result<Answer, WireError> {
    if let Some(error) = fields::given(body, "error") {
        return Err(WireError::of_provider(error));
    }
    if fields::given(body, "output").is_none() {
        return Err(WireError::expected("output", "an array", body.get("output")));
    }
    let blocks: Vec<Block> = fields::each(body, "output", item)?.into_iter().flatten().collect();
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let finish = match fields::optional_string(body, "status")? {
        None | Some("completed") => {
            if calls {
                Finish::ToolCalls
            } else {
                Finish::Stop
            }
        }
        Some("incomplete") => match body.pointer("/incomplete_details/reason").and_then(Json::as_str) {
            Some("max_output_tokens") | None => Finish::Length,
            Some(word) => Finish::from_word(word),
        },
        Some(status) => return Err(WireError::new(format!("an incomplete answer: its status is {status:?}"))),
    };
    let usage = fields::optional_object(body, "usage")?.map(|usage| {
        let count = |key| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
        Usage { input: count("input_tokens"), output: count("output_tokens") }
    });
    Ok(Answer {
        id: fields::optional_string(body, "id")?.map(str::to_owned),
        model: fields::optional_string(body, "model")?.map(str::to_owned),
        blocks,
        finish: Some(finish),
        usage,
    })
}

/// The blocks of an item. Encrypted thoughts say nothing to other APIs; this one replays them as they came.
fn item(item: &Json) -> Result<Vec<Block>, WireError> {
    match fields::string(item, "type")? {
        "message" => {
            let parts = fields::each(item, "content", |part| {
                Ok(match fields::string(part, "type")? {
                    "output_text" | "text" => Block::Text(fields::string(part, "text")?.to_owned()),
                    "refusal" => Block::Refusal(fields::string(part, "refusal")?.to_owned()),
                    _ => native(part),
                })
            })?;
            let empty = |block: &Block| matches!(block, Block::Text(text) | Block::Refusal(text) if text.is_empty());
            Ok(parts.into_iter().filter(|block| !empty(block)).collect())
        }
        "reasoning" => {
            let texts = |key| fields::each(item, key, |part| Ok(part.str_of("text").unwrap_or_default().to_owned()));
            let (summary, content) = (texts("summary")?.join("\n\n"), texts("content")?.concat());
            let text = if summary.is_empty() { content } else { summary };
            Ok(Some(text).filter(|text| !text.is_empty()).map(Block::Reasoning).into_iter().collect())
        }
        _ => Ok(vec![tool_call(item)?.map_or_else(|| native(item), Block::ToolCall)]),
    }
}

fn native(block: &Json) -> Block {
    Block::Native(Native { api: Api::OpenAiResponses.name().to_owned(), block: block.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::ToolCall;

    fn answer(text: &str) -> Result<Answer, String> {
        of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn items_keep_their_order() {
        let found = answer(
            r#"{"id": "resp_1", "model": "gpt-5", "status": "completed", "error": null,
                "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}, "output": [
                {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []},
                {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "a"},
                    {"type": "summary_text", "text": "b"}], "content": [{"type": "reasoning_text", "text": "c"}]},
                {"type": "reasoning", "id": "rs_3", "summary": [], "content": [{"type": "reasoning_text", "text": "d"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "e"},
                    {"type": "refusal", "refusal": "f"}, {"type": "output_text", "text": ""}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "g", "arguments": "{}"},
                {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "h", "input": "ls"},
                {"type": "web_search_call", "id": "ws_1"}]}"#,
        )
        .unwrap();
        let call = |id: &str, name: &str, args: Json| ToolCall { id: id.into(), name: name.into(), args };
        let search = Json::parse(br#"{"type": "web_search_call", "id": "ws_1"}"#).unwrap();
        let expected = [
            Block::Reasoning("a\n\nb".into()),
            Block::Reasoning("d".into()),
            Block::Text("e".into()),
            Block::Refusal("f".into()),
            Block::ToolCall(call("call_1", "g", Json::object::<String>([]))),
            Block::ToolCall(call("call_2", "h", "ls".into())),
            native(&search),
        ];
        assert_eq!(found.blocks, expected);
        assert_eq!((found.finish, found.usage), (Some(Finish::ToolCalls), Some(Usage { input: 3, output: 4 })));
    }

    #[test]
    fn a_status_is_why_the_model_stopped() {
        let finish = |rest: &str| answer(&format!(r#"{{"output": [], {rest}}}"#)).map(|answer| answer.finish.unwrap());
        assert_eq!(finish(r#""status": "completed""#), Ok(Finish::Stop));
        let incomplete = |reason: &str| {
            finish(&format!(r#""status": "incomplete", "incomplete_details": {{"reason": "{reason}"}}"#)).unwrap()
        };
        assert_eq!(incomplete("max_output_tokens"), Finish::Length);
        assert_eq!(incomplete("content_filter"), Finish::ContentFilter);
        assert_eq!(incomplete("other"), Finish::Other("other".into()));
        let queued = r#"an incomplete answer: its status is "queued""#;
        assert_eq!(finish(r#""status": "queued""#), Err(queued.into()));
        let failed = finish(r#""status": "failed", "error": {"code": "server_error", "message": "no"}"#);
        assert_eq!(failed, Err("the provider's error: no".into()));
        assert_eq!(answer("{}"), Err("output: expected an array, found nothing".into()));
    }
}
