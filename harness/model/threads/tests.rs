use std::sync::mpsc;

use super::{OWN, has_others, this_is_own};
use crate::kept::outliving;

/// Starts a thread that lives until the returned sender is dropped.
fn thread(begin: fn()) -> (mpsc::Sender<()>, std::thread::JoinHandle<()>) {
    let ((stop, stopped), (ready, is_ready)) = (mpsc::channel::<()>(), mpsc::channel());
    let thread = std::thread::spawn(move || {
        begin();
        ready.send(()).unwrap();
        let _ = stopped.recv();
    });
    is_ready.recv().unwrap();
    (stop, thread)
}

#[test]
fn a_thread_is_own_from_when_it_says_so_until_it_ends() {
    if !cfg!(target_os = "linux") {
        assert!(has_others());
        return;
    }
    let (stop, of_system) = thread(|| {});
    assert!(has_others());
    drop(stop);
    of_system.join().unwrap();
    // The only own thread that another test may start meanwhile.
    let (sender, has_begun) = mpsc::channel();
    outliving().unwrap().spawn(async move { sender.send(()).unwrap() });
    has_begun.recv().unwrap();
    let before = *OWN.lock();
    let (stop, own) = thread(this_is_own);
    assert_eq!(*OWN.lock(), before + 1);
    drop(stop);
    own.join().unwrap();
    assert_eq!(*OWN.lock(), before);
}
