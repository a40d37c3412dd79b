//! What the processes of a scenario try to reach besides its stage, told and refused.
//!
//! All of it runs in a network namespace of the test's own, with its own loopback, no other interface and its own resolver: whatever
//! fails here, nothing leaves the machine. Where no such namespace or no filter can be made, these tests do nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests!(
    every_way_out_is_told_with_process_and_address_and_refused,
    six_more_ways_out_are_told_and_refused,
    ways_out_of_node_are_told_and_refused,
    ways_out_of_a_static_program_that_no_language_takes_are_told_and_refused,
    a_system_that_calls_out_before_the_first_step_and_after_the_last_is_told,
    by_default_everything_passes_and_is_told_in_one_line_of_a_run,
    what_is_allowed_is_neither_told_nor_refused,
    nothing_is_told_of_a_service_that_talks_to_itself,
    somebody_elses_port_of_this_machine_is_told_and_passes,
    a_ring_exists_unless_connections_are_refused,
    a_debugger_runs,
    without_a_filter_polite_clients_are_told_and_proof_fails,
    where_the_kernel_refuses_filters_services_run_and_proof_fails,
    init_proposes_what_a_service_reached,
    a_router_of_the_runner_itself_has_no_proof,
    a_wrong_entry_of_allow_is_an_error_with_its_place,
);

/// Prepares the namespace, then becomes the program, without any privilege. The addresses of 192.0.2.0/24 and 2001:db8::/32 belong to
/// nobody, so they are no loopback to Retake. Here they lead to the loopback interface. Nobody answers on them.
const NAMESPACE: &str = "ip link set lo up && ip addr add 192.0.2.1/24 dev lo && ip -6 addr add 2001:db8::15/128 dev lo \
    && mount --bind \"$RESOLVER\" /etc/resolv.conf && exec setpriv --bounding-set=-all -- \"$@\"";
const RESOLVER: &str = "nameserver 192.0.2.53\noptions timeout:1 attempts:1\n";
const UNSHARE: &[&str] = &["--user", "--map-root-user", "--net", "--mount", "--", "sh", "-c", NAMESPACE, "sh"];

/// A program in the folder, cut off from everything.
fn apart(folder: &Path, program: &[&str]) -> Program {
    let resolver = folder.join("resolver.conf");
    std::fs::write(&resolver, RESOLVER).unwrap();
    Program::new("unshare".as_ref()).args(UNSHARE).args(program).env("RESOLVER", resolver).in_folder(folder)
}

/// Whether namespaces and filters can be made here. The tests do nothing otherwise: nothing of them may ever leave the machine.
fn is_possible() -> bool {
    static POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let mut command = apart(folder.path(), &["true"]).into_command();
        let apart = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        apart && retake_egress::is_possible(&|_| Ok(allows())).is_ok()
    });
    *POSSIBLE
}

/// A filter that asks about nothing: `SECCOMP_RET_ALLOW`, returned by `BPF_RET`.
fn allows() -> Vec<retake_egress::Instruction> {
    vec![retake_egress::Instruction { code: 0x06, jt: 0, jf: 0, k: 0x7fff_0000 }]
}

const TEST: [&str; 2] = [env!("CARGO_BIN_EXE_retake"), "test"];

/// Runs `retake test` in the project, cut off from everything.
fn run(tree: &Tree) -> Ran {
    apart(tree.root(), &TEST).run()
}

/// A project with a scenario that runs a Python script.
fn running(options: &str, script: &str) -> Tree {
    let tree = Tree::with_suite("");
    tree.write(
        "agent.py",
        &format!(
            "import json, os, socket, subprocess, sys, threading\n{script}\nprint(json.dumps({{'type': 'done'}}))\n"
        ),
    );
    tree.scenario("a", &scenario(options, &["python3", "{{ root }}/agent.py"]));
    tree
}

/// A project with a scenario that runs a program.
fn running_program(options: &str, program: &[&str]) -> Tree {
    let tree = Tree::with_suite("");
    tree.scenario("a", &scenario(options, program));
    tree
}

fn scenario(options: &str, program: &[&str]) -> String {
    format!("fixture = \"none\"\n{options}\n[[step]]\nrun = {program:?}\ngolden = false\n")
}

const QUIET: &str = "
def quiet(what):
    try: return what()
    except Exception: return None
