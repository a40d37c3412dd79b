//! `turn('caller')`: the text of a recorded turn. A scenario that looks for that text needs no edit after a new recording.

use std::sync::LazyLock;

use minijinja::value::Serde;
use minijinja::{Error, ErrorKind, Value};

use regex::Regex;
use retake_base::text::nearest;
use retake_core::json::Json;

/// The name of the function. Its value in a context is an object that maps each caller to a list of its turns.
pub(super) const TURN: &str = "turn";

/// Returns the function for the turns of a fixture. If a caller has several turns, a second argument has to say which one: 0 is
/// the first, -1 the last.
pub(super) fn function(turns: &Json) -> Value {
    let turns = turns.clone();
    Value::from_function(move |caller: String, which: Option<i64>| find(&turns, &caller, which))
}

/// Whether a text calls the function with a number that counts from the last turn.
pub(super) fn counts_from_the_end(text: &str) -> bool {
    static CALL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"\bturn\(\s*(?:"[^"]*"|'[^']*'|[^,()]*)\s*,\s*-"#).ok());
    CALL.as_ref().is_some_and(|call| call.is_match(text))
}

fn find(turns: &Json, caller: &str, which: Option<i64>) -> Result<Value, Error> {
    let fail = |what: String| Err(Error::new(ErrorKind::InvalidOperation, what));
    let of_caller = turns.get(caller).and_then(Json::as_array).unwrap_or_default();
    let count = i64::try_from(of_caller.len()).unwrap_or(i64::MAX);
    let index = match which {
        _ if count == 0 => {
            let known: Vec<&str> = turns.as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
            let near = nearest(caller, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return fail(format!("the fixture has no turn of `{caller}` ({known}{})", near.unwrap_or_default()));
        }
        None if count > 1 => {
            return fail(format!(
                "the fixture has {count} turns of `{caller}`: say which, turn('{caller}', 0) or from the end \
                 turn('{caller}', -1)"
            ));
        }
        None => 0,
        Some(which) if which < 0 => count + which,
        Some(which) => which,
    };
    match usize::try_from(index).ok().and_then(|index| of_caller.get(index)) {
        Some(turn) => Ok(Value::from(Serde(turn.clone()))),
        None => {
            fail(format!("the fixture has {count} turns of `{caller}`, so there is no turn {}", which.unwrap_or(0)))
        }
    }
}
