//! Systems that several scenarios share, systems that are already running, and systems that need others.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::described::{CHAT, READY, system as described};
use super::provider::record;
use super::service::SERVICE;
use crate::support::loopback::free_port;
use crate::support::tree::Tree;

tests!(
    a_shared_system_is_one_process_for_all_scenarios,
    the_proof_finds_state_that_a_shared_system_keeps,
    a_shared_system_is_restarted_after_a_scenario_that_failed,
    a_shared_system_that_was_killed_fails_its_scenario,
    a_system_that_is_already_running_is_reached_by_its_url,
    a_system_that_needs_another_one_gets_its_address,
    a_command_is_told_where_the_only_system_is,
    concurrent_processes_do_not_take_the_same_port,
);

const COUNT: &str = "\n[[step]]\nget = \"/count\"\ngolden = true\n[golden]\ndetail = \"values\"\n";

fn a_shared_system_is_one_process_for_all_scenarios() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", CHAT);
    tree.scenario("b", &CHAT.replace("hello", "bye"));
    record(&tree, &["a", "b"]).green();
    tree.retake().args(&["test", "--", "--test-threads", "4"]).run().green();
    // Each scenario has its own fixture, although they share the system: with the fixture of `a`, `b` misses.
    tree.write("fixtures/b.json", &tree.read("fixtures/a.json"));
    let ran = tree.retake().args(&["test"]).run();
    ran.red(&["miss", "+ bye"]);
    assert!(ran.all().contains("1 failed"), "{}", ran.all());
    assert_eq!(tree.left(), [""; 0]);
}

fn the_proof_finds_state_that_a_shared_system_keeps() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", CHAT);
    record(&tree, &["a"]).green();
    let count = format!("fixture = \"none\"{COUNT}");
    tree.scenario("b", &count);
    tree.retake().args(&["test", "b", "--update"]).run().green();
    // After `a`, the shared process has counted one chat. The proof's second process has counted none.
    let ran = tree.retake().args(&["test", "--update", "--", "--test-threads", "1"]).run();
    ran.red(&[
        "unstable: two replays of scenario `b` differ",
        "the second one used a process of its own",
        "-   chats      1",
        "+   chats      0",
    ]);
}

fn a_shared_system_is_restarted_after_a_scenario_that_failed() {
    let tree = Tree::with_suite(&described("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("b", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    tree.scenario("a", "fixture = \"none\"\n[[step]]\npost = \"/crash\"\n");
    let ran = tree.retake().args(&["test", "--", "--test-threads", "1"]).run();
    ran.red(&["| going down", "system `agent` exited with code 3", "test b                  ... ok"]);
    // A task of the first scenario would call the model while the second one runs.
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
    ran.red(&["system `agent` was ended by signal 9", "test b                  ... ok"]);
    assert_eq!(ran.trials()["a"], "FAILED", "{}", ran.all());
}

/// A system that a test started itself. It is killed when this value is dropped.
pub(crate) struct Attached(Child);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts the service, which calls a model server on this port. Returns it with its own port.
pub(crate) fn attach(model: u16) -> (Attached, u16) {
    let port = free_port();
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

fn a_system_that_is_already_running_is_reached_by_its_url() {
    let model = free_port();
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

    // Two runners with two scenarios each start at the same time, and take turns.
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

fn a_system_that_needs_another_one_gets_its_address() {
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
    tree.retake().args(&["test"]).run().red(&["system `front` ", "the last lines of system `backend`'s log"]);
}

fn a_command_is_told_where_the_only_system_is() {
    let tree = Tree::with_suite(&described("agent", "", READY));
    let asks =
        "exec 3<>/dev/tcp/127.0.0.1/$1 && echo GET /count HTTP/1.0 >&3 && echo >&3 && cat <&3 >/dev/null && echo true";
    let step =
        |port: &str| format!("[[step]]\nrun = [\"bash\", \"-c\", \"{asks}\", \"-\", \"{port}\"]\ngolden = false\n");
    tree.scenario("a", &format!("fixture = \"none\"\n{}", step("{{ port }}")));
    tree.scenario("b", &format!("fixture = \"none\"\n{}[vars]\nwhere = \"{{{{ port }}}}\"\n", step("{{ where }}")));
    tree.retake().args(&["test"]).run().green();
    let list = tree.retake().args(&["list"]).run();
    list.says(&["command line", "agent"]);
    // With two systems, it has to be said which one.
    let both = format!("{}{}", tree.read("scenarios/suite.toml"), described("other", "", READY));
    tree.write("scenarios/suite.toml", &both);
    tree.retake().args(&["test"]).run().red(&["this scenario does not say which system it is for"]);
}

/// Starts 16 processes at the same time, each with its own system. `RETAKE_PORT_ROUNDS` sets the number of rounds.
fn concurrent_processes_do_not_take_the_same_port() {
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
