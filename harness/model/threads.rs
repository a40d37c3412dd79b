//! Whose threads run in this process. A system in it may start threads of its own, which can call the model at any time; the other
//! threads are Retake's.

use std::collections::BTreeSet;
use std::ffi::OsString;

use retake_base::lock::Mutex;

/// The threads of Retake, by the names of their folders in `/proc`.
static OWN: Mutex<BTreeSet<OsString>> = Mutex::new(BTreeSet::new());

thread_local! {
    static THIS: Own = Own::begin();
}

/// A thread of Retake, until it ends.
struct Own(Option<OsString>);

impl Own {
    fn begin() -> Own {
        let folder = std::fs::read_link("/proc/thread-self").ok();
        let name = folder.and_then(|folder| folder.file_name().map(OsString::from));
        OWN.lock().extend(name.clone());
        Own(name)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.0.take().map(|name| OWN.lock().remove(&name));
    }
}

/// Says that this thread is one of Retake's.
pub fn this_is_own() {
    // A thread that is ending needs no name any more.
    let _ = THIS.try_with(|_| {});
}

/// Whether this process has threads that Retake did not start. Where that is not known, there may be some.
pub fn has_others() -> bool {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return true };
    // Read before the list of its own: a thread that begins meanwhile is not in either, and one that it started is there already.
    let threads: Vec<OsString> = threads.flatten().map(|thread| thread.file_name()).collect();
    let own = OWN.lock();
    threads.is_empty() || !threads.iter().all(|thread| own.contains(thread))
}

#[cfg(test)]
mod tests;
