//! What the command shows of runs and fixtures: on a terminal, as a page, and as JSON.

mod coloured;
pub(crate) mod columns;
mod conversation;
mod explain;
mod form;
mod page;
mod side_by_side;

pub(crate) use coloured::Diff;
pub(crate) use conversation::Shown;
pub(crate) use explain::{cost_table, explained, time};
pub(crate) use form::{ReportForm, report};
pub(crate) use side_by_side::{RowKind, side_by_side};
