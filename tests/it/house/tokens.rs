//! Splits Rust source into tokens, without comments, white space or the contents of strings.

/// A word, a number, `::` or another symbol, with its line. The text of a string or a character literal is empty.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    /// Whether the token is a name or a keyword.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c == '_' || c.is_alphabetic())
    }
}

/// Returns the tokens of a source file.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut reader = Reader { chars: source.chars().collect(), at: 0, line: 1 };
    let mut tokens = Vec::new();
    while let Some(c) = reader.peek(0) {
        let line = reader.line;
        let text = match (c, reader.peek(1)) {
            ('/', Some('/')) => {
                reader.until(|reader| reader.peek(0) == Some('\n'));
                continue;
            }
            ('/', Some('*')) => {
                reader.block_comment();
                continue;
            }
            ('"', _) => reader.string(),
            ('\'', _) => reader.quote(),
            (':', Some(':')) => {
                reader.skip(2);
                "::".to_owned()
            }
            _ if c == '_' || c.is_alphanumeric() => reader.word(),
            _ => {
                reader.skip(1);
                if c.is_whitespace() {
                    continue;
                }
                c.to_string()
            }
        };
        tokens.push(Token { text, line });
    }
    tokens
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.line += usize::from(self.peek(0) == Some('\n'));
            self.at += 1;
        }
    }

    fn until(&mut self, end: impl Fn(&Reader) -> bool) {
        while self.peek(0).is_some() && !end(self) {
            self.skip(1);
        }
    }

    fn block_comment(&mut self) {
        let mut open = 0;
        while self.peek(0).is_some() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => open += 1,
                (Some('*'), Some('/')) => open -= 1,
                _ => {
                    self.skip(1);
                    continue;
                }
            }
            self.skip(2);
            if open == 0 {
                return;
            }
        }
    }

    fn string(&mut self) -> String {
        self.skip(1);
        while let Some(c) = self.peek(0) {
            self.skip(if c == '\\' { 2 } else { 1 });
            if c == '"' {
                break;
            }
        }
        String::new()
    }

    /// Skips a raw string, starting at its `#` or `"`.
    fn raw_string(&mut self) -> String {
        let from = self.at;
        self.until(|reader| reader.peek(0) == Some('"'));
        let hashes = self.at - from;
        self.skip(1);
        self.until(|reader| reader.peek(0) == Some('"') && (1..=hashes).all(|ahead| reader.peek(ahead) == Some('#')));
        self.skip(1 + hashes);
        String::new()
    }

    /// Skips a character literal or a lifetime; both become a token with an empty text.
    fn quote(&mut self) -> String {
        if self.peek(1) == Some('\\') {
            self.skip(3);
            self.until(|reader| reader.peek(0) == Some('\''));
            self.skip(1);
        } else if self.peek(2) == Some('\'') {
            self.skip(3);
        } else {
            self.skip(1);
            self.word();
        }
        String::new()
    }

    fn word(&mut self) -> String {
        let from = self.at;
        self.until(|reader| !reader.peek(0).is_some_and(|c| c == '_' || c.is_alphanumeric()));
        let word: String = self.chars[from..self.at].iter().collect();
        match (word.as_str(), self.peek(0), self.peek(1)) {
            ("r" | "br" | "cr", Some('"'), _) | ("r" | "br" | "cr", Some('#'), Some('"' | '#')) => self.raw_string(),
            ("b" | "c", Some('"'), _) => self.string(),
            ("b", Some('\''), _) => self.quote(),
            // A raw identifier, such as `r#type`.
            ("r", Some('#'), _) => {
                self.skip(1);
                self.word()
            }
            _ => word,
        }
    }
}
