//! The model of a service that is only being looked at: it says the same few words to each call, over whichever API, so that the
//! service answers as it usually does, and nothing is paid.

use std::net::SocketAddr;
use std::sync::Arc;

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
    /// Of each call that has come, the name of its API, and whether it said what the person says.
    calls: Arc<Mutex<Vec<(&'static str, bool)>>>,
}

impl Model {
    pub(super) async fn start() -> Result<Model> {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let heard = calls.clone();
        let address = scripted::listen(scripted::FREE, move |parts, body| {
            let mut call = ("", false);
            let response = answer(parts, body, &mut call).unwrap_or_else(|refusal| refusal);
            heard.lock().push(call);
            response
        });
        Ok(Model { address: address.await?, calls })
    }

    /// How many calls have come, and how many of them said what the person says.
    pub(super) fn calls(&self) -> (usize, usize) {
        let calls = self.calls.lock();
        (calls.len(), calls.iter().filter(|(_, says)| *says).count())
    }

    /// The names of the APIs over which calls have come, in one text.
    pub(super) fn apis(&self) -> String {
        self.calls.lock().iter().map(|(api, _)| *api).collect()
    }
}

fn answer(parts: &Parts, body: &Bytes, (over, says): &mut (&'static str, bool)) -> Result<Response, Response> {
    let target = Target { method: parts.method.as_str(), path: scripted::path(parts) };
    let (api, body) = scripted::chat(target, body)?;
    *over = api.name();
    let call = wire::decode(api, target, &body, &Known::default()).map_err(|error| refused(api, &error.to_string()))?;
    // Where the API has its texts: a field that it does not know reaches no model.
    *says = call.messages.iter().any(|message| message.content.print(Layout::Compact).contains(PROMPT));
    let said = Answer {
        blocks: vec![Block::Text(WORDS.to_owned())],
        finish: Some(Finish::Stop),
        usage: Some(Usage { input: 1, output: 1, ..Usage::default() }),
        ..Answer::default()
    };
    wire::render(&said, &call.render_for("retake")).map_err(|error| refused(api, &error.to_string()))
}
