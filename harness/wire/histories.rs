//! Reads the calls of a session. An agent repeats all earlier messages with each call, so an element of the conversation that an
//! earlier call had at the same place, after the same elements, is recognized by its text and not read again.
//!
//! The elements are compared and not the bodies: some agents move a mark from message to message (Anthropic's `cache_control`),
//! and what follows such a message is still the same. A text that is not recognized costs time, and changes nothing.

use std::collections::HashMap;

use super::decode::{keeping_order, with_version};
use super::request::{Before, Pending, Reader, ToolNames};
use super::{Api, Call, Shared, Target, anthropic, bedrock, gemini, ollama, openai_chat, openai_responses};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::key::{Normalizer, RunningHash};

/// How many bytes of elements are remembered. Beyond that, all of them are forgotten.
const LIMIT: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// What an element takes in addition to its text, and to the message that was read from it.
const EACH: usize = 512;

/// The elements of the calls so far, as a forest: what follows an element is below it.
#[derive(Debug, Default)]
pub struct Histories(Mutex<Forest>);

#[derive(Debug, Default)]
struct Forest {
    elements: Vec<Element>,
    /// The elements that follow an element, or begin a conversation, by a number that depends on their texts.
    below: HashMap<(Api, Option<usize>, u64), Vec<usize>>,
    bytes: usize,
}

/// One element of a conversation, with what was read up to here.
#[derive(Debug)]
struct Element {
    text: Box<str>,
    before: Option<usize>,
    /// The element that followed this one most recently.
    next: Option<usize>,
    messages: Vec<Shared>,
    /// What it leaves open.
    pending: Pending,
    /// The hash of all messages that are complete.
    hash: RunningHash,
}

fn reader_of(api: Api) -> Option<&'static Reader> {
    match api {
        Api::OpenAiChat => Some(&openai_chat::request::READER),
        Api::OpenAiResponses => Some(&openai_responses::request::READER),
        Api::Anthropic => Some(&anthropic::request::READER),
        Api::Gemini => Some(&gemini::request::READER),
        Api::Ollama => Some(&ollama::request::READER),
        Api::Bedrock => Some(&bedrock::request::READER),
        Api::BedrockInvoke | Api::Declared(_) | Api::Opaque => None,
    }
}

impl Histories {
    /// Reads a call, and the hash of its conversation. The normalizer has to be the same for all calls. Returns `None` if only [`decode`](super::decode()) can read
    /// the call, or can say what is wrong with it.
    pub fn read(
        &self,
        api: Api,
        target: Target<'_>,
        body: &[u8],
        normalizer: &Normalizer,
    ) -> Option<(Call, RunningHash)> {
        let reader = reader_of(api)?;
        let (rest, elements) = Json::parse_request_around(body, reader.list)?;
        if api == Api::OpenAiResponses && openai_responses::request::goes_on(&rest) {
            return None;
        }
        let (messages, hash) = {
            let mut forest = self.0.lock();
            let end = forest.read(api, &elements, normalizer)?;
            forest.conversation(api, end, normalizer)
        };
        let call = (reader.around)(target.path, &rest, messages).ok()?;
        Some((with_version(call, target), hash))
    }
}

impl Forest {
    /// Finds or reads the elements of a conversation. Returns the last one.
    fn read(&mut self, api: Api, texts: &[&str], normalizer: &Normalizer) -> Option<usize> {
        if self.bytes > LIMIT {
            *self = Forest::default();
        }
        let mut last = None;
        for text in texts {
            let known = self.follows(last, text).or_else(|| self.below(api, last, text));
            let index = match known {
                Some(known) => known,
                None => self.add(api, last, text, normalizer)?,
            };
            if let Some(last) = last {
                self.elements[last].next = Some(index);
            }
            last = Some(index);
        }
        last
    }

    fn follows(&self, last: Option<usize>, text: &str) -> Option<usize> {
        self.elements[last?].next.filter(|next| *self.elements[*next].text == *text)
    }

    fn below(&self, api: Api, last: Option<usize>, text: &str) -> Option<usize> {
        let alike = self.below.get(&(api, last, sample(text)))?;
        alike.iter().copied().find(|index| *self.elements[*index].text == *text)
    }

    /// Reads an element that follows another one.
    fn add(&mut self, api: Api, last: Option<usize>, text: &str, normalizer: &Normalizer) -> Option<usize> {
        let mut json = Json::parse_element(text)?;
        keeping_order(api, &mut json, text);
        let (mut hash, pending) = last.map_or_else(Default::default, |last| {
            let Element { hash, pending, .. } = &self.elements[last];
            (hash.clone(), pending.clone())
        });
        let earlier = |id: &str| self.name_of(last, id);
        let mut before = Before { names: ToolNames::after(&earlier), pending };
        json.as_object()?;
        let messages = (reader_of(api)?.element)(&json, &mut before).ok()?;
        let pending = before.pending;
        for message in &messages {
            hash.add(message, normalizer);
        }
        let messages = messages.into_iter().map(Shared::from).collect();
        let index = self.elements.len();
        self.elements.push(Element { text: text.into(), before: last, next: None, messages, pending, hash });
        self.below.entry((api, last, sample(text))).or_default().push(index);
        // The message that was read from a text is about as long.
        self.bytes += 2 * text.len() + EACH;
        Some(index)
    }

    /// The elements up to one, last one first.
    fn back_from(&self, last: Option<usize>) -> impl Iterator<Item = &Element> {
        std::iter::successors(last, |index| self.elements[*index].before).map(|index| &self.elements[index])
    }

    /// Returns the name of the tool that was called last with an id.
    fn name_of(&self, last: Option<usize>, id: &str) -> Option<String> {
        let messages = self.back_from(last).flat_map(|element| element.messages.iter().rev());
        let mut calls = messages.flat_map(|message| message.tool_calls.iter().rev());
        calls.find(|call| call.id == id).map(|call| call.name.clone())
    }

    /// Returns the messages up to an element, and their hash.
    fn conversation(&self, api: Api, last: usize, normalizer: &Normalizer) -> (Vec<Shared>, RunningHash) {
        let Element { hash, pending, .. } = &self.elements[last];
        let mut hash = hash.clone();
        let mut messages: Vec<Shared> =
            self.back_from(Some(last)).flat_map(|element| element.messages.iter().rev()).cloned().collect();
        messages.reverse();
        if api == Api::OpenAiResponses
            && let Some(message) = openai_responses::request::last(pending.clone())
        {
            hash.add(&message, normalizer);
            messages.push(message.into());
        }
        (messages, hash)
    }
}

/// Returns a number that most different texts do not share. Equal numbers are followed by a comparison.
fn sample(text: &str) -> u64 {
    const PLACES: usize = 16;
    let bytes = text.as_bytes();
    let word = |place: usize| {
        let at = bytes.len().saturating_sub(8) * place / (PLACES - 1);
        bytes[at..].iter().take(8).fold(0_u64, |word, byte| (word << 8) | u64::from(*byte))
    };
    (0..PLACES).fold(bytes.len() as u64, |number, place| {
        (number.rotate_left(5) ^ word(place)).wrapping_mul(0x517c_c1b7_2722_0a95)
    })
}

#[cfg(test)]
mod tests;
