//! The connection to a real tool server over its standard input and output, with one JSON-RPC message on each line.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, WriteHalf};
use tokio::net::UnixStream;

use super::traffic::{Traffic, Via};
use crate::system::Guarded;
use retake_core::json::{Json, Layout};

/// A connection to a server that Retake started.
pub(super) struct Pipe {
    writer: tokio::sync::Mutex<WriteHalf<UnixStream>>,
    pub(super) process: Guarded,
}

impl Pipe {
    /// Everything that the server sends goes to `traffic`, in order.
    pub(super) fn new(process: Guarded, stream: UnixStream, traffic: Arc<Traffic>) -> Pipe {
        let (reader, writer) = tokio::io::split(stream);
        tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if let Ok(message) = Json::parse(line.as_bytes()) {
                    traffic.came(&Via::Pipe, message);
                }
            }
            traffic.ended();
        });
        Pipe { writer: tokio::sync::Mutex::new(writer), process }
    }

    pub(super) async fn tell(&self, message: &Json) -> Result<(), String> {
        let line = message.print(Layout::Compact) + "\n";
        let mut writer = self.writer.lock().await;
        writer.write_all(line.as_bytes()).await.map_err(|e| format!("the server cannot be written to: {e}"))
    }
}
