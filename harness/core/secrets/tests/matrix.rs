//! Each encoding of a secret that is known by its form, of one that is declared, and of a private key, which has many lines. Nothing of
//! any of them is left, and what a system encodes in replay equals what was recorded.

use super::encodings::{percent, written};
use super::*;

const DECLARED: &str =
    "g\u{e9}heim-\u{20ac}uro-zebraDeclared01 & more+so, Kq8Zkq1sYt5mT0wxq81kLm02nXp47RtZq81kLm02nXp47RtvB6";

fn known() -> String {
    format!("sk-{}", "proj-Kq8Zkq1sYt5mT0wxq81kLm02nXp47RtZq81kLm02nXp47RtvB6dozjgNryP4J3jVmNHl0w5N")
}

fn private_key() -> String {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    let body = to_base64(&(0..1190).map(|_| next()).collect::<Vec<u8>>());
    let lines: Vec<&str> = (0..body.len()).step_by(64).map(|at| &body[at..body.len().min(at + 64)]).collect();
    let [first, last] = ["BEGIN", "END"].map(|word| format!("-----{word} RSA PRIVATE {}", "KEY-----"));
    format!("{first}\n{}\n{last}\n", lines.join("\n"))
}

fn form(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn quoted(text: &str) -> String {
    Json::from(text).print(Layout::Compact)
}

/// Breaks a text into lines of a width, and puts each into a frame.
fn framed(text: &str, width: usize, between: &str, frame: impl Fn(usize, &str) -> String) -> String {
    let lines = (0..text.len()).step_by(width).map(|at| &text[at..text.len().min(at + width)]);
    lines.enumerate().map(|(n, line)| frame(n + 1, line)).collect::<Vec<_>>().join(between)
}

/// Puts each line of a text into a frame.
fn lines(text: &str, between: &str, frame: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(n, line)| frame(n + 1, line)).collect::<Vec<_>>().join(between)
}

type Frame = (&'static str, &'static str, fn(usize, &str) -> String);

/// The frames of lines: by file tools, programs, messages and formats.
const FRAMES: [Frame; 28] = [
    ("lines", "\n", |_, line| line.to_owned()),
    ("lines of a network", "\r\n", |_, line| line.to_owned()),
    ("indented", "\n", |_, line| format!("      {line}")),
    ("quoted", "\n", |_, line| format!("> {line}")),
    ("quoted twice", "\r\n", |_, line| format!(">> > {line}")),
    ("numbered by a file tool", "\n", |n, line| format!("{n:>6}\u{2192}{line}")),
    ("numbered by cat", "\n", |n, line| format!("{n:>6}\t{line}")),
    ("numbered with a bar", "\n", |n, line| format!("{n}|{line}")),
    ("numbered with a colon", "\n", |n, line| format!("{n}: {line}")),
    ("numbered in brackets", "\n", |n, line| format!("[{n}] {line}")),
    ("in a box", "\n", |_, line| format!("\u{2502} {line} \u{2502}")),
    ("in comments", "\n", |_, line| format!("# {line}")),
    ("in comments of C", "\n", |_, line| format!(" * {line}")),
    ("in comments of Rust", "\n", |_, line| format!("// {line}")),
    ("added in a diff", "\n", |_, line| format!("+{line}")),
    ("removed in a diff", "\n", |_, line| format!("-{line}")),
    ("a list of YAML", "\n", |_, line| format!("  - {line}")),
    ("found by grep", "\n", |n, line| format!("conf/server.pem:{n}:{line}")),
    ("around what grep found", "\n", |n, line| format!("conf/server.pem-{n}-{line}")),
    ("lines of a log", "\n", |n, line| format!("2024-05-01T10:00:{n:02}Z app[17]: {line}")),
    ("a list of JSON", ", ", |_, line| format!("\"{line}\"")),
    ("a list in lines", ",\n", |_, line| format!("    '{line}'")),
    ("joined by +", " +\n", |_, line| format!("  \"{line}\\n\"")),
    ("continued by a backslash", "\n", |_, line| format!("{line}\\")),
    ("in HTML", "<br>", |_, line| line.to_owned()),
    ("in a list of HTML", "\n", |_, line| format!("<li><code>{line}</code></li>")),
    ("in a table", "\n", |n, line| format!("| {n} | `{line}` |")),
    ("in one line", " ", |_, line| line.to_owned()),
];

