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
    read: Arc<Mutex<(Stream, Ending)>>,
    task: JoinHandle<()>,
}

impl Afterwards {
    /// Starts to read a stream further, whose step is done.
    pub(super) fn start(mut response: reqwest::Response, stream: Stream) -> Afterwards {
        let read = Arc::new(Mutex::new((stream, Ending::Open)));
        let reading = read.clone();
        let task = tokio::spawn(async move {
            loop {
                let chunk = response.chunk().await;
                let (stream, ending) = &mut *reading.lock();
                match chunk {
                    Ok(Some(chunk)) => drop(stream.push(&chunk)),
                    Ok(None) => {
                        stream.end();
                        *ending = Ending::Ended;
                    }
                    Err(_) => *ending = Ending::BrokeOff,
                }
                if *ending != Ending::Open || !stream.takes_more() {
                    return;
                }
            }
        });
        Afterwards { read, task }
    }

    /// Waits until the stream ends, or until the given time. Returns what came.
    pub(super) async fn finish(mut self, until: Instant) -> AfterLast {
        let _ = timeout_at(until, &mut self.task).await;
        let (stream, ending) = &mut *self.read.lock();
        AfterLast { ending: *ending, ..stream.take_after() }
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        self.task.abort();
    }
}