";

fn every_way_out_is_told_with_process_and_address_and_refused() {
    if !is_possible() {
        return;
    }
    let script = format!(
        "{QUIET}
import urllib.request
quiet(lambda: urllib.request.urlopen('http://192.0.2.11/', timeout=5))
quiet(lambda: socket.create_connection(('192.0.2.12', 5432), timeout=5))
quiet(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.13', 9)))
quiet(lambda: socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.14', 53)))
quiet(lambda: socket.create_connection(('2001:db8::15', 443), timeout=5))
quiet(lambda: socket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('192.0.2.16', 8125)))
subprocess.run(['bash', '-c', 'exec 3<>/dev/tcp/192.0.2.17/80'], stderr=subprocess.DEVNULL)
ended, orphan = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        quiet(lambda: socket.create_connection(('192.0.2.18', 80), timeout=5))
    os._exit(0)
os.close(orphan)
os.read(ended, 1)
exporter = threading.Thread(target=lambda: quiet(lambda: socket.create_connection(('192.0.2.19', 4318), timeout=5)))
exporter.start()
exporter.join()
quiet(lambda: socket.getaddrinfo('api.example.com', 443))
subprocess.run([sys.executable, '-c', 'import socket; socket.socket().connect_ex((\"192.0.2.20\", 80))'])
"
    );
    let tree = running("egress = \"proven\"", &script);
    let ran = run(&tree);
    ran.red(&[
        "egress: the service tried to reach 192.0.2.11:80 (by `python3 agent.py`, in step 1 (run python3",
        "allow = [\"192.0.2.11:80\"",
    ]);
    for (address, process) in [
        ("192.0.2.12:5432", "python3 agent.py"),
        ("192.0.2.13:9", "python3 agent.py"),
        ("192.0.2.14:53", "python3 agent.py"),
        ("[2001:db8::15]:443", "python3 agent.py"),
        ("192.0.2.16:8125", "python3 agent.py"),
        ("192.0.2.17:80", "bash"),
        ("192.0.2.18:80", "python3 agent.py"),
        ("192.0.2.19:4318", "python3 agent.py"),
        ("192.0.2.20:80", "python3"),
        ("192.0.2.53:53", "python3 agent.py"),
    ] {
        ran.tells(&[&format!("  {address} (by `{process}")]);
    }
    let explained = tree.retake().args(&["explain", "a"]).run();
    explained.tells(&[
        "\negress: a filter of system calls saw each address\n",
        "\n  192.0.2.12:5432 (by `python3 agent.py`, in",
    ]);
}

/// A client in a loop of events, a socket that another process made, one that leads to loopback and sends elsewhere, a call to all hosts
/// of a group and of a network, and a shell without any variable.
fn six_more_ways_out_are_told_and_refused() {
    if !is_possible() {
        return;
    }
    let script = format!(
        "{QUIET}
import asyncio
quiet(lambda: asyncio.run(asyncio.open_connection('192.0.2.61', 61)))
ours, theirs = socket.socketpair()
if os.fork() == 0:
    _, [handed], _, _ = socket.recv_fds(theirs, 1, 1)
    quiet(lambda: socket.socket(fileno=handed).connect(('192.0.2.62', 62)))
    os._exit(0)
made = socket.socket()
socket.send_fds(ours, [b'x'], [made.fileno()])
os.wait()
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.connect(('127.0.0.1', 9))
quiet(lambda: udp.sendmsg([b'x'], [], 0, ('192.0.2.63', 63)))
quiet(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('224.0.0.251', 5353)))
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
quiet(lambda: udp.sendto(b'x', ('255.255.255.255', 67)))
subprocess.run(['env', '-i', 'bash', '-c', 'echo x >/dev/udp/192.0.2.66/66'], stderr=subprocess.DEVNULL)
"
    );
    let ran = run(&running("egress = \"fail\"", &script));
    ran.red(&["egress: the service tried to reach ", "which were refused"]);
    for (address, process) in [
        ("192.0.2.61:61", "python3 agent.py"),
        ("192.0.2.62:62", "python3 agent.py"),
        ("192.0.2.63:63", "python3 agent.py"),
        ("224.0.0.251:5353", "python3 agent.py"),
        ("255.255.255.255:67", "python3 agent.py"),
        ("192.0.2.66:66", "bash"),
    ] {
        ran.tells(&[&format!("  {address} (by `{process}")]);
    }
}

