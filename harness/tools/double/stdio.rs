//! The double of a server that an agent starts as a command: this program, started again, which hands each line on to the
//! double in the runner and its answers back.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use reqwest::header::{ACCEPT, CONTENT_TYPE};

use crate::clients::Clients;

/// The first argument that makes this program a double; the second is the address of the one in the runner.
const MARK: &str = "retake-tools";

/// The command that starts the double of an address.
pub(super) fn command(url: &str) -> Option<Vec<String>> {
    let program = std::env::current_exe().ok()?;
    Some(vec![program.to_str()?.to_owned(), MARK.to_owned(), url.to_owned()])
}

/// Runs this process as a double where it was started as one. This has to come first in `main`.
pub(crate) fn take_over() -> Option<ExitCode> {
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
    // One after the other: what the agent asks at the same time is answered in order, as a server may do.
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        let request = client.post(url).header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json");
        // A double that is gone answers nothing: the agent sees its server end.
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
