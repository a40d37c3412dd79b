//! Pages in a real Chromium: opened, looked at and acted on as a person would.
//!
//! One [`Chromium`] serves all scenarios of a process. It is a child of a guardian, so it is gone with its profile
//! whatever becomes of this process. Each scenario gets a [`Page`] in a fresh context: cookies, storage and cache of its
//! own.
//!
//! What a person finds (`find.js`) has the same meaning as in Playwright: texts, labels and placeholders are looked for
//! without regard to case and with white space squeezed, a part of them is enough, and of nested elements the smallest is
//! meant. Roles and names come from Chromium's own accessibility tree. Each look is repeated until it holds or its time
//! is up; nothing else is waited for.
//!
//! # Rationale
//!
//! Commands are sent as plain JSON and answers are read as such: the protocol's types are as old as the crate, Chromium is
//! as new as the machine, and one property that the types do not know would refuse a whole answer.

mod act;
mod chromium;
mod connection;
mod evidence;
mod find;
mod page;
mod picture;
mod tree;
mod watch;

pub(crate) use act::{Made, act};
#[cfg(feature = "cli")]
pub(crate) use chromium::program;
pub(crate) use chromium::{Chromium, close};
pub(crate) use page::{Cookie, Page};
pub(crate) use watch::Traffic;
