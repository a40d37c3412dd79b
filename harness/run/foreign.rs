//! What a run says that is not the service's own: words of the model, of tools and of the scenario, and names of the machine.

use super::trial::Replayed;
use super::verdict::Told;
use retake_core::conversation::{Answer, Block};
use retake_core::events::{Capture, Event, Foreign};
use retake_engine::system::{host, platform, user};
use retake_wire::Body;
use retake_wire::fixture::{Fixture, ToolExchange, Turn};

impl Replayed {
    /// Returns what the model answered, as it is `told`, what tools returned, and what the scenario sent.
    pub(super) fn foreign(&self, told: Told) -> Foreign {
        let mut foreign = self.played.driven.sent.clone();
        std::iter::once(host()).chain(platform().iter().map(String::as_str)).for_each(|name| foreign.add_machine(name));
        user().filter(|_| self.user_varies).into_iter().for_each(|user| foreign.add_machine(&user));
        let names = ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"];
        for name in names.into_iter().filter_map(|name| std::env::var(name).ok()) {
            let whole = name.split(['.', ':']).next().unwrap_or_default();
            let language = whole.split('_').next().unwrap_or_default();
            for of in [whole, &whole.replace('_', "-"), language] {
                foreign.add_language(of);
            }
        }
        if let Some(fixture) = &self.fixture {
            self.log.days.iter().for_each(|text| foreign.add_text(text));
            add(fixture, self.log.own.values().map(AsRef::as_ref), told, &mut foreign);
        }
        foreign
    }
}

/// Adds what a fixture says, and the turns that a run was served with values of its own.
fn add<'a>(fixture: &'a Fixture, own: impl Iterator<Item = &'a Turn>, told: Told, foreign: &mut Foreign) {
    fixture.notes.values().for_each(|note| foreign.add(note));
    for Turn { input, checks, output, wire, .. } in fixture.table.turns().iter().chain(own) {
        let model = checks.and_then(|checks| fixture.texts.get(&checks.model)).map(AsRef::as_ref);
        model.into_iter().chain(output.model.as_deref()).for_each(|model| foreign.add_model(model));
        for message in input.iter().flat_map(|input| &input.messages) {
            let parts = ["content", "tool_calls", "name"].into_iter().filter_map(|key| message.get(key));
            parts.for_each(|part| foreign.add(part));
        }
        add_answer(told(output), foreign);
        match wire.as_ref().map(|wire| &wire.response.body) {
            Some(Body::Json(json)) => foreign.add_response(&json.json()),
            Some(Body::Frames(frames)) => {
                let frames = frames.iter().flat_map(|frame| Capture::new().push(frame.as_bytes()));
                frames.filter_map(|event: Event| event.json()).for_each(|frame| foreign.add_response(&frame));
            }
            Some(Body::Text(_) | Body::Binary(_)) | None => {}
        }
    }
    for ToolExchange { params, answer, .. } in fixture.tools.values().flatten() {
        let answer = answer.iter().map(|(Ok(answer) | Err(answer))| answer);
        std::iter::once(params).chain(answer).for_each(|part| foreign.add(part));
    }
}

/// Adds what the model answered.
pub(super) fn add_answer(answer: &Answer, foreign: &mut Foreign) {
    for block in &answer.blocks {
        match block {
            Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => foreign.add_text(text),
            Block::ToolCall(call) => {
                foreign.add_text(&call.name);
                foreign.add(&call.args);
            }
            Block::Native(native) => foreign.add(&native.block),
        }
    }
}
