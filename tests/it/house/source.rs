//! The names in one source file: the items and modules that it defines, its imports, and the paths in its code.

use std::collections::BTreeMap;

use super::tokens::{Token, tokens};

/// The names in one file of the library. Code under `#[cfg(test)]` is left out.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) items: Vec<Item>,
    pub(crate) uses: Vec<Use>,
    /// Paths of two or more names, outside imports.
    pub(crate) paths: Vec<Path>,
    /// Names outside imports that stand alone or begin a path, each with the first line where it occurs.
    pub(crate) words: BTreeMap<String, usize>,
}

/// Something that the file defines at its top level.
pub(crate) struct Item {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) shown: Shown,
}

/// The visibility of an item or an import.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword or an attribute before the item")]
pub(crate) struct Shown {
    /// `pub` without a restriction such as `(crate)`.
    pub(crate) public: bool,
    /// `pub` with or without a restriction.
    pub(crate) exported: bool,
    /// `#[doc(hidden)]`.
    pub(crate) hidden: bool,
    /// `#[macro_export]`.
    pub(crate) macro_export: bool,
}

/// One name that is imported.
pub(crate) struct Use {
    pub(crate) path: Path,
    /// Its name in this file; `*` for all names of a module.
    pub(crate) alias: String,
    pub(crate) shown: Shown,
}

/// A path such as `crate::a::B`, and its line.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) names: Vec<String>,
    pub(crate) line: usize,
}

impl Source {
    pub(crate) fn parse(text: &str) -> Source {
        let mut parser = Parser { tokens: tokens(text), at: 0, depth: 0, source: Source::default() };
        parser.parse();
        parser.source
    }

    /// Returns the modules that the file declares.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.kind == "mod")
    }
}

const KINDS: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// How many brackets are open.
    depth: usize,
    source: Source,
}

impl Parser {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| &token.text)
    }

    fn parse(&mut self) {
        let mut shown = Shown::default();
        while let Some(token) = self.tokens.get(self.at) {
            let line = token.line;
            match self.text(0) {
                "#" if self.text(1) == "[" || self.text(1) == "!" => {
                    let attribute = self.attribute();
                    match attribute.as_str() {
                        "[cfg(test)]" => self.skip_item(),
                        "[doc(hidden)]" => shown.hidden = true,
                        "[macro_export]" => shown.macro_export = true,
                        _ => {}
                    }
                    continue;
                }
                "pub" => {
                    shown.exported = true;
                    shown.public = self.text(1) != "(";
                    if !shown.public {
                        self.at += 1;
                        self.skip_brackets();
                        continue;
                    }
                }
                // The `use` in `impl Trait + use<'a>` is not an import.
                "use" if self.text(1) != "<" => {
                    self.at += 1;
                    self.import(&[], std::mem::take(&mut shown));
                    continue;
                }
                "macro_rules" if self.depth == 0 => {
                    let name = self.text(2).to_owned();
                    let shown = std::mem::take(&mut shown);
                    self.source.items.push(Item { kind: "macro".to_owned(), name, line, shown });
                    self.at += 3;
                    continue;
                }
                kind if self.depth == 0 && KINDS.contains(&kind) && self.names_an_item() => {
                    let (kind, name) = (kind.to_owned(), self.text(1).to_owned());
                    // The parser would take the items of an inline module for the file's own. An empty module only holds docs.
                    let apart = self.text(2) == ";" || (self.text(2), self.text(3)) == ("{", "}");
                    assert!(kind != "mod" || apart, "line {line}: this module needs a file of its own");
                    self.source.items.push(Item { kind, name, line, shown: std::mem::take(&mut shown) });
                    self.at += 2;
                    continue;
                }
                "{" | "(" | "[" => self.depth += 1,
                "}" | ")" | "]" => {
                    self.depth = self.depth.saturating_sub(1);
                    shown = Shown::default();
                }
                ";" => shown = Shown::default(),
                _ if token.is_word() => {
                    self.path();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether the next token is the name of an item. In `const fn`, another keyword names the item; `const _` has no name.
    fn names_an_item(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(Token::is_word)
            && !["fn", "unsafe", "async", "_"].contains(&self.text(1))
    }

    /// Skips an attribute and returns its text.
    fn attribute(&mut self) -> String {
        self.at += 1 + usize::from(self.text(1) == "!");
        let from = self.at;
        self.skip_brackets();
        self.tokens[from..self.at].iter().map(|token| token.text.as_str()).collect()
    }

    /// Skips from an opening bracket to just after the matching closing one.
    fn skip_brackets(&mut self) {
        let mut open = 0;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "{" | "(" | "[" => open += 1,
                "}" | ")" | "]" => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }

    /// Skips to just after the end of an item, which is its `;` or its closing brace.
    fn skip_item(&mut self) {
        let mut import = false;
        while self.at < self.tokens.len() {
            match self.text(0) {
                ";" => {
                    self.at += 1;
                    return;
                }
                "{" if !import => return self.skip_brackets(),
                "{" | "(" | "[" => self.skip_brackets(),
                word => {
                    import |= word == "use";
                    self.at += 1;
                }
            }
        }
    }

    /// Reads a path or a single name.
    fn path(&mut self) {
        let line = self.tokens[self.at].line;
        let before = self.at.checked_sub(1).map_or("", |before| self.tokens[before].text.as_str());
        let (goes_on, is_field) = (before == "::", before == ".");
        // A macro is expanded in users' crates, and may name what they cannot: see `Library::follow`.
        let of_macro = if before == "$" { "$" } else { "" };
        let mut names = vec![format!("{of_macro}{}", self.text(0))];
        self.at += 1;
        while self.text(0) == "::" && self.tokens.get(self.at + 1).is_some_and(Token::is_word) {
            names.push(self.text(1).to_owned());
            self.at += 2;
        }
        if goes_on || is_field {
            return;
        }
        self.source.words.entry(names[0].clone()).or_insert(line);
        if names.len() > 1 {
            self.source.paths.push(Path { names, line });
        }
    }

    /// Reads a tree of imports and skips to just after its end.
    fn import(&mut self, before: &[String], shown: Shown) {
        let mut names = before.to_vec();
        while let Some(token) = self.tokens.get(self.at) {
            let line = token.line;
            self.at += 1;
            match token.text.as_str() {
                "{" => {
                    while !["}", ""].contains(&self.text(0)) {
                        self.import(&names, shown);
                    }
                    self.at += 1;
                }
                "as" => {
                    let alias = self.text(0).to_owned();
                    if let Some(last) = self.source.uses.last_mut() {
                        last.alias = alias;
                    }
                    self.at += 1;
                }
                "," | ";" => return,
                "}" => {
                    self.at -= 1;
                    return;
                }
                "::" => {}
                name => {
                    if name != "self" || names.is_empty() {
                        names.push(name.to_owned());
                    }
                    if self.text(0) != "::" {
                        let alias = names.last().cloned().unwrap_or_default();
                        let names = if name == "*" { names[..names.len() - 1].to_vec() } else { names.clone() };
                        self.source.uses.push(Use { path: Path { names, line }, alias, shown });
                    }
                }
            }
        }
    }
}
