//! The configuration of the template engine, minijinja, and the conversion of its values to JSON.

use std::collections::BTreeMap;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use retake_core::json::{Json, Layout};

/// The most steps that rendering one template may take. Nested loops could otherwise block a scenario beyond its time limit.
pub(super) const MOST_STEPS: u64 = 1_000_000;

/// The most bytes that one template may render to. A step can append a long text, so steps alone do not limit it.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// Returns minijinja configured for the templates of a suite: an undefined value is an error, and a value that is not a string
/// is printed as JSON.
pub(super) fn environment<'source>() -> Environment<'source> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MOST_STEPS));
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_formatter(|out, _, value| {
        let json = to_json(value)?;
        out.write_str(&as_text(json)).map_err(|_| too_much())
    });
    environment
}

/// Returns minijinja in an environment in which every name is defined, but empty.
pub(super) fn blank_environment<'source>() -> Environment<'source> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(MOST_STEPS / 100));
    environment
}

/// The names of minijinja's filters, for hints.
pub(super) const FILTERS: &str = "abs attr batch bool capitalize chain count default dictsort escape first float groupby indent int items join \
    last length lines list lower map max min reject rejectattr replace reverse round select selectattr slice sort \
    split string sum title trim unique upper";

/// The names of minijinja's tests, for hints.
pub(super) const TESTS: &str = "boolean defined divisibleby endingwith eq even false float in integer iterable mapping none number odd sequence \
    startingwith string true";

/// Returns a string as it is, and any other value as JSON text.
pub(crate) fn as_text(json: Json) -> String {
    match json {
        Json::Str(text) => text,
        other => other.print(Layout::Compact),
    }
}

pub(super) fn render(environment: &Environment<'_>, text: &str, values: Value) -> Result<String, minijinja::Error> {
    let mut rendered = Rendered(Vec::new());
    environment.template_from_str(text)?.render_captured_to(values, &mut rendered)?;
    String::from_utf8(rendered.0).map_err(|_| too_much())
}

/// The error for what would be larger than [`MOST_BYTES`].
fn too_much() -> minijinja::Error {
    ErrorKind::WriteFailure.into()
}

/// A rendered text, up to the largest size.
struct Rendered(Vec<u8>);

impl io::Write for Rendered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn to_json(value: &Value) -> Result<Json, minijinja::Error> {
    converted(value, &mut { MOST_BYTES })
}

/// Converts a value to JSON that fits into `room` bytes, and takes its own size from it.
fn converted(value: &Value, room: &mut usize) -> Result<Json, minijinja::Error> {
    let no_json = |what: String| minijinja::Error::new(ErrorKind::InvalidOperation, what);
    let mut take = |bytes: usize| room.checked_sub(bytes).map(|left| *room = left).ok_or_else(too_much);
    take(size_of::<Json>())?;
    match value.kind() {
        ValueKind::Undefined => Err(ErrorKind::UndefinedError.into()),
        ValueKind::None => Ok(Json::Null),
        ValueKind::Bool => Ok(Json::Bool(value.is_true())),
        ValueKind::Number => number(value).ok_or_else(|| no_json(format!("JSON has no number {value}"))),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            take(text.len())?;
            Ok(Json::Str(text.to_owned()))
        }
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter()?.map(|item| converted(&item, room)).collect::<Result<_, _>>().map(Json::Array)
        }
        ValueKind::Map => {
            let mut entries = BTreeMap::new();
            for key in value.try_iter()? {
                let name =
                    key.as_str().ok_or_else(|| no_json(format!("`{key}` is not text, but keys of JSON are texts")))?;
                entries.insert(name.to_owned(), converted(&value.get_item(&key)?, room)?);
            }
            Ok(Json::object(entries))
        }
        kind => Err(no_json(format!("JSON has no {kind}"))),
    }
}

fn number(value: &Value) -> Option<Json> {
    if !value.is_integer() {
        let float = f64::try_from(value.clone()).ok().filter(|float| float.is_finite())?;
        return Some(Json::Float(float));
    }
    let whole = i128::try_from(value.clone()).ok()?;
    Some(i64::try_from(whole).map_or_else(|_| Json::BigInt(whole.to_string().into()), Json::Int))
}
