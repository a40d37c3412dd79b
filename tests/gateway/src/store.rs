//! Users, threads, runs and messages in SQLite.
//!
//! The calls block: each is one small statement on a local file, under a mutex, and never held over an await.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, Row, ToSql, params, types::Type};
use serde::Serialize;

use crate::message::Message;

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
    CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, message TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS messages_of_thread ON messages (thread_id);
    CREATE INDEX IF NOT EXISTS runs_of_thread ON runs (thread_id);
    UPDATE runs SET status = 'interrupted' WHERE status = 'running';
    COMMIT;";

pub(crate) struct Store(Mutex<Connection>);

#[derive(Serialize)]
pub(crate) struct Thread {
    pub(crate) thread_id: String,
    pub(crate) created_at: String,
    pub(crate) title: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Run {
    pub(crate) run_id: String,
    pub(crate) status: String,
    pub(crate) created_at: String,
}

impl Store {
    /// A run that a former process left unfinished is marked as interrupted.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let database = Connection::open(path)?;
        database.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(database)))
    }

    /// False if the e-mail address is taken.
    pub(crate) fn register(&self, user: &str, email: &str, session: &str) -> Result<bool> {
        let new = "INSERT INTO users VALUES (?1, ?2, ?3) ON CONFLICT (email) DO NOTHING";
        if self.change(new, params![user, email, now()])? == 0 {
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

    /// None if there is no such thread, or it is another user's.
    pub(crate) fn thread(&self, id: &str, user: &str) -> Result<Option<Thread>> {
        let found = "SELECT id, created_at, title FROM threads WHERE id = ?1 AND user_id = ?2";
        let thread = |row: &Row| Ok(Thread { thread_id: row.get(0)?, created_at: row.get(1)?, title: row.get(2)? });
        self.lock().query_row(found, [id, user], thread).optional()
    }

    pub(crate) fn set_title(&self, thread: &str, title: &str) -> Result<()> {
        self.change("UPDATE threads SET title = ?2 WHERE id = ?1", params![thread, title]).map(drop)
    }

    /// False if the thread has a run that is still going.
    pub(crate) fn begin_run(&self, id: &str, thread: &str) -> Result<bool> {
        let new = "INSERT INTO runs SELECT ?1, ?2, 'running', ?3 WHERE NOT EXISTS
            (SELECT 1 FROM runs WHERE thread_id = ?2 AND status = 'running')";
        Ok(self.change(new, params![id, thread, now()])? == 1)
    }

    pub(crate) fn end_run(&self, id: &str, status: &str) -> Result<()> {
        self.change("UPDATE runs SET status = ?2 WHERE id = ?1", params![id, status]).map(drop)
    }

    pub(crate) fn runs(&self, thread: &str) -> Result<Vec<Run>> {
        let run = |row: &Row| Ok(Run { run_id: row.get(0)?, status: row.get(1)?, created_at: row.get(2)? });
        self.list("SELECT id, status, created_at FROM runs WHERE thread_id = ?1 ORDER BY rowid", thread, run)
    }

    pub(crate) fn add_messages(&self, thread: &str, messages: &[Message]) -> Result<()> {
        let mut database = self.lock();
        let change = database.transaction()?;
        for message in messages {
            let text = serde_json::to_string(message)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            change.execute("INSERT INTO messages (thread_id, message) VALUES (?1, ?2)", [thread, &text])?;
        }
        change.commit()
    }

    pub(crate) fn messages(&self, thread: &str) -> Result<Vec<Message>> {
        let message = |row: &Row| {
            let text: String = row.get(0)?;
            serde_json::from_str(&text)
                .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
        };
        self.list("SELECT message FROM messages WHERE thread_id = ?1 ORDER BY seq", thread, message)
    }

    fn list<T>(&self, found: &str, thread: &str, read: impl FnMut(&Row) -> Result<T>) -> Result<Vec<T>> {
        self.lock().prepare(found)?.query_map([thread], read)?.collect()
    }

    fn change(&self, change: &str, params: &[&dyn ToSql]) -> Result<usize> {
        self.lock().execute(change, params)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> String {
    Timestamp::now().to_string()
}
