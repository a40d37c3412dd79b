//! Users, threads, runs and messages in SQLite.
//!
//! The calls block. That is fine here: each executes a few small statements on a local file, and the mutex is never held
//! across an await.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, Row, ToSql, params, types::Type};
use serde::Serialize;

use crate::{message::Message, mutants::mutant};

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    BEGIN;
    CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS sessions (token TEXT PRIMARY KEY, user_id TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS threads
        (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, title TEXT, created_at TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS runs
        (id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS messages
        (seq INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, run_id TEXT NOT NULL, message TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS messages_of_run ON messages (thread_id, run_id);
    CREATE TABLE IF NOT EXISTS checkpoints (seq INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, message TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS checkpoint_of_thread ON checkpoints (thread_id);
    CREATE TABLE IF NOT EXISTS facts (seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL, fact TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS runs_of_thread ON runs (thread_id);
    UPDATE runs SET status = 'interrupted' WHERE status = 'running';
    COMMIT;";

pub(crate) struct Store(Mutex<Connection>);

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "its names on the wire")]
pub(crate) struct Thread {
    pub(crate) thread_id: String,
    pub(crate) created_at: String,
    pub(crate) title: Option<String>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "its names on the wire")]
pub(crate) struct Run {
    pub(crate) run_id: String,
    pub(crate) status: String,
    pub(crate) created_at: String,
}

impl Store {
    /// Opens the database, or creates it. Runs that an earlier process left unfinished are marked as interrupted.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let database = Connection::open(path)?;
        database.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(database)))
    }

    /// Adds a user and a session. Returns false if the e-mail address is taken.
    pub(crate) fn register(&self, user: &str, email: &str, session: &str) -> Result<bool> {
        let new = "INSERT INTO users VALUES (?1, ?2, ?3) ON CONFLICT (email) DO NOTHING";
        if self.change(new, params![user, email, now()])? == 0 && !mutant!("register_again") {
            return Ok(false);
        }
        self.change("INSERT INTO sessions VALUES (?1, ?2)", params![session, user])?;
        Ok(true)
    }

    pub(crate) fn user_of(&self, session: &str) -> Result<Option<String>> {
        let found = "SELECT user_id FROM sessions WHERE token = ?1";
        self.lock().query_row(found, [session], |row| row.get(0)).optional()
    }

    pub(crate) fn add_thread(&self, id: &str, user: &str) -> Result<Thread> {
        let created_at = now();
        self.change("INSERT INTO threads VALUES (?1, ?2, NULL, ?3)", params![id, user, created_at])?;
        Ok(Thread { thread_id: id.to_owned(), created_at, title: None })
    }

    /// Returns a thread of this user; `None` if it does not exist or belongs to another user.
    pub(crate) fn thread(&self, id: &str, user: &str) -> Result<Option<Thread>> {
        let found = "SELECT id, created_at, title FROM threads WHERE id = ?1 AND user_id = ?2";
        let thread = |row: &Row| Ok(Thread { thread_id: row.get(0)?, created_at: row.get(1)?, title: row.get(2)? });
        self.lock().query_row(found, [id, user], thread).optional()
    }

    /// Returns a thread, whichever user it belongs to.
    pub(crate) fn any_thread(&self, id: &str) -> Result<Option<Thread>> {
        let found = "SELECT id, created_at, title FROM threads WHERE id = ?1";
        let thread = |row: &Row| Ok(Thread { thread_id: row.get(0)?, created_at: row.get(1)?, title: row.get(2)? });
        self.lock().query_row(found, [id], thread).optional()
    }

    /// Returns a user's threads, newest first.
    pub(crate) fn threads(&self, user: &str) -> Result<Vec<Thread>> {
        let thread = |row: &Row| Ok(Thread { thread_id: row.get(0)?, created_at: row.get(1)?, title: row.get(2)? });
        let found = "SELECT id, created_at, title FROM threads WHERE user_id = ?1 ORDER BY rowid DESC";
        let found = mutant!("list_of_everybody", &found.replace("user_id = ?1", "?1 = ?1"), found);
        let found = mutant!("list_oldest_first", &found.replace("DESC", "ASC"), found);
        self.list(found, &[&user], thread)
    }

    pub(crate) fn set_title(&self, thread: &str, title: &str) -> Result<()> {
        let change = "UPDATE threads SET title = ?2 WHERE id = ?1";
        let change = mutant!("title_of_all_threads", "UPDATE threads SET title = ?2 WHERE ?1 = ?1", change);
        self.change(change, params![thread, title]).map(drop)
    }

    /// Deletes a thread with its runs and their messages. Returns false if one of its runs has not ended.
    pub(crate) fn delete_thread(&self, id: &str) -> Result<bool> {
        let mut database = self.lock();
        let change = database.transaction()?;
        let running = "SELECT 1 FROM runs WHERE thread_id = ?1 AND status = 'running'";
        if change.query_row(running, [id], |_| Ok(())).optional()?.is_some() {
            return Ok(false);
        }
        for of_thread in [
            "DELETE FROM checkpoints WHERE thread_id = ?1",
            mutant!("delete_all_messages", "DELETE FROM messages", "DELETE FROM messages WHERE thread_id = ?1"),
            "DELETE FROM runs WHERE thread_id = ?1",
            mutant!("delete_only_content", "SELECT ?1 WHERE 0", "DELETE FROM threads WHERE id = ?1"),
        ] {
            change.execute(of_thread, [id])?;
        }
        change.commit()?;
        Ok(true)
    }

    /// Adds a run. Returns false if the thread has another run that has not ended.
    pub(crate) fn begin_run(&self, id: &str, thread: &str) -> Result<bool> {
        let new = "INSERT INTO runs SELECT ?1, ?2, 'running', ?3 WHERE NOT EXISTS
            (SELECT 1 FROM runs WHERE thread_id = ?2 AND status = 'running')";
        Ok(self.change(new, params![id, thread, now()])? == 1)
    }

    pub(crate) fn end_run(&self, id: &str, status: &str) -> Result<()> {
        self.change("UPDATE runs SET status = ?2 WHERE id = ?1", params![id, status]).map(drop)
    }

    /// Returns the runs of a thread, newest first.
    pub(crate) fn runs(&self, thread: &str) -> Result<Vec<Run>> {
        let run = |row: &Row| Ok(Run { run_id: row.get(0)?, status: row.get(1)?, created_at: row.get(2)? });
        let found = "SELECT id, status, created_at FROM runs WHERE thread_id = ?1 ORDER BY rowid DESC";
        let found = mutant!("runs_of_all_threads", &found.replace("thread_id = ?1", "?1 = ?1"), found);
        self.list(found, &[&thread], run)
    }

    /// Adds messages to the history of a run.
    pub(crate) fn add_messages(&self, thread: &str, run: &str, messages: &[Message]) -> Result<()> {
        let mut database = self.lock();
        let change = database.transaction()?;
        for message in messages {
            let new = "INSERT INTO messages (thread_id, run_id, message) VALUES (?1, ?2, ?3)";
            change.execute(new, [thread, run, &text(message)?])?;
        }
        change.commit()
    }

    /// Adds messages to the checkpoint, from which the agent continues at the thread's next run.
    pub(crate) fn add_to_checkpoint(&self, thread: &str, messages: &[Message]) -> Result<()> {
        let mut database = self.lock();
        let change = database.transaction()?;
        for message in messages {
            change
                .execute("INSERT INTO checkpoints (thread_id, message) VALUES (?1, ?2)", [thread, &text(message)?])?;
        }
        change.commit()
    }

    /// Returns the messages of a run. The history of a thread consists of the messages of its runs.
    pub(crate) fn messages(&self, thread: &str, run: &str) -> Result<Vec<Message>> {
        let found = "SELECT message FROM messages WHERE thread_id = ?1 AND run_id = ?2 ORDER BY seq";
        let found = mutant!("run_messages_of_thread", &found.replace("run_id = ?2", "?2 = ?2"), found);
        self.list(found, &[&thread, &run], message)
    }

    /// Returns the messages from which the agent continues.
    pub(crate) fn checkpoint(&self, thread: &str) -> Result<Vec<Message>> {
        let found = "SELECT message FROM checkpoints WHERE thread_id = ?1 ORDER BY seq";
        let found = mutant!("checkpoint_of_all_threads", &found.replace("thread_id = ?1", "?1 = ?1"), found);
        let found = mutant!("checkpoint_first_six", &format!("{found} LIMIT 6"), found);
        let found = mutant!("checkpoint_newest_first", &found.replace("seq", "seq DESC"), found);
        self.list(found, &[&thread], message)
    }

    /// Returns the facts that are stored about a user, oldest first.
    pub(crate) fn facts(&self, user: &str) -> Result<Vec<String>> {
        let found = "SELECT fact FROM facts WHERE user_id = ?1 ORDER BY seq";
        let found = mutant!("memory_of_everybody", &found.replace("user_id = ?1", "?1 = ?1"), found);
        self.list(found, &[&user], |row| row.get(0))
    }

    pub(crate) fn add_fact(&self, user: &str, fact: &str) -> Result<()> {
        let user = mutant!("memory_of_nobody", "", user);
        self.change("INSERT INTO facts (user_id, fact) VALUES (?1, ?2)", params![user, fact]).map(drop)
    }

    fn list<T>(&self, found: &str, of: &[&dyn ToSql], read: impl FnMut(&Row) -> Result<T>) -> Result<Vec<T>> {
        self.lock().prepare(found)?.query_map(of, read)?.collect()
    }

    fn change(&self, change: &str, params: &[&dyn ToSql]) -> Result<usize> {
        self.lock().execute(change, params)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(message: &Message) -> Result<String> {
    serde_json::to_string(message).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn message(row: &Row) -> Result<Message> {
    let text: String = row.get(0)?;
    serde_json::from_str(&text).map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

fn now() -> String {
    let now = Timestamp::now().to_string();
    if mutant!("times_of_the_zone") {
        return now.replace('Z', "+00:00");
    }
    mutant!("times_without_zone", now.trim_end_matches('Z').to_owned(), now)
}
