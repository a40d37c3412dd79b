//! JSON pointers.

use std::fmt;

use retake_core::json::Json;

/// A valid JSON pointer (RFC 6901), with one extension: `-1` is the last element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(String);

impl Pointer {
    /// Parses a pointer. The empty pointer refers to the whole value.
    /// What is wrong with it, in one line.
    pub fn parse(text: &str) -> Result<Pointer, String> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(format!("the pointer `{text}` does not start with `/`"));
        }
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('~') {
            if !after.starts_with(['0', '1']) {
                return Err(format!("in the pointer `{text}` a `~` is written `~0`, and a `/` in a key `~1`"));
            }
            rest = after;
        }
        Ok(Pointer(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn find<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        value.pointer(&self.0)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
