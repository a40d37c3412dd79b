//! The sources of all crates, without comments, texts and tests.

use std::path::{Path, PathBuf};

use crate::support::tree::repository;

/// The folders of the crates that users get, with the package of each.
pub(super) const CRATES: [(&str, &str); 11] = [
    ("harness/base", "retake-base"),
    ("harness/egress", "retake-egress"),
    ("harness/core", "retake-core"),
    ("harness/durable", "retake-durable"),
    ("harness/wire", "retake-wire"),
    ("harness/model", "retake-model"),
    ("harness/audit", "retake-audit"),
    ("harness/scenario", "retake-scenario"),
    ("harness/engine", "retake-engine"),
    ("harness", "retake"),
    ("harness/cli", "retake-cli"),
];

/// A file of a crate, relative to the crate's folder, and its code.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) code: String,
}

/// Returns the sources of a crate, sorted, without those of its tests and of crates in its folder.
pub(super) fn sources(of: &str) -> Vec<Source> {
    let root = repository().join(of);
    let sources = files(&root).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let read = |path: PathBuf| {
        let code = without_tests(&code(&std::fs::read_to_string(&path).unwrap()));
        Source { path: path.strip_prefix(&root).unwrap().to_owned(), code }
    };
    sources.map(read).collect()
}

/// Returns all files of a crate, sorted, without tests, documents and crates in its folder.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let is_crate = path.join("Cargo.toml").is_file();
            if path.file_stem().is_some_and(|name| name == "tests") || is_crate {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_none_or(|name| name != "Cargo.toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the code with blanks in place of comments, and with quotes in place of what is in texts.
pub(super) fn code(source: &str) -> String {
    let source: Vec<char> = source.chars().collect();
    let (mut code, mut at) = (String::with_capacity(source.len()), 0);
    let blank = |c: char, other: char| if c == '\n' { '\n' } else { other };
    while at < source.len() {
        let rest = &source[at..];
        let in_word = at > 0 && (source[at - 1].is_alphanumeric() || source[at - 1] == '_');
        let may_be_text = !in_word && matches!(rest[0], '"' | '\'' | 'b' | 'c' | 'r');
        if rest[0] == '/' && matches!(rest.get(1), Some('/' | '*')) {
            let end =
                if rest[1] == '/' { rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()) } else { comment(rest) };
            code.extend(rest[..end].iter().map(|c| blank(*c, ' ')));
            at += end;
        } else if let Some(end) = may_be_text.then(|| text(rest)).flatten() {
            code.extend(rest[..end].iter().map(|c| blank(*c, '"')));
            at += end;
        } else {
            code.push(source[at]);
            at += 1;
        }
    }
    code
}

/// The length of a comment between `/*` and `*/`, which may contain others.
fn comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match (rest[at], rest.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a text, or of a character, with its quotes; `None` if none begins here.
fn text(rest: &[char]) -> Option<usize> {
    let prefix = rest.iter().take_while(|c| "bcr".contains(**c)).count();
    let is_raw = rest[..prefix].contains(&'r');
    let hashes = if is_raw { rest[prefix..].iter().take_while(|c| **c == '#').count() } else { 0 };
    let begin = prefix + hashes;
    match rest.get(begin)? {
        '"' => {
            let mut at = begin + 1;
            loop {
                match rest.get(at) {
                    None => return Some(rest.len()),
                    Some('\\') if !is_raw => at += 2,
                    Some('"') if rest[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes => {
                        return Some(at + 1 + hashes);
                    }
                    Some(_) => at += 1,
                }
            }
        }
        // A lifetime has no second quote.
        '\'' if hashes == 0 => match (rest.get(begin + 1)?, rest.get(begin + 2)?) {
            ('\\', _) => Some(begin + 4 + rest[begin + 3..].iter().position(|c| *c == '\'')?),
            (_, '\'') => Some(begin + 3),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the code without what is compiled for tests only.
fn without_tests(code: &str) -> String {
    let mut left = code.to_owned();
    while let Some(begin) = left.find("#[cfg(test)]") {
        let rest = &left[begin..];
        let (mut depth, mut end) = (0, rest.len());
        for (at, c) in rest.char_indices() {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 && (c == ';' || c == '}') {
                end = at + 1;
                break;
            }
        }
        let blank: String = rest[..end].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        left.replace_range(begin..begin + end, &blank);
    }
    left
}
