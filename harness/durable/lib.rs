//! Durable steps, for agents in Rust whose model and tool calls should survive a crash. Each call goes through a
//! [`Journal`]. When the agent is started again, the journal serves the results that are still valid, so they are not paid
//! for twice.
//!
//! The agent keeps no state of its own, and is written as if it never failed. On a retry it runs from the beginning, makes
//! the same steps in the same order, and gets the recorded results, up to the first step that the last attempt did not
//! finish or whose request is now different.
//!
//! ```
//! use retake_durable::{Journal, ModelRequest, ToolRequest};
//!
//! # async fn provider(_: &serde_json::Value) -> Result<String, std::io::Error> { Ok("4".into()) }
//! # async fn lookup(_: &serde_json::Value) -> Result<u32, std::io::Error> { Ok(4) }
//! async fn agent(journal: Journal) -> Result<String, Box<dyn std::error::Error>> {
//!     let run = journal.run();
//!     let args = serde_json::json!({ "city": "Paris" });
//!     let call = ToolRequest::new("weather", &args).call_id("call_1");
//!     let degrees: u32 = run.tool(&call, |_| lookup(&args)).await?;
//!
//!     let messages = serde_json::json!([{ "role": "user", "content": format!("It is {degrees} degrees. A coat?") }]);
//!     let request = ModelRequest::new("gpt-5", &messages).settings(&serde_json::json!({ "temperature": 0 }));
//!     let answer: String = run.model("advise", &request, |_| provider(&messages)).await?;
//!
//!     let done = journal.finish(); // comes last: a crash before this line loses no finished step
//!     assert_eq!((done.counters.replayed, done.counters.live), (0, 2));
//!     Ok(answer)
//! }
//! # let folder = tempfile::tempdir()?;
//! # let journal = Journal::open(&folder.path().join("steps.jsonl"))?;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(agent(journal))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is served
//!
//! - The model and tool steps of a [`Run`] share one counter. A step gets its number when [`Run::model`] or [`Run::tool`]
//!   is called, before anything is awaited, so parallel steps are numbered in the order in which they are started.
//! - A step is served if the journal has a step with the same number, the same name and the same fingerprint
//!   ([`ModelRequest`] and [`ToolRequest`] document what is part of it). The closure of a served step is never called.
//! - The first step that differs from the recorded one **diverges**: this step and every later one, in any run of the
//!   journal, runs live. Everything that was recorded after it is stale from then on, also for later attempts and even if it
//!   looks the same, since tool results may belong to a different conversation.
//! - A retry of a failed step is the same step: if the same request is made again, in the process or after a crash, it gets
//!   the same number. So an agent that waits after a 429 and then goes on pays for nothing twice after a crash. Agents inside
//!   a failed step start again, and are served what they had finished. A different request in its place diverges, as usual.
//! - A step that the journal does not have runs live, and does not diverge: when the last attempt ended, it was still in
//!   flight, while parallel steps had finished.
//! - A step that cannot be fingerprinted is served only if the previous step of its run was served, since nothing else shows
//!   that it is the same; the first step of a run never is. [`Unverified::Refuse`] forbids even this. In both cases there is
//!   a warning. If such a step runs live, its recorded result is discarded, and no later attempt is served from it.
//! - A recorded result that no longer deserializes to the requested type diverges, with a warning. A recorded `null` is a
//!   valid result.
//!
//! # What is stored
//!
//! - A step that succeeds is one line of the file, which is appended and synced before the step returns its result. A step
//!   that fails, panics or is dropped has no result, and runs again; its line is written together with the next step that
//!   succeeds. A tool that is [not replayable](ToolRequest::not_replayable) is never stored.
//! - A result that could not be read back as it was is not stored: one with NaN or an infinity, one with `Some(None)`, which would
//!   come back as `None`, or one that nests deeper than serde_json reads. A warning names the step.
//! - A result that was paid for, but not yet written when the process was killed, is paid for again. This affects only the
//!   steps in flight, and cannot be avoided: tools with side effects should use the call's id as their idempotency key.
//! - A file that cannot be written does not fail the run: the step returns its result, and a warning says that a retry would
//!   run the step again. The line is written together with the next one, if that is possible.
//! - A failed attempt keeps its entries. [`Journal::finish`] removes them, and never fails.
//! - A second writer, in this process or in another, gets an error while the first is at work. A last line that was torn by a
//!   crash is reported and ignored. Any other damage is an error, and the file stays as it is.
//!
//! # Compared with Airflow's journal
//!
//! The rules are those of Airflow's newer journal of durable agents: serving ends at the first mismatch, a step without a
//! fingerprint is served only after a served one, and a failed attempt keeps its entries. Airflow's older journal, which found
//! a step by a counter alone and wrote the whole file at each step, works differently.
//!
//! Opening the journal, starting a step and writing a result block briefly, as file access does. No async runtime is needed.

mod attempt;
mod file;
mod finite;
mod journal;
mod number;
mod request;
mod run;
#[cfg(test)]
mod tests;

pub use attempt::{Counters, Unverified};
pub use journal::{Finished, Journal};
pub use request::{ModelRequest, ToolRequest};
pub use run::{Run, Step};
