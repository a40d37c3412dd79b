//! Real recordings: each request is read, and what it costs is what the recorded usage says of it.

use std::path::Path;

use libtest_mimic::{Completion, Trial};

use crate::record::cassettes::{FOLDER, Interaction, files, read};
use retake_core::cost::{ORDER, Request, SentCall, measured};
use retake_core::days::Days;
use retake_wire::{Api, Response, decode_response};

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::ignorable_test("cost::estimates::real_requests_cost_what_their_usage_says", || {
        let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
            return Ok(Completion::ignored_with(format!("{FOLDER} is not set: it names a folder of recordings")));
        };
        real_requests_cost_what_their_usage_says(Path::new(&folder));
        Ok(Completion::Completed)
    })]
}

fn real_requests_cost_what_their_usage_says(folder: &Path) {
    let (mut all, mut near, mut told) = (0, 0, Vec::new());
    for file in files(folder) {
        let Some(api) = api(&file) else { continue };
        for interaction in read(&file) {
            let Interaction { request, answer, status, number, .. } = &interaction;
            let kind = if answer.starts_with(b"{") { "application/json" } else { "text/event-stream" };
            let answer = decode_response(api, &Response::received(*status, kind, answer.clone()));
            let usage = answer.ok().and_then(|answer| answer.usage).filter(|usage| usage.input > 0);
            let Some(usage) = usage else { continue };
            let request = Request::read(&ORDER, request, &str::to_owned);
            assert!(request.bytes > 0, "{}, {number}", file.display());
            let call =
                SentCall { caller: "all".to_owned(), turn: 0, request, input: Some(usage.input), output: usage.output };
            let again = (vec![call.clone()], Days::default());
            let cost = measured(vec![call], Some(&again), &[]).remove(0);
            assert!(!cost.varies && cost.ends.is_none(), "{cost}");
            all += 1;
            near += usize::from(cost.input.abs_diff(usage.input) * 10 <= usage.input);
            told.push(format!("{}, {number}: {cost}, {} from a cache", file.display(), usage.cached));
        }
    }
    assert!(all > 60 && near * 10 >= all * 9, "{near} of {all}\n{}", told.join("\n"));
}

/// The API of a recording, which its name begins with.
fn api(file: &Path) -> Option<Api> {
    let name = file.file_name()?.to_str()?;
    let apis = [
        ("anthropic", Api::Anthropic),
        ("gemini", Api::Gemini),
        ("openai-chat", Api::OpenAiChat),
        ("openai-responses", Api::OpenAiResponses),
    ];
    apis.into_iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, api)| api)
}
