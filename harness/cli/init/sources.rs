//! What the sources of a project say about the service in them: paths, names of fields, names of variables, commands that start it.
//! Nothing of that is believed. It is what the probe tries, and what calls the model is seen there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

use super::examples::examples;
use retake_base::lock::Mutex;

/// The most files that are read, the most bytes of each, and the deepest folder.
const MOST: (usize, u64, usize) = (800, 300_000, 6);
/// The endings of programs.
const CODE: [&str; 16] =
    ["py", "js", "mjs", "cjs", "jsx", "ts", "mts", "tsx", "svelte", "go", "rb", "rs", "java", "kt", "php", "cs"];
/// Files that say how a program is started, those that do nothing else first.
const TELLING: [&str; 5] = ["Procfile", "Dockerfile", "compose", "Makefile", "README.md"];
/// The endings of files that show requests.
const SHOWING: [&str; 4] = [".md", ".http", ".rest", ".sh"];
/// The most names of fields, and commands, that are worth trying.
const FIELDS: usize = 60;
const COMMANDS: usize = 6;
/// With more prefixes than these, none is tried before another one.
const NESTED: usize = 4;

/// The files of a project, each with its path and its text.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: Vec<(String, String)>,
}

impl Sources {
    /// Reads the sources in a folder. What is installed, hidden or too long is left out.
    pub(super) fn of(folder: &Path) -> Sources {
        let mut sources = Sources::default();
        sources.read(folder, Path::new(""), 0);
        sources
    }

    fn read(&mut self, root: &Path, below: &Path, depth: usize) {
        let entries = std::fs::read_dir(root.join(below)).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = entries.map(|entry| entry.file_name().into()).collect();
        names.sort();
        for name in names {
            let (shown, path) = (below.join(&name).to_string_lossy().replace('\\', "/"), root.join(below).join(&name));
            let tells = is_code(&shown) || shown.contains(".env") || TELLING.iter().any(|of| shown.contains(of));
            let tells = tells || SHOWING.iter().any(|ending| shown.ends_with(ending));
            let is_short = path.metadata().is_ok_and(|file| file.is_file() && file.len() <= MOST.1);
            if tells && is_short && self.files.len() < MOST.0 {
                let text = retake_base::files::read(&path).unwrap_or_default();
                self.files.push((shown, String::from_utf8_lossy(&text).into_owned()));
            }
        }
        for child in super::place::folders(&root.join(below)).into_iter().filter(|_| depth < MOST.2) {
            self.read(root, &below.join(child), depth + 1);
        }
    }

    /// The files of programs.
    pub(super) fn code(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter(|(name, _)| is_code(name)).map(|(name, text)| (&**name, &**text))
    }

    fn captured(&self, pattern: &str) -> BTreeSet<String> {
        captured(pattern, &self.texts("")[0]).into_iter().collect()
    }

    /// The text of the programs that have a text in them, and that of all others.
    fn texts(&self, near: &str) -> [String; 2] {
        let (files, others): (Vec<_>, Vec<_>) = self.code().map(|(_, text)| text).partition(|text| text.contains(near));
        [files.join("\n"), others.join("\n")]
    }

