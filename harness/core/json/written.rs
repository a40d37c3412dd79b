//! JSON that is about to be written to a file: its keys are sorted, except in texts that keep their original form.

use litemap::LiteMap;
use smol_str::SmolStr;

use super::printer::{Layout, print_list, print_string, print_value};
use super::text::JsonText;
use super::value::Json;

/// JSON to print. The keys of its objects are sorted; a text keeps its own order.
#[derive(Clone, Debug)]
pub enum Written {
    Value(Json),
    /// A value in its original order and spelling.
    Text(JsonText),
    /// The compact text of a value, which takes one line in any layout.
    Line(String),
    List(Vec<Written>),
    Object(LiteMap<SmolStr, Written>),
}

impl Written {
    pub fn object<K: AsRef<str>, V: Into<Written>>(entries: impl IntoIterator<Item = (K, V)>) -> Written {
        Written::Object(entries.into_iter().map(|(key, value)| (key.as_ref().into(), value.into())).collect())
    }

    pub fn print(&self, layout: Layout) -> String {
        let mut out = String::new();
        self.print_at(&mut out, layout, 0);
        out
    }

    fn print_at(&self, out: &mut String, layout: Layout, depth: usize) {
        match self {
            Written::Value(value) => print_value(value, out, layout, depth),
            Written::Text(text) if layout == Layout::Pretty => text.print_pretty(out, depth),
            Written::Text(text) => out.push_str(text.text()),
            Written::Line(text) => out.push_str(text),
            Written::List(items) => print_list(out, layout, depth, ('[', ']'), items.iter(), |item, out| {
                item.print_at(out, layout, depth + 1);
            }),
            Written::Object(entries) => {
                print_list(out, layout, depth, ('{', '}'), entries.iter(), |(key, item), out| {
                    print_string(key, out);
                    out.push_str(if layout == Layout::Compact { ":" } else { ": " });
                    item.print_at(out, layout, depth + 1);
                });
            }
        }
    }
}

impl From<JsonText> for Written {
    fn from(text: JsonText) -> Written {
        Written::Text(text)
    }
}

impl<T: Into<Json>> From<T> for Written {
    fn from(value: T) -> Written {
        Written::Value(value.into())
    }
}
