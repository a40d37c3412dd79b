//! Runs a command-line agent. The lines of its standard output are its events.

use std::collections::BTreeMap;
use std::path::Path;

use axum::http::HeaderMap;
use tokio::sync::mpsc;

use super::answered::Answered;
use super::driver::Driver;
use super::stream::Stream;
use super::underway::Underway;
use crate::system::{Exit, Guarded, Order, Program, plain, working_folder};
use retake_base::error::{Error, Result};
use retake_core::events::{AfterLast, Format, Status};
use retake_scenario::{AgentRun, Template, Upload};

/// The number of lines of an agent's standard error that a failure quotes.
const LINES: usize = 20;
/// The number of chunks of output that may wait to be read. An agent that prints faster is blocked meanwhile.
const CHUNKS: usize = 64;

pub(super) fn title(run: &AgentRun) -> String {
    let words: Vec<&str> = run.command.iter().map(Template::source).collect();
    format!("run {}", words.join(" "))
}

impl Driver<'_> {
    /// Runs an agent to its end, or to the event at which it is cancelled.
    /// Fails if a template cannot be rendered, the working directory does not exist, the agent cannot be started or ends with another
    /// exit code than expected, or its events are not as the step expects them.
    pub(super) async fn run(&self, run: &AgentRun, underway: &Underway) -> Result<Answered> {
        let folder = self.stage.folder().ok_or_else(|| Error::new("this stage has no folder"))?;
        folder.make_for_programs()?;
        for Upload { field, content, .. } in &run.files {
            retake_base::files::write_whole(&folder.work.join(field), content)?;
        }
        let text = |template: &Template| template.render_text(&self.context);
        let env = run.env.iter().map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Result<_>>()?;
        let cwd = match &run.cwd {
            Some(cwd) => working_folder(self.root, Some(&text(cwd)?))?,
            None => folder.work.clone(),
        };
        let command: Vec<String> = run.command.iter().map(text).collect::<Result<_>>()?;
        let env = folder.environment(env, self.stage.today());
        let errors = folder.root.join(format!("stderr-{}", uuid::Uuid::new_v4().simple()));
        let texts = command.iter().chain(env.iter().map(|(_, value)| value));
        texts.for_each(|text| self.sent.lock().add_text(text));
        let (sender, mut chunks) = mpsc::channel::<Vec<u8>>(CHUNKS);
        let _reading = underway.reads();
        let program = Program { command, cwd, env, errors: Some(errors.clone()), ..Program::default() };
        let order = Order { program: Some(program), ..Order::default() };
        let output = move |bytes: &[u8]| drop(sender.blocking_send(bytes.to_vec()));
        let guarded = order.start(Some(self.stage.egress()), output).await?;
        let mut stream = Stream::new(&run.stream, Some(Format::JsonLines));
        underway.awaits("the command did not end".to_owned());
        let exit = hear(&guarded, &mut chunks, &mut stream, run.stream.cancel, underway).await;
        let known = stream.events.len();
        // The rest of its output may not have arrived yet.
        let rest = async {
            while let Some(chunk) = chunks.recv().await {
                stream.push(&chunk);
            }
        };
        tokio::join!(guarded.end(), rest);
        stream.end();
        underway.events(&stream.events, known);
        if let Some(error) = stream.refused {
            return Err(quoting(error, &errors));
        }
        let code = match exit {
            Some(Exit::Code(code)) => code,
            None if stream.done && run.stream.cancel => run.exit,
            other => {
                let how = other.map_or_else(|| "with an unknown exit status".to_owned(), |exit| format!("by {exit}"));
                return Err(quoting(Error::new(format!("it ended {how}")), &errors));
            }
        };
        if code != run.exit && !(stream.done && run.stream.cancel) {
            let error = Error::new(format!("expected exit code {}, found {code}", run.exit));
            return Err(quoting(error, &errors));
        }
        stream.check().map_err(|error| quoting(error, &errors))?;
        underway.status(Status::Exit(code));
        Ok(Answered {
            request: title(run),
            status: Status::Exit(code),
            content_type: String::new(),
            headers: HeaderMap::new(),
            cookies: BTreeMap::new(),
            earlier_cookies: BTreeMap::new(),
            after: if run.stream.cancel { AfterLast::default() } else { stream.take_after() },
            events: stream.events,
        })
    }
}

/// Reads what the agent prints until it ends, or until the event at which it is cancelled. Returns how it ended, or `None` if it
/// was not awaited.
async fn hear(
    guarded: &Guarded,
    chunks: &mut mpsc::Receiver<Vec<u8>>,
    stream: &mut Stream,
    cancel: bool,
    underway: &Underway,
) -> Option<Exit> {
    let ended = guarded.exited();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            Some(chunk) = chunks.recv() => {
                let known = stream.events.len();
                let is_over = stream.push(&chunk);
                underway.events(&stream.events, known);
                if is_over && (cancel || stream.refused.is_some()) {
                    return None;
                }
            }
            exit = &mut ended => return exit,
        }
    }
}

/// Adds the end of the agent's standard error to an error.
fn quoting(error: Error, errors: &Path) -> Error {
    let text = std::fs::read(errors).unwrap_or_default();
    let lines: Vec<String> = text.trim_ascii_end().split(|byte| *byte == b'\n').map(plain).collect();
    let tail = &lines[lines.len().saturating_sub(LINES)..];
    if text.trim_ascii().is_empty() {
        return error.help("it wrote nothing to its standard error");
    }
    tail.iter().fold(error.help("its standard error ends with:"), |error, line| error.help(format!("| {line}")))
}
