//! Pages in a real Chromium, which are opened, looked at and used as a person would use them.
//!
//! One [`Chromium`] serves all scenarios of a process. It runs under a guardian, so it ends and its profile is removed even if
//! this process is killed. Each scenario gets a [`Page`] in a new browser context, with cookies, storage and a cache of its own.
//!
//! Elements are found (`find.js`) by the same rules as in Playwright: texts, labels and placeholders are compared without regard
//! to case and to the amount of white space, a part of them is enough, and of nested elements the smallest is meant. Roles and
//! names come from Chromium's own accessibility tree. What is found also has to be seen (`look`): scrolled to, and painted there so
//! that it differs from what is behind it. Each check is repeated until it holds or its time is up; there are no
//! other waits.
//!
//! # Rationale
//!
//! Commands and answers are plain JSON. The types of the protocol are as old as the crate, while Chromium is as new as the
//! machine, and a single property that the types do not know would make a whole answer unreadable.

mod act;
mod chromium;
mod connection;
mod evidence;
mod find;
mod look;
mod page;
mod picture;
mod tree;
mod watch;

pub(crate) use act::{How, act};
pub(crate) use chromium::Chromium;
pub use chromium::{close, program};
pub(crate) use page::{Cookie, Page};
pub use picture::{Baselines, accept, folder};
pub(crate) use watch::Traffic;
