//! Collects the panics of routers, in any of their tasks. A panic hook recognizes each system by the name of its threads.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};

use retake_base::lock::Mutex;

/// The panics of each running system, by the name of its threads.
static HEARD: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

/// Installs a panic hook that collects panics, and passes them on to the previous hook.
pub(crate) fn hear_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        hear(panic);
        before(panic);
    }));
}

fn hear(panic: &PanicHookInfo<'_>) {
    let (thread, mut heard) = (std::thread::current(), HEARD.lock());
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let message = format!("{place}: {}", text(panic.payload()));
    if let Some(of_system) = thread.name().and_then(|name| heard.get_mut(name)) {
        of_system.push(message);
    }
}

pub(super) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

/// The name of all threads of one system, which no other threads have. Their panics are collected until this is dropped.
#[derive(Debug)]
pub(super) struct ThreadName(String);

impl ThreadName {
    pub(super) fn new(system: &str) -> ThreadName {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let name = format!("system {system} {}", NEXT.fetch_add(1, Ordering::Relaxed));
        HEARD.lock().insert(name.clone(), Vec::new());
        ThreadName(name)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the messages of all panics so far, each with its place.
    pub(super) fn panics(&self) -> Vec<String> {
        HEARD.lock().get(&self.0).cloned().unwrap_or_default()
    }
}

impl Drop for ThreadName {
    fn drop(&mut self) {
        HEARD.lock().remove(&self.0);
    }
}
