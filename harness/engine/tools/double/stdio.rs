//! The double of a server that an agent starts as a command. It is this program, started again: it passes each line on to the
//! double in the runner, and prints each line that the double sends, in their orders.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use futures_util::StreamExt as _;
use reqwest::header::CONTENT_TYPE;
use tokio::sync::mpsc;

use retake_model::clients::Clients;

/// The first argument that makes this program a double. The second argument is the URL of the double in the runner.
const MARK: &str = "retake-tools";

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
    let ended = runtime.block_on(hand_on(&url));
    Some(if ended.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Hands lines on until the agent closes its end and has all its answers. Returns `None` if the double in the runner ended before
/// that: then this process ends too, so the agent sees its server end.
async fn hand_on(url: &str) -> Option<()> {
    let url = format!("{url}?stdio={}", uuid::Uuid::new_v4().simple());
    let clients = Clients::keeping(1);
    let (client, url) = clients.of(&url).ok()?;
    let mut answers = client.get(&*url).send().await.ok()?.bytes_stream();
    let (sender, mut lines) = mpsc::unbounded_channel();
    // A thread of its own, since reading blocks while the server has something to say.
    std::thread::spawn(move || {
        let given = std::io::stdin().lock().lines().map_while(Result::ok);
        given.filter(|line| !line.trim().is_empty()).all(|line| sender.send(line).is_ok())
    });
    let asking = async {
        while let Some(line) = lines.recv().await {
            let request = client.post(&*url).header(CONTENT_TYPE, "application/json").body(line);
            request.send().await.ok()?;
        }
        client.delete(&*url).send().await.ok().map(drop)
    };
    let answering = async {
        while let Some(Ok(bytes)) = answers.next().await {
            let mut out = std::io::stdout().lock();
            out.write_all(&bytes).and_then(|()| out.flush()).ok()?;
        }
        Some(())
    };
    tokio::pin!(asking, answering);
    tokio::select! {
        asked = &mut asking => {
            asked?;
            answering.await
        }
        _ = &mut answering => None,
    }
}
