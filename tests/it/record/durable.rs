//! Kills the durable agent at every step, before and after each write of its journal. The result is always the same.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use retake::durable::Journal;
use serde_json::{Value, json};

use crate::record::durable_agent::{Answer, Call, agent};

tests!(an_agent_killed_at_any_step_ends_with_the_same_result, an_agent_killed_after_each_step_pays_for_each_step_once);

/// The variable that makes this program the agent. Its value is the agent's folder.
pub(crate) const AGENT: &str = "RETAKE_IT_DURABLE_AGENT";
/// The variable that says at which of its moments the agent waits to be killed: a number, or `stored` for the moment after
/// the first step that cost something.
const KILL_AT: &str = "RETAKE_IT_KILL_AT";

/// The calls that an undisturbed run pays for.
const STEPS: [&str; 6] = ["answer", "expert", "look_up \"Paris\"", "look_up \"a town\"", "plan", "weather"];
const RESULT: &str = "[look_up Paris, look_up a town, weather Paris]";

/// The `main` of the agent. The folder contains its journal, its result and the list of calls that it paid for (`ledger`).
#[expect(clippy::print_stdout, reason = "its parent reads it")]
pub(crate) fn agent_process(folder: &Path) -> ExitCode {
    let world = World { folder: folder.to_owned(), moments: Cell::new(0), paid: Cell::new(false) };
    let journal = Journal::open(&folder.join("steps.jsonl")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(agent(&journal, &world, "How is it in Paris?")).unwrap();
    world.moment("the agent has ended");
    std::fs::write(folder.join("result"), answer).unwrap();
    world.moment("the result is written");
    let done = journal.finish();
    world.moment("the journal is removed");
    println!("{} moments; {}", world.moments.get(), done.counters);
    ExitCode::SUCCESS
}

/// A model, tools, and the moments at which the agent can be killed.
pub(crate) struct World {
    folder: PathBuf,
    moments: Cell<usize>,
    paid: Cell<bool>,
}

impl World {
    pub(crate) async fn model(&self, messages: &[Value]) -> Result<Answer, String> {
        let tools: Vec<&str> =
            messages.iter().filter(|m| m["role"] == "tool").filter_map(|m| m["content"].as_str()).collect();
        let name = match messages {
            [question] if question["content"].is_object() => "expert",
            [_] => "plan",
            _ => "answer",
        };
        let paid = self.pay(name).await;
        let call = |tool: &str, args| Call { id: format!("call_{paid}_{tool}"), tool: tool.to_owned(), args };
        Ok(match name {
            "plan" => Answer {
                text: String::new(),
                calls: vec![
                    call("look_up", json!("Paris")),
                    call("ask_expert", json!({ "about": "towns" })),
                    call("weather", json!({ "city": "Paris" })),
                ],
            },
            "expert" => Answer { text: "a town".to_owned(), calls: Vec::new() },
            _ => Answer { text: format!("[{}]", tools.join(", ")), calls: Vec::new() },
        })
    }

    pub(crate) async fn tool(&self, tool: &str, args: &Value) -> Result<String, String> {
        Ok(if tool == "weather" {
            self.pay("weather").await;
            format!("weather {}", args["city"].as_str().unwrap())
        } else {
            self.pay(&format!("{tool} {args}")).await;
            format!("{tool} {}", args.as_str().unwrap())
        })
    }

    /// Pays for a call. Returns the number of calls paid for so far.
    async fn pay(&self, what: &str) -> usize {
        self.moment("a call is about to be made");
        tokio::task::yield_now().await; // lets the other tools begin
        let ledger = self.folder.join("ledger");
        writeln!(File::options().append(true).create(true).open(&ledger).unwrap(), "{what}").unwrap();
        let paid = std::fs::read_to_string(ledger).unwrap().lines().count();
        self.moment("a call is paid for, and not yet recorded");
        self.paid.set(true);
        paid
    }

    /// Counts a moment. If the agent is to be killed at this one, prints its name and waits.
    #[expect(clippy::print_stdout, reason = "its parent reads it")]
    pub(crate) fn moment(&self, what: &str) {
        self.moments.set(self.moments.get() + 1);
        let now = match std::env::var(KILL_AT).ok().as_deref() {
            Some("stored") => self.paid.get() && what.contains("has returned"),
            number => number == Some(&self.moments.get().to_string()),
        };
        if now {
            println!("{what}");
            // Blocks forever: the other end stays open and sends nothing.
            let _ = std::io::stdin().read(&mut [0]);
        }
    }
}

/// Starts the agent, and kills it if it waits. Returns the line that the agent printed: the moment at which it was killed, or
/// its summary.
fn start(folder: &Path, kill_at: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(AGENT, folder).env(KILL_AT, kill_at).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ended = line.contains(" moments; ");
    if !ended {
        child.kill().unwrap(); // SIGKILL
    }
    assert_eq!(child.wait().unwrap().success(), ended, "{line}");
    drop(stdin);
    line.trim_end().to_owned()
}

/// Returns how often each call was paid for.
fn paid(folder: &Path) -> BTreeMap<String, usize> {
    let mut paid = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("ledger")).unwrap_or_default().lines() {
        *paid.entry(line.to_owned()).or_default() += 1;
    }
    paid
}

