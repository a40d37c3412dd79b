//! Users, threads, runs and messages. They are kept in memory, and each change is a line in a file, from which the next
//! process reads them.
//!
//! The calls block. That is fine here: each writes a line to a local file, and the mutex is never held across an await.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{message::Message, mutants::mutant};

pub(crate) struct Store(Mutex<Tables>);

#[derive(Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "its names on the wire")]
pub(crate) struct Thread {
    pub(crate) thread_id: String,
    pub(crate) created_at: String,
    pub(crate) title: Option<String>,
    #[serde(skip)]
    user: String,
}

#[derive(Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "its names on the wire")]
pub(crate) struct Run {
    pub(crate) run_id: String,
    pub(crate) status: String,
    pub(crate) created_at: String,
    #[serde(skip)]
    thread: String,
}

/// The rows, oldest first, and the file that gets the changes.
struct Tables {
    file: File,
    emails: Vec<String>,
    /// Tokens and their users.
    sessions: Vec<(String, String)>,
    threads: Vec<Thread>,
    runs: Vec<Run>,
    messages: Vec<(OfRun, Message)>,
    /// Threads, and the messages from which the agent continues.
    checkpoints: Vec<(String, Message)>,
    /// Users, and what is known about them.
    facts: Vec<(String, String)>,
}