fn ways_out_of_node_are_told_and_refused() {
    if !is_possible() || !Program::new("node".as_ref()).arg("--version").starts() {
        return;
    }
    let tree = running_program("egress = \"fail\"", &["node", "{{ root }}/ways.mjs"]);
    tree.write("ways.mjs", include_str!("../data/egress/ways.mjs"));
    let ran = run(&tree);
    ran.red(&["egress: the service tried to reach ", "which were refused"]);
    let node = ["192.0.2.41:80", "192.0.2.42:5432", "192.0.2.43:4318", "192.0.2.44:8125", "[2001:db8::45]:443"];
    for address in node.into_iter().chain(["192.0.2.46:53"]) {
        ran.tells(&[&format!("  {address} (by `node ways.mjs`, in step 1 (run node")]);
    }
    ran.tells(&["  192.0.2.47:80 (by `bash`, in step 1 (run node"]);
}

fn compile_ways(tree: &Tree) {
    tree.write("ways.c", include_str!("../data/egress/ways.c"));
    let mut cc = Command::new("cc");
    let built = cc.args(["-static", "-pthread", "-o", "ways", "ways.c"]).current_dir(tree.root()).status();
    assert!(built.unwrap().success());
}

fn ways_out_of_a_static_program_that_no_language_takes_are_told_and_refused() {
    if !is_possible() {
        return;
    }
    let tree = running_program("egress = \"fail\"", &["{{ root }}/ways"]);
    compile_ways(&tree);
    let ran = run(&tree);
    ran.red(&["egress: the service tried to reach 192.0.2.31:31 (by `ways`, in step 1 (run "]);
    for last in 32..=39 {
        ran.tells(&[&format!("  192.0.2.{last}:{last} (by `ways`, in step 1 (run ")]);
    }
    // Each came to know it, and without a ring there is no way around.
    let tree = Tree::with_suite("[systems.ways]\ncommand = [\"{{ root }}/ways\"]\nready = { line = \"never\" }\n");
    compile_ways(&tree);
    tree.scenario("a", "fixture = \"none\"\negress = \"fail\"\n[[step]]\nget = \"/\"\ngolden = false\n");
    let ways =
        ["connect", "sendmmsg", "fast open", "a descriptor of the parent", "mapped", "again", "thread", "no family"];
    let printed: Vec<String> = ways.iter().map(|way| format!("{way}: ENETUNREACH")).collect();
    let printed = printed.iter().map(String::as_str).chain(["ring: ENOSYS"]);
    run(&tree).red(&printed.collect::<Vec<_>>());
}

fn a_system_that_calls_out_before_the_first_step_and_after_the_last_is_told() {
    if !is_possible() {
        return;
    }
    let tree = Tree::with_suite(
        "[systems.agent]\ncommand = [\"python3\", \"{{ root }}/server.py\", \"{{ port }}\"]\nready = { http = \"/health\" }\n",
    );
    tree.write(
        "server.py",
        "import http.server, socket, sys, threading
kept = socket.socket(); kept.connect_ex(('192.0.2.11', 80))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/last': socket.socket().connect_ex(('192.0.2.12', 80))
        self.send_response(200); self.end_headers(); self.wfile.write(b'{}')
        if self.path == '/last': self.wfile.flush(); socket.socket().connect_ex(('192.0.2.13', 80))
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
",
    );
    let steps = "[[step]]\nget = \"/first\"\ngolden = false\n[[step]]\nget = \"/last\"\ngolden = false\n";
    tree.scenario("a", &format!("fixture = \"none\"\negress = \"fail\"\n{steps}"));
    run(&tree).red(&[
        "192.0.2.11:80 (by `python3 server.py`, while it started)",
        "192.0.2.12:80 (by `python3 server.py`, in step 2 (GET /last))",
        "192.0.2.13:80 (by `python3 server.py`, in step 2 (GET /last))",
    ]);
}

