//! Systems that several scenarios share, that run already, and that need others.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::described::{CHAT, READY, system as described};
use super::provider::record;
use super::service::SERVICE;
use crate::support::tree::Tree;

tests!(
    a_shared_system_is_one_process_for_all_scenarios,
    what_a_shared_system_keeps_is_found_by_the_proof,
    a_shared_system_is_started_anew_after_a_scenario_that_failed,
    a_shared_system_that_was_killed_fails_its_scenario,
    a_system_that_runs_already_is_driven_by_url,
    a_system_that_needs_another_is_told_where_it_is,
    processes_at_once_do_not_take_each_others_ports,
);

const COUNT: &str = "\n[[step]]\nget = \"/count\"\ngolden = true\n[golden]\ndetail = \"values\"\n";

fn a_shared_system_is_one_process_for_all_scenarios() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", CHAT);
    tree.scenario("b", &CHAT.replace("hello", "bye"));
    record(&tree, &["a", "b"]).green();
    tree.retake().args(&["test", "--", "--test-threads", "4"]).run().green();
    // The fixture is the scenario's own, though the server is the same: with the other's, both miss.
    tree.write("fixtures/b.json", &tree.read("fixtures/a.json"));
    let ran = tree.retake().args(&["test"]).run();
    ran.red(&["miss", "+ bye"]);
    assert!(ran.all().contains("1 failed"), "{}", ran.all());
    assert_eq!(tree.left(), [""; 0]);
}

fn what_a_shared_system_keeps_is_found_by_the_proof() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", CHAT);
    record(&tree, &["a"]).green();
    let count = format!("fixture = \"none\"{COUNT}");
    tree.scenario("b", &count);
    tree.retake().args(&["test", "b", "--update"]).run().green();
    // After `a` there was one chat more in this process, and none in the proof's second one.
    let ran = tree.retake().args(&["test", "--update", "--", "--test-threads", "1"]).run();
    ran.red(&[
        "unstable: two replays of scenario `b` differ",
        "the second one used a process of its own",
        "-   chats      1",
        "+   chats      0",
    ]);
}

fn a_shared_system_is_started_anew_after_a_scenario_that_failed() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("b", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    tree.scenario("a", "fixture = \"none\"\n[[step]]\npost = \"/crash\"\n");
    let ran = tree.retake().args(&["test", "--", "--test-threads", "1"]).run();
    ran.red(&["| going down", "system `agent` ended by itself: exit code 3", "test b                  ... ok"]);
    // What is left of the first scenario calls the model while the second one runs.
    tree.scenario("a", "timeout = \"2s\"\nfixture = \"none\"\n[[step]]\npost = \"/hang\"\n");
    let ran = tree.retake().args(&["test", "--", "--test-threads", "1"]).run();
    ran.red(&["step 1 (POST /hang) was under way", "test b                  ... ok"]);
    assert!(!ran.all().contains("miss"), "{}", ran.all());
    assert_eq!(tree.left(), [""; 0]);
}

fn a_shared_system_that_was_killed_fails_its_scenario() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    let killed = "kill -9 {{ pid }}; while kill -0 {{ pid }} 2>/dev/null; do :; done; echo true";
    tree.scenario(
        "a",
        &format!(
            "fixture = \"none\"\n[[step]]\nget = \"/pid\"\ncapture = {{ pid = \"json:/pid\" }}\n\
             [[step]]\nrun = [\"sh\", \"-c\", \"{killed}\"]\ngolden = false\n"
        ),
    );
    tree.scenario("b", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    let ran = tree.retake().args(&["test", "--", "--test-threads", "1"]).run();
    ran.red(&["system `agent` ended by itself: signal 9", "test b                  ... ok"]);
    assert_eq!(ran.trials()["a"], "FAILED", "{}", ran.all());
}

/// A system that a test started, and ends.
struct Attached(Child);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn attach(model: u16) -> (Attached, u16) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(SERVICE).env("PORT", port.to_string());
    command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{model}/v1")).env("OPENAI_API_KEY", "the-key");
    let child = Attached(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
    (child, port)
}

fn a_system_that_runs_already_is_driven_by_url() {
    let model = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (attached, port) = attach(model);
    let tree = Tree::with_suite(&format!(
        "[systems.agent]\nurl = \"http://localhost:{port}\"\n\
         model = {{ addr = \"127.0.0.1:{model}\", key_env = \"AGENT_MODEL_KEY\" }}\n"
    ));
    tree.scenario("a", CHAT);
    tree.scenario("b", &CHAT.replace("hello", "bye"));
    tree.retake().args(&["test"]).run().red(&["has no fixture"]);

    let upstream = format!("http://{}/v1", super::provider::start());
    let with_key = |args: &[&str]| {
        tree.retake().args(args).env("RETAKE_UPSTREAM_OPENAI", &upstream).env("AGENT_MODEL_KEY", "the-key").run()
    };
    let recorded = with_key(&["record", "a", "b"]);
    recorded.green();
    recorded.tells(&["a: its system is attached, so the proof is one replay instead of two"]);
    tree.retake()
        .args(&["test"])
        .run()
        .red(&["AGENT_MODEL_KEY is not set: it holds the key that system `agent` sends"]);

    // Two runners at once, two scenarios each: they take turns.
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| with_key(&["test"]))).collect();
        for run in runs {
            run.join().unwrap().green();
        }
    });
    drop(attached);
    with_key(&["test"]).red(&["system `agent` cannot be reached at http://localhost:", "start it first"]);
    assert_eq!(tree.left(), [""; 0]);
}

fn a_system_that_needs_another_is_told_where_it_is() {
    let front =
        described("front", r#"BACKEND = "{{ systems.backend }}/health""#, &format!("{READY}\nneeds = [\"backend\"]"));
    let tree = Tree::with_suite(&(described("backend", "", READY) + &front));
    tree.scenario(
        "a",
        "system = \"front\"\nfixture = \"none\"\n[[step]]\nget = \"/environment\"\ngolden = true\n\
         [golden]\ndetail = \"values\"\n",
    );
    tree.retake().args(&["test", "--update"]).run().green();
    let golden = tree.read("goldens/a.snap");
    assert!(golden.contains(r#""http://<backend>/health""#), "{golden}");
    assert_eq!(tree.left(), [""; 0]);
    tree.scenario("a", "system = \"front\"\nfixture = \"none\"\n[[step]]\npost = \"/crash\"\n");
    tree.retake()
        .args(&["test"])
        .run()
        .red(&["system `front` ended by itself", "the last lines of system `backend`'s log"]);
}

/// 16 processes at once, each with a system of its own; as many rounds as `RETAKE_PORT_ROUNDS` says where it is set.
fn processes_at_once_do_not_take_each_others_ports() {
    let rounds = std::env::var("RETAKE_PORT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let tree = Tree::with_suite(&described("agent", "", READY));
    tree.scenario("a", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    for _ in 0..rounds {
        let mut running: Vec<Child> = Vec::new();
        for _ in 0..16 {
            running.push(tree.retake().args(&["test"]).into_command().stdout(Stdio::null()).spawn().unwrap());
        }
        for mut runner in running {
            assert!(runner.wait().unwrap().success());
        }
    }
    assert_eq!(tree.left(), [""; 0]);
}
