//! The schemas of `suite.toml` and `scenario.toml`, in the project that they are for: its editors find them by the first line of
//! each file, without a network, and as the version of Retake that wrote them reads these files.

use std::path::Path;

use crate::error::Result;

/// The first line of a `suite.toml`.
pub(super) const OF_SUITE: &str = "#:schema .schema/suite.json\n";
/// The first line of a `scenario.toml`.
pub(super) const OF_SCENARIO: &str = "#:schema ../.schema/scenario.json\n";

const SCHEMAS: [(&str, &str); 2] = [
    ("suite.json", include_str!("../guide/schema/suite.schema.json")),
    ("scenario.json", include_str!("../guide/schema/scenario.schema.json")),
];

/// Writes both beside the scenarios, where they are not there as they are now. Tells whether it did.
///
/// # Errors
/// Where one cannot be written.
pub(super) fn write(root: &Path) -> Result<bool> {
    let mut wrote = false;
    for (name, text) in SCHEMAS {
        let file = root.join("scenarios/.schema").join(name);
        if !std::fs::read(&file).is_ok_and(|there| there == text.as_bytes()) {
            crate::files::write_whole(&file, text.as_bytes())?;
            wrote = true;
        }
    }
    Ok(wrote)
}
