use std::collections::BTreeSet;

use super::*;

#[test]
fn leased_ports_differ_and_a_port_in_use_is_not_free() {
    let leases: Vec<PortLease> = (0..50).map(|_| PortLease::take().unwrap()).collect();
    let ports: BTreeSet<u16> = leases.iter().map(|lease| lease.port).collect();
    assert_eq!(ports.len(), 50);
    assert!(ports.iter().all(|port| is_free(*port)));
    let _used = TcpListener::bind((Ipv4Addr::UNSPECIFIED, leases[0].port)).unwrap();
    assert!(!is_free(leases[0].port));
}

#[test]
fn only_one_holder_has_a_lock_and_it_leaves_no_file() {
    let name = format!("test-lock-{}", std::process::id());
    let lock = Lock::take(&name).unwrap();
    let path = lock.path.clone();
    assert!(Lock::try_take(&name).unwrap().is_none());
    remove_stale(&path);
    assert!(path.exists(), "a lock that is held is not stale");
    drop(lock);
    assert!(!path.exists());
    drop(open(&name).unwrap());
    assert!(path.exists());
    remove_stale(&path);
    assert!(!path.exists());
}

#[cfg(unix)]
#[test]
fn a_lock_folder_that_belongs_to_somebody_else_is_skipped() {
    let base = tempfile::tempdir().unwrap();
    let first = folders(base.path()).next().unwrap();
    // A file stands for a folder that belongs to another user.
    std::fs::write(&first, "").unwrap();
    let own = own_folder(base.path()).unwrap();
    assert_ne!(own, first);
    assert_eq!(own_folder(base.path()).unwrap(), own, "all processes find the same");
}

#[test]
fn waiting_for_a_lock_ends_when_it_is_released() {
    let name = format!("test-waiting-{}", std::process::id());
    let lock = Lock::take(&name).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || sender.send(Lock::take(&name).unwrap()));
    assert!(receiver.try_recv().is_err());
    drop(lock);
    assert!(receiver.recv_timeout(std::time::Duration::from_secs(5)).is_ok());
    waiting.join().unwrap().unwrap();
}
