//! The model of a service that is only being looked at: it says the same few words to each call, over whichever API, so that the
//! service answers as it usually does, and nothing is paid.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Bytes;
use axum::http::request::Parts;

use super::routes::PROMPT;
use crate::scripted::{self, refused};
use retake_base::error::Result;
use retake_base::lock::Mutex;
use retake_core::conversation::{Answer, Block, Finish, Usage};
use retake_core::json::Layout;
use retake_wire::{self as wire, Known, Response, Target};

const WORDS: &str = "Hello from no model at all.";

/// A model that is listening.
pub(super) struct Model {
    pub(super) address: SocketAddr,
    calls: Arc<AtomicUsize>,
    /// The calls that said what the person says.
    said: Arc<AtomicUsize>,
    /// The names of the APIs over which they came.
    apis: Arc<Mutex<String>>,
}

impl Model {
    pub(super) async fn start() -> Result<Model> {
        let (calls, said) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let apis = Arc::new(Mutex::new(String::new()));
        let (counted, heard, over) = (calls.clone(), said.clone(), apis.clone());
        let address = scripted::listen(scripted::FREE, move |parts, body| {
            counted.fetch_add(1, Ordering::Relaxed);
            answer(parts, body, &heard, &over)
        });
        Ok(Model { address: address.await?, calls, said, apis })
    }

    /// How many calls have come, and how many of them said what the person says.
    pub(super) fn calls(&self) -> (usize, usize) {
        (self.calls.load(Ordering::Relaxed), self.said.load(Ordering::Relaxed))
    }

    /// The names of the APIs over which calls have come, in one text.
    pub(super) fn apis(&self) -> String {
        self.apis.lock().clone()
    }
}

fn answer(parts: &Parts, body: &Bytes, heard: &AtomicUsize, over: &Mutex<String>) -> Response {
    let target = Target { method: parts.method.as_str(), path: scripted::path(parts) };
    let (api, body) = match scripted::chat(target, body) {
        Ok(read) => read,
        Err(answer) => return answer,
    };
    *over.lock() += api.name();
    let said = Answer {
        blocks: vec![Block::Text(WORDS.to_owned())],
        finish: Some(Finish::Stop),
        usage: Some(Usage { input: 1, output: 1, ..Usage::default() }),
        ..Answer::default()
    };
    let call = match wire::decode(api, target, &body, &Known::default()) {
        Ok(call) => call,
        Err(error) => return refused(api, &error.to_string()),
    };
    // Where the API has its texts: a field that it does not know reaches no model.
    let says = call.messages.iter().any(|message| message.content.print(Layout::Compact).contains(PROMPT));
    heard.fetch_add(usize::from(says), Ordering::Relaxed);
    wire::render(&said, &call.render_for("retake")).unwrap_or_else(|error| refused(api, &error.to_string()))
}
