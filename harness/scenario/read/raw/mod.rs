//! What a person typed, field by field, before anything is checked against anything else.
//!
//! A new field begins here, in its struct. All lists of fields are made of these types (`fields`), and their comments are
//! the reference of the guide and the schemas.

mod fields;
mod golden;
mod normalize;
mod scenario;
mod step;
mod suite;
mod system;
mod tool;

pub(super) use fields::fields;
pub(super) use golden::RawGolden;
pub(super) use normalize::RawNormalize;
pub(super) use scenario::{RawRecord, RawScenario};
pub(super) use step::{RawAct, RawCancel, RawStep};
pub(super) use suite::{RawCaller, RawDrift, RawSuite};
pub(super) use system::{RawModel, RawReady, RawSystem, Texts};
pub(super) use tool::RawTool;
