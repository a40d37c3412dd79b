//! Secrets that are written as URLs, JSON, Python, JavaScript or base64 write them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{SAMPLES, scrubbed, secret, to_base64};
use crate::json::{Json, Layout};
use crate::secrets::forms::SECOND;
use crate::secrets::{Fired, Scrub, Secrets, Suspects};

/// Writes every character as an escape in which digits stand for it.
fn escaped(text: &str, of: impl Fn(char) -> String) -> String {
    text.chars().map(of).collect()
}

fn of_bytes(text: &str, of: impl Fn(u8) -> String) -> String {
    text.bytes().map(of).collect()
}

pub(super) fn percent(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Returns a text as Python's `repr` writes it in ASCII, with the escapes of a string or of bytes.
fn python(text: &str, bytes: bool) -> String {
    escaped(text, |c| match c {
        '\n' => "\\n".to_owned(),
        '\\' | '\'' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        c if bytes => of_bytes(&c.to_string(), |byte| format!("\\x{byte:02x}")),
        c if u32::from(c) < 256 => format!("\\x{:02x}", u32::from(c)),
        c if u32::from(c) < 65536 => format!("\\u{:04x}", u32::from(c)),
        c => format!("\\U{:08x}", u32::from(c)),
    })
}

/// Returns a text as `json.dumps` writes it, with surrogate pairs.
fn ascii_json(text: &str) -> String {
    let unit = |unit: u16| match u8::try_from(unit) {
        Ok(c @ (b'"' | b'\\')) => format!("\\{}", char::from(c)),
        Ok(c @ b' '..=b'~') => char::from(c).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    text.encode_utf16().map(unit).collect()
}

/// Every way in which a text is written inside another text, but not base64.
pub(super) fn written(text: &str) -> Vec<(&'static str, String)> {
    let json = |text: &str| {
        let quoted = Json::from(text).print(Layout::Compact);
        quoted[1..quoted.len() - 1].to_owned()
    };
    vec![
        ("url", percent(text)),
        ("url twice", percent(&percent(text))),
        ("url in lower case", escaped(&percent(text), |c| c.to_string()).replace("%3D", "%3d").replace("%2F", "%2f")),
        ("every byte of a url", of_bytes(text, |byte| format!("%{byte:02X}"))),
        ("json", json(text)),
        ("json twice", json(&json(text))),
        ("json in ascii", ascii_json(text)),
        ("json in ascii, twice", json(&ascii_json(text))),
        ("json in a url", percent(&ascii_json(text))),
        ("a url in json", ascii_json(&percent(text).replace('%', "\\u0025")).replace("\\\\u", "\\u")),
        ("go's json", json(text).replace('=', "\\u003d").replace('&', "\\u0026")),
        ("php's json", json(text).replace('/', "\\/")),
        ("python's repr", python(text, false)),
        ("python's bytes", python(text, true)),
        (
            "python's octal",
            escaped(text, |c| {
                if c.is_ascii_alphanumeric() {
                    c.to_string()
                } else {
                    of_bytes(&c.to_string(), |byte| format!("\\{byte:03o}"))
                }
            }),
        ),
        (
            "javascript's \\x",
            escaped(text, |c| {
                if u32::from(c) < 256 {
                    format!("\\x{:02X}", u32::from(c))
                } else {
                    format!("\\u{{{:x}}}", u32::from(c))
                }
            }),
        ),
        ("javascript's \\u{}", escaped(text, |c| format!("\\u{{{:x}}}", u32::from(c)))),
    ]
}

#[test]
fn each_form_is_found_in_each_encoding() {
    for sample in SAMPLES {
        let (name, whole, secret) = (sample.0, format!("{}{}", sample.1, sample.2), secret(sample));
        for (how, written) in written(&whole) {
            let (text, fired) = scrubbed(&format!("it is {written} I think"));
            assert_eq!(fired, [name], "{name} as {how}: {written}");
            for (_, core) in [("", secret.clone())].into_iter().chain(self::written(&secret)) {
                assert!(!text.contains(&core), "{name} as {how}: {text}");
            }
            assert!(text.starts_with("it is ") && text.ends_with(" I think"), "{name} as {how}: {text}");
            assert_eq!(scrubbed(&text).0, text, "{name} as {how}, a second time");
        }
    }
}

/// Values with what encodings change: quotes, spaces, slashes, and characters of two, three and four bytes.
const VALUES: [&str; 5] =
    ["p\"a/s\\s w\u{f6}rd+1", "g\u{e9}heim-\u{20ac}uro", "\u{1f511}\u{1f511}\u{1f511}", "pl41n-v4lue", "100%41x=&y"];

#[test]
fn a_declared_value_is_found_in_each_encoding() {
    for value in VALUES {
        let scrub = Scrub::default().with_value("STRIPE", value);
        for (how, written) in written(value).into_iter().chain([("plain", value.to_owned())]) {
            let mut fired = Fired::new();
            let text = scrub.text(&format!("it is {written}, yes"), &mut fired).into_owned();
            assert_eq!(text, "it is <STRIPE>, yes", "{value} as {how}");
            assert_eq!(fired.into_iter().collect::<Vec<_>>(), [SECOND, "env:STRIPE"]);
        }
    }
}

/// In replay the system has the placeholder in place of the value, and encodes that.
#[test]
fn an_encoded_placeholder_equals_the_encoded_value() {
    let scrub = Scrub::known().with_value("STRIPE_1", VALUES[1]);
    let stand_in = |text: &str| scrub.text(text, &mut Fired::new()).into_owned();
    for ((how, value), (_, placeholder)) in written(VALUES[1]).into_iter().zip(written("<STRIPE_1>")) {
        assert_eq!(stand_in(&value), stand_in(&placeholder), "{how}");
    }
    for name in ["A", "AB", "ABC", "STRIPE"] {
        for value in
            ["g\u{e9}heim-\u{20ac}uro", "\u{3ff}\u{3ff}>?>?>?", "hunter2", "hunter22", "hunter", "??????>>>>>>"]
        {
            let scrub = Scrub::known().with_value(name, value);
            for before in ["", "u", "us", "user:", "?>?"] {
                for after in ["", ":", ">?", " and more of it, as much as one likes"] {
                    for (how, form) in BASE64 {
                        let encode = |of: &str| form(format!("{before}{of}{after}").as_bytes());
                        let text = |of: &str| format!("data:x;base64,{} end", encode(of));
                        let mut fired = Fired::new();
                        let scrubbed = scrub.text(&text(value), &mut fired).into_owned();
                        let said = format!("{value} after {before:?}, before {after:?}, {how}");
                        assert!(fired.contains(&format!("env:{name}")), "{said}: {scrubbed}");
                        let again = scrub.text(&text(&format!("<{name}>")), &mut Fired::new()).into_owned();
                        assert_eq!(scrubbed, again, "{said}");
                        let run = scrubbed.strip_prefix("data:x;base64,").unwrap().strip_suffix(" end").unwrap();
                        let decoded = STANDARD.decode(run.replace('-', "+").replace('_', "/")).unwrap();
                        let expected = format!("{before}<{name}>{after}");
                        assert_eq!(String::from_utf8(decoded).unwrap(), expected, "{said}");
                    }
                }
            }
        }
    }
}

type Encode = fn(&[u8]) -> String;

const BASE64: [(&str, Encode); 4] = [
    ("standard", to_base64),
    ("without padding", |bytes| to_base64(bytes).trim_end_matches('=').to_owned()),
    ("url-safe", |bytes| to_base64(bytes).replace('+', "-").replace('/', "_")),
    ("url-safe without padding", |bytes| {
        to_base64(bytes).replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned()
    }),
];

#[test]
fn each_form_is_found_in_base64_at_each_offset() {
    for sample in SAMPLES {
        let (name, whole, secret) = (sample.0, format!("{}{}", sample.1, sample.2), secret(sample));
        for before in ["", "a ", "ab "] {
            for (how, encode) in BASE64 {
                let run = encode(format!("{before}{whole} end").as_bytes());
                for text in [
                    run.clone(),
                    percent(&run),
                    format!("/path/v1/{run}"),
                    format!("x/{run}"),
                    format!("xy/{run}"),
                    format!("\\n{run}\\n"),
                ] {
                    let (text, fired) = scrubbed(&text);
                    assert_eq!(fired, [name], "{name} after {before:?}, {how}: {text}");
                    let core = to_base64(secret.as_bytes());
                    assert!(!text.contains(&core[4..core.len() - 4]), "{name} after {before:?}, {how}: {text}");
                }
            }
        }
    }
}

#[test]
fn an_undeclared_value_is_found_in_each_encoding() {
    let value = "g\u{e9}heim-\u{20ac}uro-t0ken";
    let secrets = Secrets::new([""; 0], [("DEPLOY_TOKEN".to_owned(), value.to_owned())], Suspects::default()).unwrap();
    let base64 = to_base64(format!("x{value}").as_bytes());
    for (how, written) in written(value).into_iter().chain([("base64", base64), ("plain", value.to_owned())]) {
        let call = Json::object([("text", Json::from(&*format!("it is {written}")))]);
        assert_eq!(secrets.undeclared_in(&call, "/v1/x"), Some("DEPLOY_TOKEN"), "{how}");
    }
}

#[test]
fn ordinary_escapes_are_unchanged() {
    for text in [
        r"C:\Users\new\table\x.txt and \d+\.\d* and 100% of 5%20 and %zz and \u12 and \",
        r#"{"a": "caf\u00e9\n", "b": "https://host/a%20b?c=%E2%82%AC"}"#,
        r"\x41\u{110000}\ud800\U00110000\777",
        "%E9%FF%00",
    ] {
        assert_eq!(scrubbed(text), (text.to_owned(), vec![]));
    }
}

#[test]
fn base64_in_base64_is_searched_too() {
    let inner = to_base64(b"the key is sk-proj-abcdefghijklmnop1234, keep it");
    let (text, fired) = scrubbed(&to_base64(format!("inside: {inner}").as_bytes()));
    assert_eq!(fired, ["openai-key"]);
    let expected = to_base64(format!("inside: {}", to_base64(b"the key is <OPENAI_KEY>, keep it")).as_bytes());
    assert_eq!(text, expected);
}
