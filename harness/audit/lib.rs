//! How much a golden and a fixture can be trusted. An audit makes small changes to what a run captured, and counts how many of
//! them the golden notices. It changes what was recorded, and counts how many of those changes the keys notice. It also lists
//! what the suite's rules make equal. Pure: the function that renders a golden is passed in, and nothing is read or written.
//!
//! | file | holds |
//! |---|---|
//! | `kind` | the kinds of change |
//! | `payload`, `sites` | where a capture can be changed, and how |
//! | `spread` | which of many places are tried |
//! | `equality` | which changes do not count, because they touch only values that differ in every run |
//! | `score` | how many changes were tried, how many the golden noticed, and the `[golden]` settings that may notice more |
//! | `recorded` | changes of recorded answers and tool results, and whether the keys notice them |
//! | `rules` | what the suite's `[[normalize]]` rules make equal |
//! | `outcome` | the results of an audit, ready to be printed |
//! | `fixture` | what a fixture file shows by itself: its age, its secrets, turns that are hard to tell apart |

mod equality;
mod fixture;
mod kind;
mod outcome;
mod payload;
mod recorded;
mod rules;
mod score;
mod sites;
mod spread;

pub use fixture::{recorded_on, secrets_in, secrets_in_streams, shared_keys};
pub use kind::Kind;
pub use outcome::{Audit, Audited, FixtureAudit, Hidden, Outcome, RuleAudit, ScenarioAudit};
pub use recorded::{ByKeys, Part, of_answers, of_results};
pub use rules::merged;
pub use score::Setting;
pub use score::{ByKind, Rendering, Unnoticed, mean, score};
