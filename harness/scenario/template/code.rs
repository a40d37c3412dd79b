//! What the code in a template may be. The template engine limits the steps of a template, but neither the depth of its code nor
//! the size of its values.

use std::borrow::Cow;

/// The most characters of code in one pair of braces, and the most statements in one text. The template engine handles a chain
/// like `a.b.c` or `{% elif %}` by recursion, so a very long chain would overflow the stack.
const LONGEST_TAG: usize = 1000;
const MOST_STATEMENTS: usize = 100;

/// The most loops in one text. A loop gives a name to a value that is made of another name, so each could double it.
const MOST_LOOPS: usize = 8;

/// The statements of a template. Others give names to values, or collect them, so that a loop could double them.
const STATEMENTS: [&str; 8] = ["if", "elif", "else", "endif", "for", "endfor", "raw", "endraw"];

/// Returns what is wrong with the code in a text, and what helps.
pub(super) fn check(text: &str) -> Result<(), (String, String)> {
    let (mut statements, mut loops) = (0, 0);
    let mut rest = text;
    while let Some((tag, after)) = next_tag(rest) {
        rest = after;
        if let Some(word) = tag.statement {
            statements += 1;
            loops += usize::from(word == "for");
            if !word.is_empty() && !STATEMENTS.contains(&word) {
                let help = "they have `if`, `for` and `raw`; to name a value, add it to [vars]".to_owned();
                return Err((format!("templates have no `{{% {word} %}}`"), help));
            }
            if word == "raw" {
                rest = rest.find("endraw").map_or("", |end| &rest[end..]);
            }
        }
        if tag.length > LONGEST_TAG || statements > MOST_STATEMENTS || loops > MOST_LOOPS {
            let help = format!(
                "at most {MOST_STATEMENTS} `{{% %}}`, {MOST_LOOPS} loops, and {LONGEST_TAG} characters in one pair of braces"
            );
            return Err(("this text contains too much code".to_owned(), help));
        }
    }
    Ok(())
}

/// Returns a text in which each slice `x[a:b]` is written as `x[[a, b]]`. It uses the same names, but only there does the template
/// engine list `x` among them.
pub(super) fn without_slices(text: &str) -> Cow<'_, str> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((tag, after)) = next_tag(rest) {
        let (before, code) = rest[..rest.len() - after.len()].split_at(tag.from);
        out.extend([before, &unsliced(code)]);
        rest = after;
    }
    if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// Writes the slices in code as lists.
fn unsliced(code: &str) -> String {
    // For each open bracket: where its content begins, and where the colons in it are.
    let (mut out, mut open) = (String::new(), Vec::<(char, usize, Vec<usize>)>::new());
    let (mut quote, mut escaped) = (None, false);
    for c in code.chars() {
        if let Some(mark) = quote {
            quote = (escaped || c != mark).then_some(mark);
            escaped = !escaped && c == '\\';
            out.push(c);
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '[' | '(' | '{' => open.push((c, out.len() + 1, Vec::new())),
            ':' => {
                if let Some((_, _, colons)) = open.last_mut() {
                    colons.push(out.len());
                }
            }
            ']' | ')' | '}' => {
                if let Some(('[', from, colons)) = open.pop()
                    && !colons.is_empty()
                {
                    let ends: Vec<usize> = colons.iter().copied().chain([out.len()]).collect();
                    let begins = [from].into_iter().chain(colons.iter().map(|colon| colon + 1));
                    let parts = begins.zip(ends).map(|(from, to)| out[from..to].trim()).filter(|part| !part.is_empty());
                    let list = format!("[{}]", parts.collect::<Vec<_>>().join(", "));
                    out.replace_range(from.., &list);
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// The code in one pair of braces.
struct Tag<'a> {
    /// Where its braces begin.
    from: usize,
    /// The number of bytes, without string literals.
    length: usize,
    /// The first word of a `{% %}`; `None` for an expression.
    statement: Option<&'a str>,
}

/// Returns the next `{{ }}` or `{% %}` of a text, and what comes after it.
fn next_tag(text: &str) -> Option<(Tag<'_>, &str)> {
    let bytes = text.as_bytes();
    let from = memchr::memchr_iter(b'{', bytes).find(|at| matches!(bytes.get(at + 1), Some(b'{' | b'%')))?;
    let mut at = from + 2;
    let statement = (bytes[at - 1] == b'%').then(|| {
        let word = text[at..].trim_start_matches(['-', '+']).trim_start();
        word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    let (mut length, mut open, mut quote, mut escaped) = (0_usize, 0_usize, None, false);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if let Some(mark) = quote {
            quote = (escaped || byte != mark).then_some(mark);
            escaped = !escaped && byte == b'\\';
            continue;
        }
        length += 1;
        match byte {
            b'"' | b'\'' => quote = Some(byte),
            b'(' | b'[' | b'{' => open += 1,
            b'}' | b'%' if open == 0 && bytes.get(at) == Some(&b'}') => break,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    // The last byte is one of ASCII, or the end.
    Some((Tag { from, length, statement }, text.get(at..).unwrap_or_default()))
}
