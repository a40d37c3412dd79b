//! Reads what a stream sends after the last event that its step waits for, as a client that stays connected would. It reads
//! while later steps run.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::stream::Stream;
use retake_base::lock::Mutex;
use retake_core::events::{AfterLast, Ending};

/// A stream that is read further. Dropping this closes it.
#[derive(Debug)]
pub(super) struct Afterwards {
    read: Arc<Mutex<AfterLast>>,
    task: JoinHandle<()>,
}

impl Afterwards {
    /// Starts to read a stream further, whose step is done.
    pub(super) fn start(mut response: reqwest::Response, mut stream: Stream) -> Afterwards {
        let read = Arc::new(Mutex::new(AfterLast { events: stream.after.clone(), ending: Ending::Open }));
        let reading = read.clone();
        let task = tokio::spawn(async move {
            loop {
                let ending = match response.chunk().await {
                    Ok(Some(chunk)) => {
                        stream.push(&chunk);
                        None
                    }
                    Ok(None) => {
                        stream.end();
                        Some(Ending::Ended)
                    }
                    Err(_) => Some(Ending::BrokeOff),
                };
                let mut read = reading.lock();
                read.events.clone_from(&stream.after);
                read.ending = ending.unwrap_or(Ending::Open);
                if ending.is_some() || !stream.takes_more() {
                    return;
                }
            }
        });
        Afterwards { read, task }
    }

    /// Waits until the stream ends, or until the given time. Returns what came.
    pub(super) async fn finish(mut self, until: Instant) -> AfterLast {
        let _ = timeout_at(until, &mut self.task).await;
        let mut read = self.read.lock();
        std::mem::replace(&mut read, AfterLast { events: Vec::new(), ending: Ending::Open })
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        self.task.abort();
    }
}
