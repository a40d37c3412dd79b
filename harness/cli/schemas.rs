//! Writes the JSON schemas of `suite.toml` and `scenario.toml` into the project. The first line of each file points its editor to
//! the schema, so completion needs no network and fits the version of Retake that wrote the schema.

use std::path::Path;

use retake_base::error::Result;

/// The first line of a `suite.toml`.
pub(super) const OF_SUITE: &str = "#:schema .schema/suite.json\n";
/// The first line of a `scenario.toml`.
pub(super) const OF_SCENARIO: &str = "#:schema ../.schema/scenario.json\n";

const SCHEMAS: [(&str, &str); 2] = [
    ("suite.json", include_str!("schema/suite.schema.json")),
    ("scenario.json", include_str!("schema/scenario.schema.json")),
];

/// Writes the schemas to `scenarios/.schema/` unless they are there and current. Returns whether it wrote one.
/// Fails if one cannot be written.
pub(super) fn write(root: &Path) -> Result<bool> {
    let mut wrote = false;
    for (name, text) in SCHEMAS {
        let file = root.join("scenarios/.schema").join(name);
        if !std::fs::read(&file).is_ok_and(|there| there == text.as_bytes()) {
            retake_base::files::write_whole(&file, text.as_bytes())?;
            wrote = true;
        }
    }
    Ok(wrote)
}
