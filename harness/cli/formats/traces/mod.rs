//! Traces of production as turns: OTLP and Langfuse's exports.
//!
//! A [`span`] is read from either format ([`otlp`], [`langfuse`]). [`call`] finds the spans that are model calls
//! and reads what each was asked and answered, with the names in [`fields`]; it knows no framework, only what an attribute
//! holds. [`talk`] and [`message`] read conversations of any form. What cannot become a turn is refused with a reason ([`lack`]).
//! Nothing is guessed.

mod call;
mod chain;
mod fields;
mod imported;
mod lack;
mod langfuse;
mod message;
mod otlp;
mod receiver;
mod redact;
mod source;
mod span;
mod talk;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) use imported::{Taken, Traces};
pub(crate) use lack::Refused;
pub(crate) use receiver::receive;
pub(crate) use redact::{Personal, Redactor};
pub(crate) use source::{TraceFormat, read};
