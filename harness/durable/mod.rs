//! Durable steps, for agents in Rust that want their own model and tool calls to survive a crash: each call goes through
//! a [`Journal`], and when the agent is started again, what is still true is served from it and not paid for twice.
//!
//! The agent keeps no state of its own and is written as if it never failed: on a retry it runs again from the top, asks
//! for the same steps in the same order, and gets the recorded results, up to the step that the last attempt did not
//! finish or that is now asked something else.
//!
//! ```
//! use retake::durable::{Journal, ModelRequest, ToolRequest};
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
//!     let done = journal.finish(); // the last thing: until here a crash loses no finished step
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
//! - Model and tool steps of a [`Run`] share one counter. A step has its number when [`Run::model`] or [`Run::tool`]
//!   returns, before anything is awaited, so steps in parallel are numbered in the order in which they were started.
//! - A step is served if the journal has one of that number, with the same name and the same fingerprint
//!   ([`ModelRequest`] and [`ToolRequest`] say what counts in it). Its closure is then never called.
//! - The first step that differs from the recorded one **diverges**: it and every later step of the journal, in whatever
//!   run, runs live. What was recorded behind it is stale from then on, for later attempts too, though it may look the
//!   same: tool results of another conversation are.
//! - A step that failed takes the number to the next try: who asks the same again, in the process or after a crash, is the
//!   same step. So an agent that waits out a 429 and goes on pays nothing twice after a crash; agents inside such a step
//!   start anew, and are served what they had finished. Another question in its place diverges, as for any entry.
//! - A step that the journal does not have runs live, and diverges nothing: it was in flight while others beside it
//!   finished.
//! - A step that cannot be fingerprinted is served only if the step before it in its run was, since nothing else speaks
//!   for it; the first of a run never is. [`Unverified::Refuse`] forbids even that. Either way there is a warning. What a
//!   live run passes by is gone for good: no later attempt finds it.
//! - An entry that no longer reads as the type that is asked for diverges, with a warning. A recorded `null` is an answer.
//!
//! # What is kept
//!
//! - A step that succeeds is one line of the file, appended and synced before its result is returned. A step that fails,
//!   panics or is dropped is noted with the next one that succeeds, has no result, and runs again. A tool that is
//!   [not replayable](ToolRequest::not_replayable) is never stored.
//! - A result that could not be read back is refused when it is stored, with a warning that names the step: one with NaN or
//!   an infinity, or nested deeper than serde_json reads.
//! - A result that was paid for, but not yet written when the process was killed, is paid for again. That is at most the
//!   steps in flight, and cannot be helped: tools with an effect should take the call's id as their idempotency key.
//! - A file that cannot be written does not fail the run: the result is returned, and a warning says that a retry would
//!   run the step again. It is written with the next one that can be.
//! - A failed attempt keeps its entries. [`Journal::finish`] removes them, and never fails.
//! - A second writer is refused while the first is at work, whichever process it is in. A last line that was torn by a
//!   crash is reported and left out; any other damage is an error, and the file stays as it is.
//!
//! # Beside Airflow's journal
//!
//! The contract is that of Airflow's newer journal of durable agents: the first mismatch ends serving, a step without a
//! fingerprint is served only behind a served one, and a failed attempt keeps its entries. Its older versions, which found a
//! step by a counter alone and wrote the whole file at each step, are not followed.
//!
//! Opening, claiming and writing block for a moment, as file access does; no async runtime is needed.

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
