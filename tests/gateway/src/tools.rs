//! The tools. They read and write files in the folder of a thread, and nowhere else.
//!
//! A tool's result goes into the next model request, so it contains no absolute path and nothing that varies between runs.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{message::ToolCall, mutants::mutant};

/// Returns the tool definitions that the model gets.
pub(crate) fn definitions() -> Vec<Value> {
    let text = |what| json!({ "type": "string", "description": what });
    vec![
        definition(
            "write_file",
            "Write a text file, over what it held before.",
            &json!({ "path": text("Where to write"), "content": text("The whole text of the file") }),
            mutant!("tool_parameter_optional", &["path"], &["path", "content"]),
        ),
        definition(
            "read_file",
            mutant!("tool_reworded", "Read any file.", "Read a text file."),
            &json!({ "path": text("What to read") }),
            &["path"],
        ),
        definition(
            "ls",
            "List a folder, one name a line. Names of folders end with a slash.",
            &json!({ "path": text("Which folder; without it, the topmost one") }),
            &[],
        ),
    ]
}

fn definition(name: &str, does: &str, properties: &Value, required: &[&str]) -> Value {
    let parameters = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "type": "function", "function": { "name": name, "description": does, "parameters": parameters } })
}

/// Executes a tool call and returns its result, or the text of the error.
pub(crate) fn call(folder: &Path, call: &ToolCall) -> Result<String, String> {
    if !call.args.is_object() {
        return Err("the arguments are not a JSON object".to_owned());
    }
    let argument =
        |name: &str| call.args[name].as_str().ok_or_else(|| format!("the argument `{name}` is missing, or no text"));
    let failed = |path: &str| {
        let path = path.to_owned();
        move |error: io::Error| format!("{path}: {}", error.kind())
    };
    match &*call.name {
        "write_file" => {
            let (path, content) = (argument("path")?, argument("content")?);
            let file = inside(folder, path)?;
            file.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed(path))?;
            let content = mutant!("write_trims", content.split('.').next().unwrap_or_default(), content);
            if mutant!("write_appends") {
                let before = fs::read_to_string(&file).unwrap_or_default();
                fs::write(file, before + content).map_err(failed(path))?;
            } else if !mutant!("write_forgotten") {
                fs::write(file, content).map_err(failed(path))?;
            }
            let bytes = mutant!("write_counts_one_more", content.len() + 1, content.len());
            Ok(format!("Wrote {bytes} bytes to {path}"))
        }
        "read_file" => {
            let path = argument("path")?;
            let text = match fs::read_to_string(inside(folder, path)?) {
                Err(_) if mutant!("read_of_nothing_is_empty") => Ok(String::new()),
                text => text.map_err(failed(path)),
            };
            let text = mutant!("read_adds_newline", text.map(|text| text + "\n"), text);
            mutant!("read_cuts_last", text.map(|text| text.chars().take(text.len() - 1).collect()), text)
        }
        "ls" => {
            let path = if call.args["path"].is_null() { "." } else { argument("path")? };
            let names = list(&inside(folder, path)?).map_err(failed(path))?;
            Ok(names.join(mutant!("ls_with_commas", ", ", "\n")))
        }
        _ if mutant!("unknown_tool_is_ok") => Ok(String::new()),
        unknown => Err(format!("there is no tool `{unknown}`")),
    }
}

fn list(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let folder = entry.file_type()?.is_dir() && !mutant!("ls_without_slash");
        let slash = if folder { "/" } else { "" };
        names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
    }
    names.sort();
    if mutant!("ls_backwards") {
        names.reverse();
    }
    if mutant!("ls_one_less") {
        names.pop();
    }
    Ok(names)
}

/// Returns the file that `path` names in `folder`. The file does not have to exist. A path that leaves the folder, also
/// through a symbolic link, is an error.
fn inside(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let leaves = || format!("{path}: leaves the folder");
    let relative = Path::new(path);
    if mutant!("path_unchecked") {
        return Ok(folder.join(relative));
    }
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(leaves());
    }
    let folder = folder.canonicalize().map_err(|error| format!("the folder is gone: {}", error.kind()))?;
    let place = folder.join(relative);
    // A dangling link is refused too: writing to it would create a file outside the folder.
    let existing = place.ancestors().find(|part| part.symlink_metadata().is_ok());
    match existing.map(Path::canonicalize) {
        Some(Ok(real)) if real.starts_with(&folder) => Ok(place),
        _ => Err(leaves()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_the_folder() {
        let root = std::env::temp_dir().join(format!("gateway-tools-{}", crate::auth::new_id()));
        let folder = root.join("thread");
        fs::create_dir_all(&folder).unwrap();
        fs::write(root.join("secret.txt"), "secret").unwrap();
        #[cfg(unix)]
        for (to, link) in [("..", "up"), ("../new.txt", "dangling")] {
            std::os::unix::fs::symlink(to, folder.join(link)).unwrap();
        }
        let run = |name: &str, args: Value| call(&folder, &ToolCall { name: name.to_owned(), args, id: String::new() });

        for path in ["../secret.txt", "a/../../secret.txt", "/etc/passwd", "up/secret.txt", "dangling"] {
            assert!(run("read_file", json!({ "path": path })).is_err(), "{path}");
            assert!(run("write_file", json!({ "path": path, "content": "x" })).is_err(), "{path}");
        }
        assert_eq!(run("ls", json!({ "path": ".." })), Err("..: leaves the folder".to_owned()));
        assert!(!root.join("new.txt").exists());

        assert_eq!(
            run("write_file", json!({ "path": "b/c.txt", "content": "hi" })),
            Ok("Wrote 2 bytes to b/c.txt".to_owned())
        );
        run("write_file", json!({ "path": "./a.txt", "content": "" })).unwrap();
        assert_eq!(run("read_file", json!({ "path": "b/c.txt" })), Ok("hi".to_owned()));
        assert!(run("ls", json!({})).unwrap().starts_with("a.txt\nb/"));
        fs::remove_dir_all(root).unwrap();
    }
}
