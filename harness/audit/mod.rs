//! How much a golden and a fixture can be trusted: small changes of what a run captured, of which a golden should notice each;
//! changes of what was recorded, which keys should notice; and the rules that make things equal. Pure: rendering is a
//! function that is given, and nothing is read or written.
//!
//! | file | holds |
//! |---|---|
//! | `kind` | the kinds of change |
//! | `payload`, `sites` | where a capture can be changed, and how |
//! | `spread` | which of many places are tried |
//! | `equality` | which changes are none once a run's own values have names |
//! | `settings` | the settings of a golden that may notice a change |
//! | `score` | changes that were tried and noticed |
//! | `recorded` | changes of recorded answers and tool results, as keys see them |
//! | `rules` | what the suite's `[[normalize]]` rules make equal |
//! | `outcome` | all of it, as it is printed |
//! | `fixture` | what a fixture's file tells: its age, its secrets, turns that are hard to tell apart |

mod equality;
mod fixture;
mod kind;
mod outcome;
mod payload;
mod recorded;
mod rules;
mod score;
mod settings;
mod sites;
mod spread;

pub(crate) use fixture::{recorded_on, secrets_in, secrets_in_streams, shared_keys};
pub(crate) use kind::Kind;
pub(crate) use outcome::{Audit, Audited, FixtureAudit, Hidden, Outcome, RuleAudit, ScenarioAudit};
pub(crate) use recorded::{ByKeys, Part, of_answers, of_results};
pub(crate) use rules::merged;
pub(crate) use score::{ByKind, Rendering, Unnoticed, mean, score};
pub(crate) use settings::Setting;