/// What passes here reaches a server of this machine under the address of the namespace's interface.
fn by_default_everything_passes_and_is_told_in_one_line_of_a_run() {
    if !is_possible() {
        return;
    }
    let script = "
server = socket.create_server(('192.0.2.1', 0))
port = server.getsockname()[1]
for _ in range(3): socket.create_connection(('192.0.2.1', port), timeout=5)
assert server.accept()
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.sendto(b'x', ('192.0.2.7', 8125))
";
    let tree = running("", script);
    let ran = run(&tree).exits(0);
    ran.tells(&[
        "note: a: egress: reached 192.0.2.1:",
        ", in step 1 (run python3",
        ", 3 times)",
        " and 1 more; if it may: allow = [",
        "192.0.2.7:8125",
    ]);
    assert_eq!(ran.all().matches("egress").count(), 1, "{}", ran.all());
    // What each of two scenarios reached is one line, which lists all that quiets it.
    tree.write("scenarios/b/scenario.toml", &tree.read("scenarios/a/scenario.toml"));
    let ran = run(&tree).exits(0);
    ran.tells(&[
        "note: all 2 scenarios: egress: reached 3 other servers; if it may: allow = [\"192.0.2.1:",
        "192.0.2.7:8125\"]",
    ]);
    assert_eq!(ran.all().matches("egress").count(), 1, "{}", ran.all());
    run(&running("egress = \"off\"", script)).exits(0).never_says("egress");
}

fn what_is_allowed_is_neither_told_nor_refused() {
    if !is_possible() {
        return;
    }
    let script = "
server = socket.create_server(('192.0.2.1', 8080))
socket.create_connection(('192.0.2.1', 8080), timeout=5)
assert server.accept()
";
    let options = "egress = \"proven\"\nallow = [\"192.0.2.1:8080\"]";
    run(&running(options, script)).exits(0).never_says("egress");
}

