//! What makes two model calls, and two event streams, the same. Nothing here does any I/O.
//!
//! This crate promises no stability: its items may change with any version. Users depend on `retake`.
//!
//! | room | contents |
//! |---|---|
//! | `json` | JSON as Python reads and prints it, which keys depend on |
//! | `conversation` | messages, tool calls and answers in a form that is independent of providers |
//! | `days` | days that moved between a recording and a run |
//! | `key` | keys and checks, which decide whether two model calls are the same |
//! | `cost` | what model calls cost, and what a provider's cache could keep of them |
//! | `secrets` | secrets: how they are recognized, and removed from texts, bodies and streams |
//! | `places` | what a run has in place of what its recording has: places, and values that are made up anew |
//! | `mark` | a mark in what the model says, by which a replay shows where its words go |
//! | `events` | captured streams as events, and events as shapes |

#![allow(missing_docs)] // only items whose names do not say it all are documented

pub mod conversation;
pub mod cost;
pub mod days;
pub mod events;
pub mod json;
pub mod key;
pub mod mark;
pub mod places;
pub mod secrets;
