//! How recordings become turns.

use axum::http::HeaderMap;

use crate::key::Rules;
use crate::secrets::Scrub;
use crate::wire::Call;

/// How recordings become turns.
pub(crate) struct Options<'a> {
    /// The key rules.
    pub(crate) rules: &'a Rules,
    /// Who made a call, of its headers and what it says.
    pub(crate) caller: &'a dyn Fn(&HeaderMap, &Call) -> Option<String>,
    /// Whether answers that failed become turns.
    pub(crate) errors: bool,
    /// The secrets that recordings lose.
    pub(crate) scrub: &'a Scrub,
}
