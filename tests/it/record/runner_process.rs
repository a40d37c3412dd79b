//! What the processes of a recording have and do: only the command has a provider's key, and only it reaches a provider.

use std::process::Stdio;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use serde_json::json;

use crate::record::provider_keys::{VALUE, completion};
use crate::support::loopback::{Service, chat, send};
use crate::support::tree::Tree;

tests! {
    no_process_that_the_command_starts_has_a_providers_key,
    a_runner_that_records_opens_only_sockets_of_loopback_and_none_to_the_provider,
}

const KEYS: [&str; 7] = [
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "OLLAMA_API_KEY",
];

/// A recording that waits for an answer of its provider.
struct Held {
    provider: Service,
    came: std::sync::mpsc::Receiver<()>,
    goes_on: Arc<tokio::sync::Notify>,
}

impl Held {
    /// Starts a provider that says that a call came, and answers when it is told to.
    fn provider() -> Held {
        let (say, came) = std::sync::mpsc::channel();
        let goes_on = Arc::new(tokio::sync::Notify::new());
        let waits = goes_on.clone();
        let provider = Service::start(Router::new().fallback(async move || {
            say.send(()).unwrap();
            waits.notified().await;
            ([(CONTENT_TYPE, "application/json")], completion("hello"))
        }));
        Held { provider, came, goes_on }
    }

    /// The recordings of a project whose system is a program, and of one whose system is a router in its runner. Each has all
    /// keys in its environment.
    fn recordings(&self) -> [(Tree, crate::support::program::Program); 2] {
        use crate::systems::described::{CHAT, READY, system};
        let of_program = Tree::with_suite(&format!("secrets = [\"STRIPE_TOKEN\"]\n{}", system("agent", "", READY)));
        of_program.scenario("chat", CHAT);
        let of_router = crate::runner::discovery::greeting();
        of_router.write("scenarios/hello/scenario.toml", &crate::runner::discovery::asking("Hello"));
        let programs =
            [of_program.retake().args(&["record", "chat"]), of_router.recorder("oddities", "record", "hello")];
        let with_keys = programs.map(|program| {
            let program = KEYS.iter().fold(program, |program, name| program.env(name, VALUE));
            // An address may have a password in it.
            let address = self.provider.openai().replace("//", &format!("//team:{VALUE}@"));
            program.env("RETAKE_UPSTREAM_OPENAI", address).env("STRIPE_TOKEN", "the-t0ken-of-stripe")
        });
        let [first, second] = with_keys;
        [(of_program, first), (of_router, second)]
    }
}

fn no_process_that_the_command_starts_has_a_providers_key() {
    use super::processes::{all_of, environment_of};
    let (held, mut seen) = (Held::provider(), 0);
    for (tree, program) in held.recordings() {
        let mut command = program.into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        held.came.recv().unwrap();
        let all = all_of(child.id());
        assert!(environment_of(all[0]).iter().any(|variable| variable.contains(VALUE)), "the command has the keys");
        let (mut relay, mut systems) = (Vec::new(), 0);
        for process in &all[1..] {
            let environment = environment_of(*process);
            let line = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            assert!(
                !line.contains(VALUE) && environment.iter().all(|variable| !variable.contains(VALUE)),
                "{line}: {environment:?}"
            );
            let is_system = environment.iter().any(|variable| variable.starts_with("OPENAI_BASE_URL="));
            assert!(
                !is_system || environment.iter().all(|variable| !variable.starts_with("RETAKE_RELAY")),
                "{environment:?}"
            );
            systems += usize::from(is_system);
            relay.extend(environment.iter().filter(|variable| variable.starts_with("RETAKE_RELAY=")).cloned());
        }
        // The runner is told where the relay is, and it has the secrets that it has to remove.
        let runner = environment_of(all[1]);
        assert!(runner.contains(&"STRIPE_TOKEN=the-t0ken-of-stripe".to_owned()), "{runner:?}");
        assert!(!relay.is_empty(), "{runner:?}");
        seen += systems;
        // The relay spends money for nobody else.
        let address = relay[0].strip_prefix("RETAKE_RELAY=").unwrap();
        let call = chat(&json!([{ "role": "user", "content": "Hello" }]), false);
        for headers in [&[][..], &[("x-retake-relay-key", "guessed")], &[("authorization", "Bearer guessed")]] {
            for path in ["openai/v1/chat/completions", "__relay/scrub"] {
                assert_eq!(send(&format!("http://{address}/{path}"), headers, Some(&call)).status, 403);
            }
        }
        held.goes_on.notify_one();
        assert!(child.wait().unwrap().success());
        assert!(tree.files().values().all(|text| !text.contains(VALUE)));
    }
    assert!(seen > 0, "a system was looked at");
}

fn a_runner_that_records_opens_only_sockets_of_loopback_and_none_to_the_provider() {
    use super::processes::{all_of, sockets_of};
    let held = Held::provider();
    let to: std::net::SocketAddr = held.provider.openai()["http://".len()..].trim_end_matches("/v1").parse().unwrap();
    for (tree, program) in held.recordings() {
        let mut command = program.into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (mut looks, mut of_command, mut of_runner) = (0, Vec::new(), Vec::new());
        let id = child.id();
        let mut look = || {
            for process in all_of(id) {
                let sockets = sockets_of(process);
                if process == id { of_command.extend(sockets) } else { of_runner.extend(sockets) }
            }
            looks += 1;
        };
        // From its start, and while a call is under way, until its end.
        while held.came.try_recv().is_err() {
            look();
        }
        look();
        held.goes_on.notify_one();
        while child.try_wait().unwrap().is_none() {
            look();
        }
        assert!(child.wait().unwrap().success());
        assert!(looks > 3 && of_command.contains(&to), "the command reaches the provider: {of_command:?}");
        assert!(!of_runner.is_empty() && !of_runner.contains(&to), "{of_runner:?}");
        assert!(of_runner.iter().all(|address| address.ip().is_loopback()), "{of_runner:?}");
        drop(tree);
    }
}
