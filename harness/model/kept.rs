//! Model servers that outlive their stages. A call after its scenario's verdict has to reach a server to be counted as a miss; a
//! refused connection would go unnoticed.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use tokio::runtime::Handle;

use super::server::{ModelServer, ServerOptions};
use super::session::Mode;
use super::threads;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;

/// The thread that serves the models of all stages.
static THREAD: LazyLock<Result<Handle>> = LazyLock::new(|| {
    let runtime = threads::runtime()?;
    let handle = runtime.handle().clone();
    let serve = move || {
        threads::this_is_own();
        runtime.block_on(std::future::pending::<()>());
    };
    let started = std::thread::Builder::new().name("models".to_owned()).spawn(serve).map(|_| handle);
    started.map_err(|e| Error::new(format!("failed to start a thread for model servers: {e}")))
});

/// The servers of the stages that ended last. Each of them occupies a port, so only the last ones are kept.
static ENDED: Mutex<VecDeque<Arc<ModelServer>>> = Mutex::new(VecDeque::new());
const ENDED_KEPT: usize = 64;

/// Returns the runtime of the thread that outlives the stages.
///
/// # Errors
/// If the thread cannot be started.
pub fn outliving() -> Result<&'static Handle> {
    THREAD.as_ref().map_err(Clone::clone)
}

/// Starts a server on the thread that outlives the stages.
///
/// # Errors
/// The same as those of [`ModelServer::start`], and if the thread cannot be started.
pub async fn start(mode: Mode, options: ServerOptions) -> Result<Arc<ModelServer>> {
    let started = outliving()?.spawn(ModelServer::start(mode, options)).await;
    started.map_err(|e| Error::new(format!("the model server did not start: {e}")))?.map(Arc::new)
}

/// Keeps a server after the end of its stage. A server that records is not kept, because no fixture holds late calls.
pub fn keep(server: Arc<ModelServer>) {
    if server.replays() {
        let mut ended = ENDED.lock();
        ended.push_back(server);
        if ended.len() > ENDED_KEPT {
            ended.pop_front();
        }
    }
}
