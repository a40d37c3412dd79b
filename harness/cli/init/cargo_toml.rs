//! Adds what the runner needs to the end of a Rust project's `Cargo.toml`.

use toml::Table;

/// Returns the text with the missing entries added.
/// What to add by hand, if the text is not TOML, has no `[package]`, or has an inline table where an entry is missing.
pub(super) fn completed(text: &str) -> Result<String, &'static str> {
    let read = |text: &str| text.parse::<Table>().ok();
    let Some(manifest) = read(text).filter(|manifest| manifest.contains_key("package")) else { return Err(BY_HAND) };
    let has_retake = manifest.get("dev-dependencies").and_then(|all| all.get("retake")).is_some();
    let tests = manifest.get("test").and_then(toml::Value::as_array);
    let has_test = tests.is_some_and(|tests| tests.iter().any(|test| test.get("name") == Some(&"scenarios".into())));
    let mut completed = text.to_owned();
    for (there, lines) in [(has_retake, DEPENDENCY), (has_test, TEST)] {
        if !there {
            completed = format!("{}\n\n{lines}", completed.trim_end());
        }
    }
    // TOML does not allow adding to an inline table.
    if read(&completed).is_some() { Ok(completed) } else { Err(BY_HAND) }
}

const DEPENDENCY: &str = concat!(
    "[dev-dependencies.retake]\nversion = \"",
    minor!(),
    "\"\ndefault-features = false\nfeatures = [\"record\"]\n"
);

const TEST: &str = "[[test]]
name = \"scenarios\"
harness = false
";

const BY_HAND: &str = concat!(
    "\nAdd to the package's Cargo.toml:\n\n  [dev-dependencies]\n  retake = { version = \"",
    minor!(),
    r#"", default-features = false, features = ["record"] }

  [[test]]
  name = "scenarios"
  harness = false
"#
);

#[cfg(test)]
mod tests;
