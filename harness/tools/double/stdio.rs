//! The double of a server that an agent starts as a command. It is this program, started again: it passes each line on to the
//! double in the runner, and the answers back.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use reqwest::header::{ACCEPT, CONTENT_TYPE};

use retake_model::clients::Clients;

/// The first argument that makes this program a double. The second argument is the URL of the double in the runner.
const MARK: &str = "retake-tools";

/// Returns the command that starts a double for this URL.
pub(super) fn command(url: &str) -> Option<Vec<String>> {
    let program = std::env::current_exe().ok()?;
    Some(vec![program.to_str()?.to_owned(), MARK.to_owned(), url.to_owned()])
}

/// Runs this process as a double if it was started as one. `main` has to call this first.
pub fn take_over() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next()? != MARK {
        return None;
    }
    let url = args.next()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    Some(runtime.block_on(hand_on(&url)))
}

async fn hand_on(url: &str) -> ExitCode {
    let clients = Clients::keeping(1);
    let Ok(client) = clients.of(url) else { return ExitCode::FAILURE };
    // Requests are passed on one after the other. A server may answer in order even if the agent does not wait.
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        let request = client.post(url).header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json");
        // If the double in the runner has ended, this process ends too, so the agent sees its server end.
        let Ok(response) = request.body(line).send().await else { return ExitCode::FAILURE };
        let Ok(answer) = response.text().await else { return ExitCode::FAILURE };
        if !answer.is_empty() {
            let mut out = std::io::stdout().lock();
            if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
                break;
            }
        }
    }
    ExitCode::SUCCESS
}