#[track_caller]
fn ended_well(folder: &Path, when: &str) {
    assert_eq!(std::fs::read_to_string(folder.join("result")).unwrap(), RESULT, "{when}");
    assert!(!folder.join("steps.jsonl").exists(), "{when}: the journal is still there");
}

fn an_agent_killed_at_any_step_ends_with_the_same_result() {
    let undisturbed = tempfile::tempdir().unwrap();
    let said = start(undisturbed.path(), "never");
    assert_eq!(said, "21 moments; 0 replayed, 7 live");
    ended_well(undisturbed.path(), "undisturbed");
    assert_eq!(paid(undisturbed.path()).into_iter().collect::<Vec<_>>(), STEPS.map(|step| (step.to_owned(), 1)));

    let mut moments = Vec::new();
    for moment in 1..=21 {
        let folder = tempfile::tempdir().unwrap();
        let killed = start(folder.path(), &moment.to_string());
        let when = format!("killed at moment {moment}: {killed}");
        let before = paid(folder.path());
        start(folder.path(), "never");
        // If the agent was killed after it had finished, the second start is a new run.
        if killed != "the journal is removed" {
            ended_well(folder.path(), &when);
            let all = paid(folder.path());
            assert_eq!(all.keys().collect::<Vec<_>>(), STEPS.iter().collect::<Vec<_>>(), "{when}");
            let twice: Vec<_> = all.iter().filter(|(_, times)| **times > 1).collect();
            let in_flight = killed == "a call is paid for, and not yet recorded";
            assert_eq!(twice.len(), usize::from(in_flight), "{when}: {twice:?} paid twice, {before:?} before");
            assert!(all.values().all(|times| *times <= 2), "{when}: {all:?}");
        }
        moments.push(killed);
    }
    moments.sort();
    moments.dedup();
    assert_eq!(
        moments,
        [
            "a call is about to be made",
            "a call is paid for, and not yet recorded",
            "a model step has returned",
            "a tool step has returned",
            "the agent has ended",
            "the journal is removed",
            "the result is written",
        ]
    );
}

fn an_agent_killed_after_each_step_pays_for_each_step_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut attempts = 1;
    while !start(folder.path(), "stored").contains(" moments; ") {
        attempts += 1;
        assert!(attempts < 20, "the agent makes no progress");
    }
    ended_well(folder.path(), "at last");
    assert_eq!(paid(folder.path()).into_iter().collect::<Vec<_>>(), STEPS.map(|step| (step.to_owned(), 1)));
    assert!(attempts > 3, "{attempts}");
}