fn nothing_is_told_of_a_service_that_talks_to_itself() {
    if !is_possible() {
        return;
    }
    let script = "
server = socket.create_server(('127.0.0.1', 0))
socket.create_connection(server.getsockname())
child = subprocess.Popen([sys.executable, '-c', 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); print(s.getsockname()[1], flush=True); s.accept()'], stdout=subprocess.PIPE)
socket.create_connection(('localhost', int(child.stdout.readline())))
child.wait()
one, other = socket.socketpair()
one.sendmsg([b'x'])
";
    run(&running("egress = \"proven\"", script)).exits(0).never_says("egress");
}

fn somebody_elses_port_of_this_machine_is_told_and_passes() {
    if !is_possible() {
        return;
    }
    let tree = running("egress = \"fail\"", "assert socket.create_connection(('127.0.0.1', 11434), timeout=5)");
    let other = "import socket; s = socket.create_server(('127.0.0.1', 11434)); s.accept()";
    let until = "until python3 -c \"open('/proc/net/tcp').read().index('2CAA')\" 2>/dev/null; do :; done";
    let both = format!("python3 -c \"{other}\" & {until}; exec \"$@\"");
    let ran = apart(tree.root(), &["sh", "-c", &both, "sh"]).args(&TEST).run();
    ran.exits(0).tells(&[
        "note: a: egress: reached 127.0.0.1:11434 (by `python3 agent.py`, in step 1 (run python3",
        "allow = [\"127.0.0.1:11434\"]",
    ]);
}

fn a_ring_exists_unless_connections_are_refused() {
    if !is_possible() {
        return;
    }
    let script = "
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(425, 1, 0)
assert (ctypes.get_errno() == 38) == (sys.argv[1] == 'refuses'), ctypes.get_errno()
";
    for (level, refuses) in [("note", "passes"), ("fail", "refuses")] {
        let tree = running(&format!("egress = \"{level}\""), script);
        let scenario = tree.read("scenarios/a/scenario.toml");
        tree.scenario("a", &scenario.replace("agent.py\"", &format!("agent.py\", \"{refuses}\"")));
        run(&tree).green();
    }
}

/// Behind another filter with a listener, none can be installed.
fn without_a_filter_polite_clients_are_told_and_proof_fails() {
    if !is_possible() {
        return;
    }
    let script = format!(
        "{QUIET}
import urllib.request
quiet(lambda: urllib.request.urlopen('http://api.example.com/v1', timeout=5))
quiet(lambda: urllib.request.urlopen('https://telemetry.example.com/', timeout=5))
"
    );
    for (level, says) in [
        (
            "fail",
            [
                "egress: the service tried to reach api.example.com:80 (in step 1 (run python3",
                "  telemetry.example.com:443",
            ],
        ),
        ("proven", ["egress: nothing proves that the service reached nothing else: ", "egress = \"fail\""]),
    ] {
        let tree = running(&format!("egress = \"{level}\""), &script);
        let mut command = apart(tree.root(), &TEST).into_command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (child, listener) = retake_egress::spawn(command, &|_| Ok(allows())).unwrap();
        let attending = std::thread::spawn(move || listener.unwrap().attend(|_| retake_egress::Answer::Passes));
        let output = child.wait_with_output().unwrap();
        attending.join().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ran { code: output.status.code(), stdout: stdout.into_owned(), stderr: stderr.into_owned() }.red(&says);
    }
}

fn a_debugger_runs() {
    if !is_possible() || !Program::new("strace".as_ref()).arg("-V").starts() {
        return;
    }
    let program =
        ["strace", "-f", "-qq", "-e", "trace=connect", "-o", "{{ root }}/trace", "python3", "{{ root }}/agent.py"];
    let tree = running("", "socket.socket().connect_ex((\"192.0.2.11\", 80))");
    tree.scenario("a", &scenario("egress = \"note\"", &program));
    run(&tree).exits(0).tells(&["egress: reached 192.0.2.11:80 (by `python3 agent.py`"]);
    assert!(tree.read("trace").contains("192.0.2.11"), "{}", tree.read("trace"));
}

fn where_the_kernel_refuses_filters_services_run_and_proof_fails() {
    if !is_possible() {
        return;
    }
    let script = format!("{QUIET}\nquiet(lambda: socket.create_connection((\"192.0.2.12\", 5432), timeout=5))\n");
    let refusing = |level: &str| {
        let tree = running(&format!("egress = \"{level}\""), &script);
        tree.write("refusing.py", include_str!("../data/egress/refusing.py"));
        let ran = apart(tree.root(), &["python3", "refusing.py"]).args(&TEST).run();
        (tree, ran)
    };
    let (tree, ran) = refusing("note");
    ran.exits(0).never_says("egress");
    tree.retake()
        .args(&["explain", "a"])
        .run()
        .tells(&["\negress: it was not seen, or not all of it: Operation not permitted"]);
    tree.retake().args(&["explain", "a", "--json"]).run().tells(&["\"proof\": \"none\"", "Operation not permitted"]);
    let (_, ran) = refusing("fail");
    ran.exits(0).tells(&["egress: only clients that respect proxy variables were seen: Operation not permitted"]);
    let (_, ran) = refusing("proven");
    ran.red(&["egress: nothing proves that the service reached nothing else: Operation not permitted"]);
}

fn init_proposes_what_a_service_reached() {
    if !is_possible() {
        return;
    }
    let tree = Tree::empty();
    tree.write(
        "app.py",
        "import http.server, os, socket
socket.socket().connect_ex((\"192.0.2.11\", 80))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{}')
    def log_message(self, *_): pass
http.server.HTTPServer((\"127.0.0.1\", int(os.environ[\"PORT\"])), Handler).serve_forever()
",
    );
    let ran = apart(tree.root(), &[TEST[0], "init", "--probe"]).run().exits(0);
    ran.tells(&["  tried  to reach, besides its model: 192.0.2.11:80"]);
    let suite = tree.read("scenarios/suite.toml");
    assert!(suite.contains("\n# allow = [\"192.0.2.11:80\"]\n\n"), "{suite}");
}

fn a_router_of_the_runner_itself_has_no_proof() {
    let tree = Tree::of(&["delete"]);
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\negress = \"proven\"\n");
    let ran = tree.runner("gateway").run().exits(101);
    ran.tells(&["egress: nothing proves that the service reached nothing else: its system is a router in the test's own process"]);
}

fn a_wrong_entry_of_allow_is_an_error_with_its_place() {
    for wrong in ["example.com", "https://example.com:443", "::1:80", "example.com:0", ":80"] {
        let tree = running(&format!("allow = [\"{wrong}\"]"), "");
        let ran = tree.retake().arg("test").run();
        ran.tells(&[&format!("scenarios/a/scenario.toml:2:10: `{wrong}` is not a name or an address with its port")]);
    }
}