struct OfRun {
    thread: String,
    run: String,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
enum Change {
    User { email: String },
    Session { token: String, user: String },
    Thread { thread: String, user: String, at: String },
    Title { thread: String, title: String },
    Deleted { thread: String },
    Run { run: String, thread: String, at: String },
    Ended { run: String, status: String },
    Message { thread: String, run: String, message: Message },
    Checkpoint { thread: String, message: Message },
    Fact { user: String, fact: String },
}

const RUNNING: &str = "running";

impl Store {
    /// Reads the file, or creates it. Runs that an earlier process left unfinished are marked as interrupted.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let before = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            before => before?,
        };
        // A line without an end was being written when the process was killed.
        let whole = before.rfind('\n').map_or(0, |end| end + 1);
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        file.set_len(whole as u64)?;
        let mut tables = Tables {
            file,
            emails: Vec::new(),
            sessions: Vec::new(),
            threads: Vec::new(),
            runs: Vec::new(),
            messages: Vec::new(),
            checkpoints: Vec::new(),
            facts: Vec::new(),
        };
        for line in before[..whole].lines() {
            tables.apply(serde_json::from_str(line)?);
        }
        for run in tables.runs.iter_mut().filter(|run| run.status == RUNNING) {
            "interrupted".clone_into(&mut run.status);
        }
        Ok(Self(Mutex::new(tables)))
    }

    /// Adds a user and a session. Returns false if the e-mail address is taken.
    pub(crate) fn register(&self, user: &str, email: &str, session: &str) -> io::Result<bool> {
        let mut tables = self.lock();
        if !tables.emails.iter().any(|taken| taken == email) {
            tables.change([Change::User { email: email.to_owned() }])?;
        } else if !mutant!("register_again") {
            return Ok(false);
        }
        tables.change([Change::Session { token: session.to_owned(), user: user.to_owned() }])?;
        Ok(true)
    }

    pub(crate) fn user_of(&self, session: &str) -> Option<String> {
        self.lock().sessions.iter().find(|(token, _)| token == session).map(|(_, user)| user.clone())
    }

    pub(crate) fn add_thread(&self, id: &str, user: &str) -> io::Result<Thread> {
        let mut tables = self.lock();
        tables.change([Change::Thread { thread: id.to_owned(), user: user.to_owned(), at: now() }])?;
        tables.threads.last().cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns a thread of this user; `None` if it does not exist or belongs to another user.
    pub(crate) fn thread(&self, id: &str, user: &str) -> Option<Thread> {
        self.any_thread(id).filter(|thread| thread.user == user)
    }

    /// Returns a thread, whichever user it belongs to.
    pub(crate) fn any_thread(&self, id: &str) -> Option<Thread> {
        self.lock().threads.iter().find(|thread| thread.thread_id == id).cloned()
    }

    /// Returns a user's threads, newest first.
    pub(crate) fn threads(&self, user: &str) -> Vec<Thread> {
        let tables = self.lock();
        let of_user = |thread: &&Thread| thread.user == user || mutant!("list_of_everybody");
        let mut threads: Vec<_> = tables.threads.iter().filter(of_user).cloned().collect();
        if !mutant!("list_oldest_first") {
            threads.reverse();
        }
        threads
    }

    pub(crate) fn set_title(&self, thread: &str, title: &str) -> io::Result<()> {
        self.lock().change([Change::Title { thread: thread.to_owned(), title: title.to_owned() }])
    }

    /// Deletes a thread with its runs and their messages. Returns false if one of its runs has not ended.
    pub(crate) fn delete_thread(&self, id: &str) -> io::Result<bool> {
        let mut tables = self.lock();
        if tables.is_running(id) {
            return Ok(false);
        }
        tables.change([Change::Deleted { thread: id.to_owned() }])?;
        Ok(true)
    }

    /// Adds a run. Returns false if the thread has another run that has not ended.
    pub(crate) fn begin_run(&self, id: &str, thread: &str) -> io::Result<bool> {
        let mut tables = self.lock();
        if tables.is_running(thread) {
            return Ok(false);
        }
        tables.change([Change::Run { run: id.to_owned(), thread: thread.to_owned(), at: now() }])?;
        Ok(true)
    }

    pub(crate) fn end_run(&self, id: &str, status: &str) -> io::Result<()> {
        self.lock().change([Change::Ended { run: id.to_owned(), status: status.to_owned() }])
    }

    /// Returns the runs of a thread, newest first.
    pub(crate) fn runs(&self, thread: &str) -> Vec<Run> {
        let tables = self.lock();
        let of_thread = |run: &&Run| run.thread == thread || mutant!("runs_of_all_threads");
        tables.runs.iter().rev().filter(of_thread).cloned().collect()
    }

    /// Adds messages to the history of a run.
    pub(crate) fn add_messages(&self, thread: &str, run: &str, messages: &[Message]) -> io::Result<()> {
        let (thread, run) = (thread.to_owned(), run.to_owned());
        let add =
            |message: &Message| Change::Message { thread: thread.clone(), run: run.clone(), message: message.clone() };
        self.lock().change(messages.iter().map(add))
    }

    /// Adds messages to the checkpoint, from which the agent continues at the thread's next run.
    pub(crate) fn add_to_checkpoint(&self, thread: &str, messages: &[Message]) -> io::Result<()> {
        let thread = thread.to_owned();
        let add = |message: &Message| Change::Checkpoint { thread: thread.clone(), message: message.clone() };
        self.lock().change(messages.iter().map(add))
    }

    /// Returns the messages of a run. The history of a thread consists of the messages of its runs.
    pub(crate) fn messages(&self, thread: &str, run: &str) -> Vec<Message> {
        let tables = self.lock();
        let of_run =
            |(of, _): &&(OfRun, _)| of.thread == thread && (of.run == run || mutant!("run_messages_of_thread"));
        tables.messages.iter().filter(of_run).map(|(_, message)| message.clone()).collect()
    }

    /// Returns the messages from which the agent continues.
    pub(crate) fn checkpoint(&self, thread: &str) -> Vec<Message> {
        let tables = self.lock();
        let of_thread = |(of, _): &&(String, _)| of == thread || mutant!("checkpoint_of_all_threads");
        let mut messages: Vec<_> =
            tables.checkpoints.iter().filter(of_thread).map(|(_, message)| message.clone()).collect();
        if mutant!("checkpoint_first_six") {
            messages.truncate(6);
        }
        if mutant!("checkpoint_newest_first") {
            messages.reverse();
        }
        messages
    }

    /// Returns the facts that are stored about a user, oldest first.
    pub(crate) fn facts(&self, user: &str) -> Vec<String> {
        let tables = self.lock();
        let of_user = |(of, _): &&(String, _)| of == user || mutant!("memory_of_everybody");
        tables.facts.iter().filter(of_user).map(|(_, fact)| fact.clone()).collect()
    }

    pub(crate) fn add_fact(&self, user: &str, fact: &str) -> io::Result<()> {
        let user = mutant!("memory_of_nobody", "", user);
        self.lock().change([Change::Fact { user: user.to_owned(), fact: fact.to_owned() }])
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    /// Writes changes to the file, all or none, and makes them.
    fn change(&mut self, changes: impl IntoIterator<Item = Change>) -> io::Result<()> {
        let changes: Vec<_> = changes.into_iter().collect();
        let mut lines = Vec::new();
        for change in &changes {
            serde_json::to_writer(&mut lines, change)?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines)?;
        for change in changes {
            self.apply(change);
        }
        Ok(())
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::User { email } => self.emails.push(email),
            Change::Session { token, user } => self.sessions.push((token, user)),
            Change::Thread { thread, user, at } => {
                self.threads.push(Thread { thread_id: thread, created_at: at, title: None, user });
            }
            Change::Title { thread, title } => {
                let named = |known: &&mut Thread| known.thread_id == thread || mutant!("title_of_all_threads");
                self.threads.iter_mut().filter(named).for_each(|known| known.title = Some(title.clone()));
            }
            Change::Deleted { thread } => {
                self.checkpoints.retain(|(of, _)| *of != thread);
                self.messages.retain(|(of, _)| of.thread != thread && !mutant!("delete_all_messages"));
                self.runs.retain(|run| run.thread != thread);
                self.threads.retain(|known| known.thread_id != thread || mutant!("delete_only_content"));
            }
            Change::Run { run, thread, at } => {
                self.runs.push(Run { run_id: run, status: RUNNING.to_owned(), created_at: at, thread });
            }
            Change::Ended { run, status } => {
                if let Some(known) = self.runs.iter_mut().find(|known| known.run_id == run) {
                    known.status = status;
                }
            }
            Change::Message { thread, run, message } => self.messages.push((OfRun { thread, run }, message)),
            Change::Checkpoint { thread, message } => self.checkpoints.push((thread, message)),
            Change::Fact { user, fact } => self.facts.push((user, fact)),
        }
    }

    fn is_running(&self, thread: &str) -> bool {
        self.runs.iter().any(|run| run.thread == thread && run.status == RUNNING)
    }
}

fn now() -> String {
    // A year has four digits, so this cannot fail.
    let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
    if mutant!("times_of_the_zone") {
        return now.replace('Z', "+00:00");
    }
    mutant!("times_without_zone", now.trim_end_matches('Z').to_owned(), now)
}
