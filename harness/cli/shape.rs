use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use retake::__private::report::terminal;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_core::events::{
    AfterLast, Capture, Captured, Delivery, Detail, Event, Format, Payload, ShapeOptions, Status, event_keys, golden,
};
use retake_core::json::{Json, Layout};
use retake_core::key::Normalizer;

/// Print the shapes of a captured event stream, as in a golden
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  curl -N localhost:8000/stream | retake shape --detail keys")]
pub(super) struct Shape {
    /// The captured stream, SSE or JSON lines [default: standard input]
    file: Option<PathBuf>,
    /// How much of each payload to print: keys, types or values
    #[arg(long, default_value_t = Detail::Types)]
    detail: Detail,
    /// Print JSON instead: [{"event", "keys"}], names with their sorted top-level keys
    #[arg(long)]
    json: bool,
}

impl Shape {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let bytes = super::project::input(self.file.as_deref())?;
        let mut capture = Capture::new();
        let mut events = capture.push(&bytes);
        events.extend(capture.finish());
        if !bytes.trim_ascii().is_empty() && !events.iter().any(is_of_a_stream) {
            let error = Error::new("this is not an event stream: no line begins with `data:`, `event:` or `{`");
            let error =
                error.help(format!("expected a captured response, SSE or JSON lines: curl -N URL | {RETAKE} shape"));
            return Err(self.file.iter().fold(error, |error, file| error.in_file(file)));
        }
        if self.json {
            let shape = |(event, keys): (String, Option<Vec<String>>)| {
                let keys = keys.map(|keys| Json::Array(keys.into_iter().map(Json::Str).collect()));
                Json::object([("event", Json::Str(event)), ("keys", keys.into())])
            };
            terminal::out(Json::Array(event_keys(&events).into_iter().map(shape).collect()).print(Layout::Python));
            return Ok(ExitCode::SUCCESS);
        }
        let file = self.file.as_ref().map_or("standard input".to_owned(), |file| file.display().to_string());
        let content_type = match capture.format {
            Some(Format::JsonLines) => "application/x-ndjson",
            _ => "text/event-stream",
        };
        let captured = Captured {
            request: file,
            status: Status::Http(200),
            content_type: content_type.to_owned(),
            events,
            after: AfterLast::default(),
            tree: None,
            delivery: Delivery::default(),
        };
        let options = ShapeOptions { detail: self.detail, ..ShapeOptions::default() };
        let normalizer = Normalizer::default();
        let text = golden(&[captured], &options, &|text| normalizer.apply(text).into_owned()).to_string();
        terminal::out(text.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether this came of a stream: blocks of any other text are events without a name and data.
fn is_of_a_stream(event: &Event) -> bool {
    let field = |line: &str| ["data:", "event:", "id:", "retry:"].iter().any(|field| line.starts_with(field));
    match &event.payload {
        Payload::Data(_) | Payload::Comment(_) => true,
        Payload::Empty => event.name.is_some() || event.id.is_some(),
        Payload::Tail(text) => text.lines().any(field) || text.trim_start().starts_with('{'),
    }
}
