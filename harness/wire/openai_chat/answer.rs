//! Decodes a recorded JSON response into an [`Answer`]. The decoder of streams uses parts of this code.

use super::tool_calls;
use crate::Api;
use crate::parts::fields::{self, WireError};
use retake_core::conversation::{Answer, Block, Finish, Native, ToolCall, Usage};
use retake_core::json::Json;

pub(crate) fn of_json(body: &Json) -> Result<Answer, WireError> {
    let mut draft = Draft::default();
    draft.read_head(body)?;
    let choice = first_choice(body)?.ok_or_else(|| WireError::new("choices: expected at least one, found none"))?;
    let mut read = |message| {
        draft.read_message(message)?;
        tool_calls::of_message(message)
    };
    let message = fields::object(choice, "message");
    let calls = message.and_then(|message| read(message).map_err(|error| error.within("message")));
    let calls = calls.map_err(|error| error.within("choices[0]"))?;
    draft.read_finish(choice)?;
    Ok(draft.into_answer(calls))
}

/// Returns the choice that the answer is taken from: the first one, even if the call asked for several.
pub(super) fn first_choice(body: &Json) -> Result<Option<&Json>, WireError> {
    let choices = match fields::given(body, "choices") {
        None => return Ok(None),
        Some(Json::Array(choices)) => choices,
        found => return Err(WireError::expected("choices", "an array", found)),
    };
    match choices.iter().find(|choice| !matches!(choice.get("index"), Some(Json::Int(1..)))) {
        found @ (None | Some(Json::Object(_))) => Ok(found),
        found => Err(WireError::expected("choices[0]", "an object", found)),
    }
}

/// An answer that is being read. A message has one string for each kind of text, so the order of the kinds is not known.
#[derive(Default)]
pub(super) struct Draft {
    id: Option<String>,
    model: Option<String>,
    reasoning: String,
    text: String,
    refusal: String,
    /// Parts that only this API can express.
    native: Vec<Json>,
    pub(super) finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Draft {
    /// Reads the top-level fields that a response and each chunk of a stream have.
    pub(super) fn read_head(&mut self, body: &Json) -> Result<(), WireError> {
        fields::no_error(body)?;
        // Azure begins a stream with a chunk in which id and model are empty.
        let word = |key| body.str_of(key).filter(|word| !word.is_empty()).map(str::to_owned);
        self.id = self.id.take().or_else(|| word("id"));
        self.model = self.model.take().or_else(|| word("model"));
        // Groq's streams put the usage in a different place.
        let usage = fields::given(body, "usage").or_else(|| body.pointer("/x_groq/usage"));
        if let Some(usage @ Json::Object(_)) = usage {
            let [cached, reasoning] =
                ["/prompt_tokens_details/cached_tokens", "/completion_tokens_details/reasoning_tokens"];
            let places = ["/prompt_tokens", "/completion_tokens", cached, "", reasoning];
            self.usage = Some(fields::usage(usage, places));
        }
        Ok(())
    }

    /// Reads the texts of a message, or of a stream's delta.
    pub(super) fn read_message(&mut self, message: &Json) -> Result<(), WireError> {
        // DeepSeek calls the field `reasoning_content`, Groq and OpenRouter call it `reasoning`. Some services send both, with
        // the same text.
        let mut reasoning = ["reasoning_content", "reasoning"].into_iter().filter_map(|key| message.str_of(key));
        self.reasoning.push_str(reasoning.find(|text| !text.is_empty()).unwrap_or_default());
        self.refusal.push_str(fields::optional_string(message, "refusal")?.unwrap_or_default());
        match fields::given(message, "content") {
            None => Ok(()),
            Some(Json::Str(text)) => {
                self.text.push_str(text);
                Ok(())
            }
            Some(Json::Array(_)) => fields::each(message, "content", |part| self.read_part(part)).map(|_| ()),
            found => Err(WireError::expected("content", "a string or an array", found)),
        }
    }

    fn read_part(&mut self, part: &Json) -> Result<(), WireError> {
        match fields::string(part, "type")? {
            "text" => self.text.push_str(fields::string(part, "text")?),
            "refusal" => self.refusal.push_str(fields::string(part, "refusal")?),
            // Mistral sends a list of parts here; services that follow Anthropic send a string.
            "thinking" => match fields::given(part, "thinking") {
                Some(Json::Str(text)) => self.reasoning.push_str(text),
                _ => fields::each(part, "thinking", |part| {
                    self.reasoning.push_str(part.str_of("text").unwrap_or_default());
                    Ok(())
                })
                .map(|_| ())?,
            },
            _ => self.native.push(part.clone()),
        }
        Ok(())
    }

    /// Reads the finish reason, if the choice has one.
    pub(super) fn read_finish(&mut self, choice: &Json) -> Result<(), WireError> {
        let word = fields::optional_string(choice, "finish_reason").map_err(|error| error.within("choices[0]"))?;
        match word {
            None | Some("") => {}
            Some("function_call") => self.finish = Some(Finish::ToolCalls),
            Some(word) => self.finish = Some(Finish::from_word(word)),
        }
        Ok(())
    }

    pub(super) fn into_answer(self, calls: Vec<ToolCall>) -> Answer {
        let texts = [Block::Reasoning(self.reasoning), Block::Text(self.text), Block::Refusal(self.refusal)];
        let filled = texts.into_iter().filter(|block| match block {
            Block::Reasoning(text) | Block::Text(text) | Block::Refusal(text) => !text.is_empty(),
            Block::ToolCall(_) | Block::Native(_) => true,
        });
        let api = Api::OpenAiChat.name();
        let native = self.native.into_iter().map(|block| Block::Native(Native { api: api.to_owned(), block }));
        let blocks = filled.chain(native).chain(calls.into_iter().map(Block::ToolCall)).collect();
        Answer { id: self.id, model: self.model, blocks, finish: self.finish, usage: self.usage }
    }
}

#[cfg(test)]
mod tests;