    /// The paths that stand in the sources, and those that a framework makes of the names of files, with `1` for parameters. Where there
    /// are prefixes, each path stands behind each of them too.
    pub(super) fn paths(&self) -> Vec<String> {
        const PREFIX: &str = r#"(?:(?:prefix|path)\s*[=:]|\b(?:use|route|path|basePath|mount|scope|nest|register|Controller|setGlobalPrefix)\()\s*["'`]/?([\w\-./]+)["'`]"#;
        const ROUTE: &str = r"^(?:src/)?(?:app|pages|routes)/(api/.*?)/?(?:route|\+server|index)?\.\w+$";
        let mut paths = self.captured(r#"["'`](/[\w\-./{}:<>]*)["'`]"#);
        let bare = self.captured(r#"(?:\bpath|@Post|@All)\(\s*["']([\w\-/<>:]+)["']"#);
        paths.extend(bare.into_iter().map(|path| format!("/{path}")));
        let files = self.code().flat_map(|(name, _)| captured(ROUTE, &replaced(r"\([^)/]*\)/", name, "")));
        paths.extend(files.map(|path| format!("/{path}")));
        let prefixes = self.captured(PREFIX);
        let behind = |paths: &BTreeSet<String>| -> BTreeSet<String> {
            let prefixes = prefixes.iter().map(|prefix| prefix.trim_end_matches('/')).filter(|of| !of.is_empty());
            prefixes.flat_map(|prefix| paths.iter().map(move |path| format!("/{prefix}{path}"))).collect()
        };
        // A prefix of all routes stands before that of some.
        let longer = behind(&paths);
        let longest = if prefixes.len() <= NESTED { behind(&longer) } else { BTreeSet::new() };
        let all: BTreeSet<String> = paths.iter().cloned().chain(longer).chain(longest).collect();
        let filled: BTreeSet<String> =
            all.iter().map(|path| replaced(r"\{[^}]*\}|<[^>]*>|:\w+|\[[^\]]*\]", path, "1")).collect();
        filled.into_iter().collect()
    }

    /// The bodies that the project itself sends to a path, in whatever file.
    pub(super) fn examples(&self, path: &str) -> Vec<Value> {
        examples(path, self.files.iter().map(|(_, text)| text))
    }

    /// The first of several texts that the sources list behind the name of a field.
    pub(super) fn choice(&self, field: &str) -> Option<String> {
        let listed = r#"["']?\??\s*[:=]\s*(?:(?:\{[^{};]{0,60}?|[^,;{}]{0,40}?)\[\s*["']([^"'\n]+)["']\s*,|["']([^"'\n]+)["']\s*\|)"#;
        let form = compiled(&format!("\\b{field}{listed}"))?;
        let found = self.code().find_map(|(_, text)| form.captures(text))?;
        Some(found.iter().skip(1).flatten().next()?.as_str().to_owned())
    }

    /// The names under which the sources take values of objects, those of the files with this text first.
    pub(super) fn fields(&self, near: &str) -> Vec<String> {
        const FORMS: [&str; 4] = [
            r#"\[["']([A-Za-z_]\w*)["']\]"#,
            r#"\.get\(\s*["']([A-Za-z_]\w*)["']"#,
            r"(?:body|req|request|data|json|payload|form|input|event)\)?\??\.([A-Za-z_]\w*)",
            r#"\b["']?([A-Za-z_]\w*)["']?\??\s*:\s*(?:z\.|\{\s*type:|str\b|string\b|list\[|List\[)"#,
        ];
        const SEVERAL: &str = r"\{([^{}=()]{1,200})\}\s*(?::[^=]*)?=\s*(?:await\s+)?\(?(?:await\s+)?[\w.]*(?:req|request|ctx|c|body|json|payload|data|event|input)\b";
        let mut found: Vec<String> = Vec::new();
        for text in self.texts(near) {
            let several = captured(SEVERAL, &text);
            let several = several.iter().flat_map(|names| names.split(','));
            let several = several.map(|name| name.split([':', '=']).next().unwrap_or_default().trim().to_owned());
            for name in FORMS.iter().flat_map(|form| captured(form, &text)).chain(several) {
                let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if is_name && name.chars().any(char::is_lowercase) && !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found.truncate(FIELDS);
        found
    }

    /// The lines with which the sources import something, spelled like packages.
    pub(super) fn imports(&self) -> String {
        const IMPORT: &str = r#"(?m)^\s*((?:import|from|use|using|require)\b.*|.*\b(?:from|require\(|import\()\s*["'].*|(?:\w+ )?"[\w.\-/]+")$"#;
        let lines: Vec<String> = self.captured(IMPORT).into_iter().collect();
        lines.join("\n").to_lowercase().replace(" import ", "-").replace(['.', '_'], "-")
    }

    /// The variables that the sources name and that are the address of a model, its key, or a port, each with what it should be.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        const READ: &str = r#"(?:process\.env\.|["'`])([A-Z][A-Z0-9_]+)\b"#;
        let files = self.files.iter().filter(|(name, _)| name.contains(".env"));
        let listed = files.flat_map(|(_, text)| captured(r"(?m)^([A-Z][A-Z0-9_]+)=", text));
        let names: BTreeSet<String> = self.captured(READ).into_iter().chain(listed).collect();
        let value = |name: &str| {
            // `DATABASE_URL` is no `BASE_URL`.
            let is_word = |before: &str| before.is_empty() || before.ends_with('_');
            let ends = |endings: &[&str]| endings.iter().any(|end| name.strip_suffix(end).is_some_and(is_word));
            let provider = match () {
                () if name.contains("ANTHROPIC") || name.contains("CLAUDE") => "model.anthropic",
                () if name.contains("GEMINI") || name.contains("GOOGLE") => "model.gemini",
                () if name.contains("OLLAMA") => "model.ollama",
                () => "model.openai",
            };
            match () {
                () if ends(&["BASE_URL", "API_BASE", "API_URL", "LLM_URL", "MODEL_URL"]) => Some(provider),
                () if ends(&["API_KEY"]) => Some("model.key"),
                () if ends(&["APP_PORT", "SERVER_PORT", "HTTP_PORT", "API_PORT"]) => Some("port"),
                () => None,
            }
        };
        let pair = |name: String| value(&name).map(|value| (name.clone(), format!("{{{{ {value} }}}}")));
        names.into_iter().filter_map(pair).collect()
    }

    /// The variables that a text names and the project gives a value, in an example of its `.env` or where it says how it is started.
    /// A `.env` itself may hold secrets.
    pub(super) fn told(&self, text: &str) -> Vec<(String, String)> {
        const VALUE: &str = r#"\b([A-Z][A-Z0-9_]{2,}=["']?[^\s"'`$<>]+)"#;
        let shows = |name: &str| name.contains(".env.") || TELLING.iter().any(|of| name.contains(of));
        let files = self.files.iter().filter(|(name, _)| shows(name) && !name.contains(".local"));
        let pairs = files.flat_map(|(_, text)| captured(VALUE, text));
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.trim_matches(['"', '\'']).to_owned());
        let pairs = pairs.filter_map(|told| told.split_once('=').map(pair));
        pairs.filter(|(name, _)| text.to_ascii_uppercase().contains(name)).collect()
    }

    /// The commands that a Procfile, a Dockerfile, a compose file, a Makefile or the README name, and that this project can run.
    /// A program serves if its file says so, if it runs others, or if `has` says that it is the project's own: one that it depends on,
    /// or has installed.
    pub(super) fn commands(&self, has: &dyn Fn(&str) -> bool) -> Vec<Vec<String>> {
        let mut found: Vec<Vec<String>> = Vec::new();
        for (_, text) in TELLING.iter().flat_map(|of| self.files.iter().filter(move |(name, _)| name.contains(of))) {
            // A sentence of the README has the command between backticks.
            let spans = captured("`([^`\n]+)`", text);
            for line in text.lines().chain(spans.iter().map(String::as_str)) {
                let plain = replaced(r"^[\s$`@-]+|`?\s*$", line, "");
                let said = replaced(r"^(?:CMD|ENTRYPOINT|web:|command:|(?:[A-Z][A-Z0-9_]*=\S+\s+)+)\s*", &plain, "");
                let command = words(&said);
                let program = command.first().map_or("", |program| program.rsplit('/').next().unwrap_or_default());
                let is_there = |word: &String| self.files.iter().any(|(name, _)| name == word.trim_start_matches("./"));
                let exists = command.iter().skip(1).all(|word| !is_code(word) || is_there(word));
                let is_work = command.len() < 2 || command.iter().any(|word| WORK.contains(&&**word));
                let serves = said != plain || RUNNERS.contains(&program) || has(program);
                if serves && exists && !is_work && !found.contains(&command) && found.len() < COMMANDS {
                    found.push(command);
                }
            }
        }
        found
    }
}

/// What runs the programs of any project.
const RUNNERS: [&str; 12] =
    ["python", "python3", "uv", "poetry", "node", "tsx", "bun", "deno", "npm", "npx", "pnpm", "yarn"];

/// What starts something else.
const WORK: [&str; 17] = [
    "install", "add", "init", "sync", "test", "build", "venv", "-c", "ci", "pip", "pytest", "lint", "create", "i",
    "migrate", "lock", "help",
];

/// Whether a file with this name is one of a program.
pub(super) fn is_code(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| CODE.contains(&ending))
}

/// The words of a command, as a shell or a list in JSON writes them, with `{{ port }}` in the place of a port. None if it needs a shell.
pub(super) fn words(line: &str) -> Vec<String> {
    let plain = || {
        let needs_shell = line.contains(['|', '>', '<', '&', ';', '(', '\\', '#']);
        let words = line.split_whitespace().filter(|_| !needs_shell);
        words.map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
    };
    let all: Vec<String> = serde_json::from_str(line).unwrap_or_else(|_| plain());
    let mut words: Vec<String> = Vec::new();
    for word in all {
        let is_port = words.last().is_some_and(|last| matches!(&**last, "--port" | "-p" | "--bind" | "-b"));
        let is_port = is_port || word.starts_with("--") || word.contains(':');
        let word = replaced(r"\$\{?PORT(?::-\d+)?\}?", &word, "{{ port }}").replace("0.0.0.0", "127.0.0.1");
        words.push(if is_port { replaced(r"\b\d{4,5}$", &word, "{{ port }}") } else { word });
    }
    words
}

/// The words of a command that a person gives as arguments. A shell has taken the quotes away already.
pub(super) fn given(typed: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in typed {
        // `{{ port }}` without quotes is three words.
        match words.last_mut().filter(|last| last.contains("{{") && !last.contains("}}")) {
            Some(last) => *last = format!("{last} {word}"),
            None => words.push(word.clone()),
        }
    }
    words
}

/// What the first group of a pattern takes of a text, in order.
pub(super) fn captured(pattern: &str, text: &str) -> Vec<String> {
    let found =
        |regex: Regex| regex.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str().to_owned())).collect();
    compiled(pattern).map(found).unwrap_or_default()
}

pub(super) fn replaced(pattern: &str, text: &str, with: &str) -> String {
    compiled(pattern).map_or_else(|| text.to_owned(), |regex| regex.replace_all(text, with).into_owned())
}

/// A pattern, which takes longer to compile than to find.
pub(super) fn compiled(pattern: &str) -> Option<Regex> {
    static KNOWN: Mutex<BTreeMap<String, Option<Regex>>> = Mutex::new(BTreeMap::new());
    KNOWN.lock().entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok()).clone()
}

#[cfg(test)]
mod tests;
