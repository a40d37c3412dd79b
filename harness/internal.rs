//! Internals for the project's own benches, fuzz targets and tests. Not part of the public API: anything in here may change
//! without notice.

pub mod conversation {
    pub use crate::conversation::*;
}
pub mod events {
    pub use crate::events::*;
}
pub mod fixture {
    pub use crate::fixture::*;
}
pub mod golden {
    pub use crate::run::golden::*;
    pub use crate::run::policy::Policy;
}
pub mod json {
    pub use crate::json::*;
}
pub mod key {
    pub use crate::key::caller::Aliases;
    pub use crate::key::canonical::*;
    pub use crate::key::checks::*;
    pub use crate::key::normalize::*;
    pub use crate::key::plain::*;
    pub use crate::key::reminder::*;
    pub use crate::key::rules::*;
    pub use crate::key::*;
}
pub mod model {
    pub use crate::model::*;
}
pub mod report {
    pub use crate::report::*;
}
pub mod scenario {
    pub use crate::scenario::*;
}
pub mod secrets {
    pub use crate::secrets::*;
}
pub mod wire {
    pub use crate::wire::*;
}
