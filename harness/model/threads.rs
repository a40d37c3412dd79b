//! Whose threads run in this process. A system in it may start threads of its own, which can call the model at any time; the other
//! threads are Retake's.

use tokio::runtime::{Builder, Runtime};

use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;

/// How many threads of Retake there are. A thread begins and ends under this lock.
static OWN: Mutex<usize> = Mutex::new(0);

thread_local! {
    static THIS: Own = {
        *OWN.lock() += 1;
        Own
    };
}

/// A thread of Retake, until it ends.
struct Own;

impl Drop for Own {
    fn drop(&mut self) {
        *OWN.lock() -= 1;
    }
}

/// Says that this thread is one of Retake's.
pub fn this_is_own() {
    // A thread that is ending need not be counted any more.
    let _ = THIS.try_with(|_| {});
}

/// Starts a runtime for this thread.
///
/// # Errors
/// If it cannot be started.
pub fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))
}

/// Whether this process has threads that Retake did not start. Where that is not known, there may be some.
pub fn has_others() -> bool {
    let own = OWN.lock();
    all().is_none_or(|all| all != *own)
}

/// How many threads this process has, on Linux.
fn all() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
