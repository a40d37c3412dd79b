use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

use retake_egress::{Answer, Attempt, Target};

use super::filter;

/// Starts a program behind a filter that refuses.
fn spawn(command: Command) -> std::io::Result<(Child, std::io::Result<retake_egress::Listener>)> {
    retake_egress::spawn(command, &|from| filter(true, from))
}

/// Runs a test once more in a network namespace of its own, in which the addresses of `192.0.2.0/24` and `2001:db8::/32` lead to the
/// loopback interface: nothing of it can leave the machine, also if nothing refuses it. Returns whether this is that run.
fn is_apart(test: &str) -> bool {
    const NAMESPACE: &str = "ip link set lo up && ip addr add 192.0.2.1/24 dev lo && ip -6 addr add 2001:db8::1/128 dev lo \
        && exec \"$@\"";
    let apart = |program: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--", "sh", "-c", NAMESPACE, "sh"]).args(program);
        command.stderr(Stdio::null()).stdout(Stdio::piped()).env("RETAKE_INNER", "1").output().expect("run")
    };
    if std::env::var_os("RETAKE_INNER").is_some() {
        return true;
    }
    if apart(&["true"]).status.success() {
        let ran = apart(&[&itself(), "--exact", "--nocapture", &format!("{MODULE}::{test}")]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    }
    false
}

const MODULE: &str = "system::guardian::filter::tests";

fn itself() -> String {
    std::env::current_exe().expect("its path").to_string_lossy().into_owned()
}

/// Runs Python behind a filter that refuses all but loopback. Returns what it printed, and what it tried to reach.
fn run(mut command: Command, script: &str) -> (String, Vec<Attempt>) {
    command.args(["-c", script]).stdout(Stdio::piped());
    let (mut child, listener) = spawn(command).expect("started");
    let listener = listener.expect("a listener");
    let attending = std::thread::spawn(move || {
        let mut attempts = Vec::new();
        listener.attend(|attempt| {
            attempts.push(attempt.clone());
            match attempt.to {
                Target::Address(to) if to.ip().is_loopback() => Answer::Passes,
                _ => Answer::Refused,
            }
        });
        attempts
    });
    let mut printed = String::new();
    child.stdout.take().expect("its output").read_to_string(&mut printed).expect("read");
    child.wait().expect("ended");
    (printed, attending.join().expect("attended"))
}

fn reached(attempts: &[Attempt]) -> Vec<Target> {
    attempts.iter().map(|attempt| attempt.to).collect()
}

fn address(text: &str) -> Target {
    Target::Address(text.parse::<SocketAddr>().expect("an address"))
}

#[test]
fn loopback_passes() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bound");
    let port = server.local_addr().expect("an address").port();
    let script = format!("import socket; socket.create_connection(('127.0.0.1', {port})).send(b'x'); print('sent')");
    let (printed, attempts) = run(Command::new("python3"), &script);
    assert_eq!(printed, "sent\n");
    assert_eq!(reached(&attempts), [address(&format!("127.0.0.1:{port}"))]);
}

#[test]
fn every_call_with_an_address_is_refused_as_without_a_network() {
    if !is_apart("every_call_with_an_address_is_refused_as_without_a_network") {
        return;
    }
    let (printed, attempts) = run(
        Command::new("python3"),
        r"
import errno, os, socket, subprocess, sys
def tried(what):
    try: what()
    except OSError as e: print(errno.errorcode[e.errno])
    else: print('passed')
tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
tried(lambda: tcp.connect(('192.0.2.1', 1)))
tried(lambda: socket.socket(socket.AF_INET6).connect(('2001:db8::1', 2)))
tried(lambda: socket.socket(socket.AF_INET6).connect(('::ffff:192.0.2.1', 3)))
tried(lambda: udp.sendto(b'x', ('192.0.2.1', 4)))
tried(lambda: udp.sendmsg([b'x'], [], 0, ('192.0.2.1', 5)))
tried(lambda: socket.socket(type=socket.SOCK_RAW, proto=socket.IPPROTO_ICMP))
tried(lambda: tcp.sendmsg([b'x'], [], socket.MSG_FASTOPEN, ('192.0.2.1', 7)))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        tried(lambda: tcp.connect(('192.0.2.1', 6)))
    os._exit(0)
os.wait()
",
    );
    let mut errors = vec!["ENETUNREACH"; 7];
    errors.insert(5, "EPERM");
    assert_eq!(printed.lines().collect::<Vec<_>>(), errors);
    let ports = |to: &str, ports: &[u16]| ports.iter().map(|port| address(&format!("{to}:{port}"))).collect::<Vec<_>>();
    let all = [ports("192.0.2.1", &[1]), ports("[2001:db8::1]", &[2]), ports("192.0.2.1", &[3, 4, 5, 7, 6])].concat();
    assert_eq!(reached(&attempts), all);
}