/// All encodings of a text: each way to write it, base64 in each frame, and the frames alone if it has lines.
fn encodings(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = written(text).into_iter().map(|(how, text)| (how.to_owned(), text)).collect();
    all.push(("form".to_owned(), format!("a={}&b=1%2F2", form(text))));
    all.push(("a form in json".to_owned(), quoted(&format!("a={}&b=1%2F2", form(text)))));
    all.push(("json three deep".to_owned(), quoted(&quoted(&quoted(text)))));
    all.push(("json four deep".to_owned(), quoted(&quoted(&quoted(&quoted(text))))));
    all.push(("a url in json in json".to_owned(), quoted(&quoted(&percent(text)))));
    let url_safe = |text: &str| text.replace('+', "-").replace('/', "_");
    for before in ["", "?", "u:"] {
        let base64 = to_base64(format!("{before}{text}").as_bytes());
        let name = |how: &str| format!("base64 after {before:?}, {how}");
        all.push((name("whole"), base64.clone()));
        all.push((name("for urls"), url_safe(&base64)));
        all.push((name("without padding"), url_safe(base64.trim_end_matches('='))));
        for (width, how) in [(76, "MIME"), (64, "PEM"), (60, "60"), (32, "32"), (19, "19")] {
            all.push((name(how), framed(&base64, width, "\n", |_, line| line.to_owned())));
        }
        all.push((name("PEM for urls"), url_safe(&framed(&base64, 64, "\n", |_, line| line.to_owned()))));
        all.push((name("MIME in json"), quoted(&framed(&base64, 76, "\n", |_, line| line.to_owned()))));
        all.push((
            name("MIME in json in json"),
            quoted(&quoted(&framed(&base64, 76, "\r\n", |_, line| line.to_owned()))),
        ));
        all.push((name("MIME in a url"), percent(&framed(&base64, 76, "\n", |_, line| line.to_owned()))));
        all.push((name("MIME in a form"), form(&framed(&base64, 76, "\r\n", |_, line| line.to_owned()))));
        all.push((name("soft line breaks"), framed(&base64, 75, "=\r\n", |_, line| line.to_owned())));
        for (how, between, frame) in FRAMES {
            all.push((name(how), framed(&base64, 64, between, frame)));
        }
    }
    if text.contains('\n') {
        for (how, between, frame) in FRAMES {
            all.push((how.to_owned(), lines(text, between, frame)));
            all.push((format!("{how}, in json"), quoted(&lines(text, between, frame))));
            all.push((format!("{how}, in a form"), format!("a={}", form(&lines(text, between, frame)))));
        }
    }
    all
}

/// Whether nothing but a secret that is in two pieces tells one text in pieces from several texts.
fn in_one_line(how: &str) -> bool {
    ["a list of JSON", "in HTML", "in one line"].iter().any(|frame| how.ends_with(frame))
}

/// Whether a part of a secret is in a text, as it is or in base64.
fn is_left(core: &str, text: &str) -> bool {
    let window = |core: &str, length: usize| {
        (0..core.len().saturating_sub(length))
            .any(|at| core.is_char_boundary(at) && text.contains(&core[at..at + length]))
    };
    window(core, 12)
        || ["", "a", "ab"].iter().any(|before| {
            let base64 = to_base64(format!("{before}{core}").as_bytes());
            let base64 = &base64[4..base64.len() - 4];
            window(base64, 15) || window(&base64.replace('+', "-").replace('/', "_"), 15)
        })
}

