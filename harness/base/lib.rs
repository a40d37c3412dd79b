//! The ground that Retake's crates stand on: texts that people read, the causes of failures, errors, and files.
//!
//! This crate promises no stability: its items may change with any version. Users depend on `retake`.

#![allow(missing_docs)] // only items whose names do not say it all are documented

pub mod cause;
pub mod env;
pub mod error;
pub mod files;
pub mod line;
pub mod lock;
pub mod precedence;
pub mod text;
