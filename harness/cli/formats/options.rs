//! The options of an import.

use axum::http::HeaderMap;

use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_wire::Call;

/// The options of an import.
pub(crate) struct Options<'a> {
    /// The rules for computing keys.
    pub(crate) rules: &'a Rules,
    pub(crate) caller: &'a dyn Fn(&HeaderMap, &Call) -> Option<String>,
    /// Whether failed answers become turns.
    pub(crate) errors: bool,
    /// The secrets to remove from the recordings.
    pub(crate) scrub: &'a Scrub,
}