#[test]
fn what_stays_in_the_kernel_passes_and_is_not_told() {
    let (printed, attempts) = run(
        Command::new("python3"),
        r"
import socket
one, other = socket.socketpair()
one.sendmsg([b'x'])
print(other.recv(1))
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
netlink.bind((0, 0))
print(socket.if_nameindex()[0][1])
",
    );
    assert_eq!(printed, "b'x'\nlo\n");
    assert_eq!(attempts, []);
}

/// An open connection goes on to its own peer whatever address a message of it names, and the listener would tell that address.
#[test]
fn a_message_of_a_connection_is_not_asked_about() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bound");
    let port = server.local_addr().expect("an address").port();
    let script = format!(
        "import socket; one = socket.create_connection(('127.0.0.1', {port})); \
         one.sendmsg([b'x'], [], 0, ('192.0.2.1', 5)); print('sent')"
    );
    let (printed, attempts) = run(Command::new("python3"), &script);
    assert_eq!(printed, "sent\n");
    assert_eq!(reached(&attempts), [address(&format!("127.0.0.1:{port}"))]);
    let (mut connection, _) = server.accept().expect("connected");
    assert_eq!(connection.read(&mut [0; 9]).expect("read"), 1);
}

/// It has a number that `select` takes, and all that was asked for.
#[test]
fn a_socket_for_datagrams_is_made_as_it_was_asked_for() {
    let (printed, attempts) = run(
        Command::new("python3"),
        r"
import os, select, socket
server = socket.socket(type=socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
other = socket.socket(type=socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
print(other.fileno() < server.fileno() < 1024, server.getblocking(), other.getblocking(), os.get_inheritable(other.fileno()))
other.sendmsg([b'x'], [], 0, server.getsockname())
print(select.select([server], [], [], 60)[0] == [server], server.recv(9), other.proto, other.family.name)
inherited = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
os.set_inheritable(inherited.fileno(), True)
number = inherited.fileno()
inherited.close()
print(socket.socket(type=socket.SOCK_DGRAM).fileno() == number)
",
    );
    assert_eq!(printed, "True True False False\nTrue b'x' 0 AF_INET\nTrue\n");
    assert_eq!(attempts.len(), 1);
}

#[test]
fn a_ring_cannot_be_set_up_where_calls_are_refused() {
    let script =
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); libc.syscall(425, 1, 0); print(ctypes.get_errno())";
    let (printed, _) = run(Command::new("python3"), script);
    assert_eq!(printed.trim(), libc::ENOSYS.to_string());
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let missing = spawn(Command::new("/nonexistent/program")).map(drop);
    assert_eq!(missing.map_err(|e| e.kind()), Err(std::io::ErrorKind::NotFound));
}

#[test]
fn behind_another_filter_the_program_runs_and_the_reason_is_told() {
    // The program of the outer filter is this test program, which tries to install another one.
    if std::env::var_os("RETAKE_INNER").is_some() {
        let mut command = Command::new("echo");
        command.arg("runs");
        let (mut child, listener) = spawn(command).expect("started");
        child.wait().expect("ended");
        assert_eq!(listener.map(drop).map_err(|e| e.raw_os_error()), Err(Some(libc::EBUSY)));
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("its path"));
    command.args([
        "--exact",
        "--nocapture",
        "system::guardian::filter::tests::behind_another_filter_the_program_runs_and_the_reason_is_told",
    ]);
    command.env("RETAKE_INNER", "1").stdout(Stdio::piped());
    let (mut child, listener) = spawn(command).expect("started");
    let listener = listener.expect("a listener");
    let attending = std::thread::spawn(move || listener.attend(|_| Answer::Passes));
    let mut printed = String::new();
    child.stdout.take().expect("its output").read_to_string(&mut printed).expect("read");
    assert!(child.wait().expect("ended").success(), "{printed}");
    assert!(printed.contains("runs\n"), "{printed}");
    attending.join().expect("attended");
}
