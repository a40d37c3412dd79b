//! The connection to a real tool server over its standard input and output, with one JSON-RPC message on each line.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, WriteHalf};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use crate::system::Guarded;
use retake_core::json::{Json, Layout};

/// A connection to a server that Retake started.
pub(super) struct Pipe {
    writer: tokio::sync::Mutex<WriteHalf<UnixStream>>,
    waiting: Waiting,
    next: AtomicU64,
    process: Guarded,
}

/// The requests that wait for an answer, by id.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Json>>>>;

impl Pipe {
    pub(super) fn new(process: Guarded, stream: UnixStream) -> Pipe {
        let (reader, writer) = tokio::io::split(stream);
        let waiting = Waiting::default();
        let answered = Arc::clone(&waiting);
        tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let Ok(message) = Json::parse(line.as_bytes()) else { continue };
                // Requests from the server to its client are ignored.
                let id = message.get("id").and_then(Json::as_u64).filter(|_| message.get("method").is_none());
                let asked = id.and_then(|id| answered.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
                if let Some(asked) = asked {
                    // The request may have been dropped while it waited.
                    let _ = asked.send(message);
                }
            }
            answered.lock().unwrap_or_else(PoisonError::into_inner).clear();
        });
        let (writer, next) = (tokio::sync::Mutex::new(writer), AtomicU64::new(1));
        Pipe { writer, waiting, next, process }
    }

    /// Sends a request with a new id, and waits for its answer.
    pub(super) async fn ask(&self, mut message: Json) -> Result<Json, String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if let Json::Object(fields) = &mut message {
            fields.insert("id", id.into());
        }
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        self.tell(&message).await?;
        answer.await.map_err(|_| "the server ended".to_owned())
    }

    pub(super) async fn tell(&self, message: &Json) -> Result<(), String> {
        let line = message.print(Layout::Compact) + "\n";
        let mut writer = self.writer.lock().await;
        writer.write_all(line.as_bytes()).await.map_err(|e| format!("the server cannot be written to: {e}"))
    }

    pub(super) async fn end(&self) {
        self.process.end().await;
    }
}