#[test]
fn no_secret_is_left_in_any_encoding() {
    let secrets = Secrets::new(["CORP"], [("CORP".to_owned(), DECLARED.to_owned())], Suspects::default()).unwrap();
    let key = private_key();
    let (known, core_of_key) = (known(), key.lines().skip(2).take(16).collect::<String>());
    let mut left = Vec::new();
    for (name, placeholder, secret, core) in [
        ("openai-key", "<OPENAI_KEY>", &*known, &known[12..]),
        ("env:CORP", "<CORP>", DECLARED, &DECLARED[60..]),
        ("private-key", "<PRIVATE_KEY>", &*key, &*core_of_key),
    ] {
        let around = |text: &str| format!("what it says is this, it says:\n{text}\nand so on, for a while");
        let count = encodings(secret).len();
        assert!(count >= 60, "{count}");
        for ((how, real), (_, stand_in)) in encodings(&around(secret)).into_iter().zip(encodings(&around(placeholder)))
        {
            let mut fired = Fired::new();
            let text = secrets.scrub().text(&real, &mut fired).into_owned();
            let again = secrets.scrub().text(&text, &mut Fired::new()).into_owned();
            if !fired.contains(name) || is_left(core, &text) {
                left.push(format!("{name} as {how} is left: {fired:?} {text}"));
            } else if again != text {
                left.push(format!("{name} as {how} changes again: {text}\n{again}"));
            } else if name != "private-key"
                && !in_one_line(&how)
                && secrets.scrub().text(&stand_in, &mut Fired::new()) != text
            {
                let stand_in = secrets.scrub().text(&stand_in, &mut Fired::new()).into_owned();
                left.push(format!("{name} as {how} differs from what replay has: {text}\n{stand_in}"));
            }
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}

/// Where a list of JSON has the lines of a key, or of its base64.
#[test]
fn lines_that_are_strings_of_json_are_one_text() {
    let key = private_key();
    let lines = |text: &str| Json::from(text.lines().map(Json::from).collect::<Vec<_>>());
    let objects = |name: &str, text: &str| {
        let line = |(n, line): (usize, &str)| {
            Json::object([("n", Json::from(n.to_string().as_str())), (name, Json::from(line))])
        };
        Json::from(text.lines().enumerate().map(line).collect::<Vec<_>>())
    };
    let base64 = framed(&to_base64(key.as_bytes()), 76, "\n", |_, line| line.to_owned());
    for mut json in [lines(&key), objects("content", &key), objects("text", &key), lines(&base64)] {
        let mut fired = Fired::new();
        Scrub::known().json(&mut json, &mut fired);
        let text = json.print(Layout::Compact);
        assert!(fired.contains("private-key"), "{text}");
        for line in key.lines().skip(1).take(18).chain(base64.lines().skip(3).take(18)) {
            assert!(!text.contains(&line[..line.len().min(24)]), "{line} in {text}");
        }
    }
}

/// Texts in base64 that stand side by side stay texts of their own, so that a call equals its recording whatever the lengths are.
#[test]
fn texts_in_base64_side_by_side_are_not_joined() {
    let secrets = Secrets::new(["CORP"], [("CORP".to_owned(), DECLARED.to_owned())], Suspects::default()).unwrap();
    let scrub = |text: &str| secrets.scrub().text(text, &mut Fired::new()).into_owned();
    for between in [" ", " , ", "\", \"", " and "] {
        let all = |one: &str, other: &str, plain: &str| {
            [one, plain, other, plain].map(|text| to_base64(text.as_bytes())).join(between)
        };
        for plain in ["this one has nothing in it at all", "nor that"] {
            let real = scrub(&all(DECLARED, &known(), plain));
            assert_eq!(real, scrub(&all("<CORP>", "<OPENAI_KEY>", plain)), "{between:?}");
            assert!(real.ends_with(&to_base64(plain.as_bytes())), "{real}");
        }
    }
}

/// Neither does a text that has a secret hide the one that is in the next.
#[test]
fn secrets_in_base64_side_by_side_are_each_removed() {
    let alone = |sample: &(&str, &str, &str)| to_base64(format!("{}{}", sample.1, sample.2).as_bytes());
    for three in SAMPLES.windows(3) {
        let encoded: Vec<String> = three.iter().map(alone).collect();
        let expected: Vec<String> = encoded.iter().map(|one| scrubbed(one).0).collect();
        let text = scrubbed(&encoded.join(" , ")).0;
        for (one, (sample, whole)) in expected.iter().zip(three.iter().zip(&encoded)) {
            // Lines that are equally wide are one text.
            let as_wide = encoded.iter().any(|one| [60, 64, 70, 72, 76].contains(&one.len()))
                || encoded.iter().filter(|other| other.len() == whole.len()).count() > 1;
            assert!(as_wide || text.contains(one.trim_end_matches('=')), "{}: {one} is not in {text}", sample.0);
        }
    }
}

/// What stands in the first of two pieces is a secret of another form than the whole.
#[test]
fn a_secret_that_begins_as_another_is_one() {
    let whole = format!(
        "it says, in base64: Account{} (and that is all)",
        "Key=zebraAzure01AB/klmnopqrstuvwxyz+0123456789/ABCDEFGH=="
    );
    for between in ["<br>", " "] {
        let (text, fired) = scrubbed(&framed(&to_base64(whole.as_bytes()), 76, between, |_, line| line.to_owned()));
        assert_eq!(fired, ["azure-key"], "{between:?}: {text}");
    }
}
