//! The errors for values of a wrong type, and for unknown words, in `scenario.toml`.

use super::{Mistake, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/a/scenario.toml", text)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "wrong type: number for text",
        files: &[],
        text: r#"description = 5
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:15: expected a string, found integer `5`",
    },
    Mistake {
        name: "wrong type: text for a list",
        files: &[],
        text: r#"[[step]]
get = "/"
[golden]
collapse = "messages"
"#,
        says: r#"scenarios/a/scenario.toml:4:12: expected a list, found string "messages"
  a list is written in brackets: `[…]`"#,
    },
    Mistake {
        name: "wrong type: number for a duration",
        files: &[],
        text: r#"timeout = 60
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:11: expected a duration as text: "60s", "500ms" or "2m", found integer `60`"#,
    },
    Mistake {
        name: "wrong type: text for a status",
        files: &[],
        text: r#"[[step]]
get = "/"
status = "201"
"#,
        says: r#"scenarios/a/scenario.toml:3:10: expected a status or a list of them, found string "201""#,
    },
    Mistake {
        name: "wrong type: date for a table",
        files: &[],
        text: r#"golden = 2024-01-01
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:10: expected a table, found a date",
    },
    Mistake {
        name: "wrong type: number for unused",
        files: &[],
        text: r#"unused = 3
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:10: expected "fail", "allow" or a list of callers, found integer `3`"#,
    },
    Mistake {
        name: "wrong type: text for stream",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = "end"
"#,
        says: r#"scenarios/a/scenario.toml:3:10: expected true, or a table with `first` and `last`, found string "end""#,
    },
    Mistake {
        name: "a number as a header",
        files: &[],
        text: r#"[[step]]
get = "/"
headers = { X-Count = 3 }
"#,
        says: "scenarios/a/scenario.toml:3:23: expected a string, found integer `3`",
    },
    Mistake {
        name: "a duration without a unit",
        files: &[],
        text: r#"settle = "2"
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:10: `2` is not a duration
  write "60s", "500ms" or "2m""#,
    },
    Mistake {
        name: "a duration in days",
        files: &[],
        text: r#"timeout = "1d"
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:11: `1d` is not a duration
  write "60s", "500ms" or "2m""#,
    },
    Mistake {
        name: "a timeout of zero",
        files: &[],
        text: r#"timeout = "0s"
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:11: a timeout of zero always fails",
    },
    Mistake {
        name: "not an HTTP status",
        files: &[],
        text: r#"[[step]]
get = "/"
status = [200, 700]
"#,
        says: "scenarios/a/scenario.toml:3:10: 700 is not an HTTP status: expected 100 to 599",
    },
    Mistake {
        name: "no status at all",
        files: &[],
        text: r#"[[step]]
get = "/"
status = []
"#,
        says: "scenarios/a/scenario.toml:3:10: the list of statuses is empty",
    },
    Mistake {
        name: "unused: a misspelt word",
        files: &[],
        text: r#"unused = "alow"
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:10: `alow` is not one of `fail`, `allow`
  to let the turns of one caller stay unserved, write ["alow"]"#,
    },
    Mistake {
        name: "drift: an unknown level",
        files: &[],
        text: r#"drift = { prompt = "warn" }
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:20: `warn` is not one of `ignore`, `note`, `fail`",
    },
    Mistake {
        name: "drift: an unknown part",
        files: &[],
        text: r#"drift = { promt = "note" }
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:11: unknown field `promt`
  did you mean `prompt`?
  known here: `prompt`, `tools`, `model`, `settings`, `form`, `results`, `observation`",
    },
    Mistake {
        name: "delays: an unknown word",
        files: &[],
        text: r#"delays = "record"
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:10: `record` is not one of `none`, `recorded`
  did you mean `recorded`?",
    },
    Mistake {
        name: "golden: an unknown detail",
        files: &[],
        text: r#"[[step]]
get = "/"
[golden]
detail = "type"
"#,
        says: r"scenarios/a/scenario.toml:4:10: `type` is not one of `keys`, `types`, `values`
  did you mean `types`?",
    },
    Mistake {
        name: "golden: a pointer without slash",
        files: &[],
        text: r#"[[step]]
get = "/"
[golden]
show = ["messages/0"]
"#,
        says: "scenarios/a/scenario.toml:4:9: the pointer `messages/0` does not start with `/`",
    },
    Mistake {
        name: "golden: a tilde in a pointer",
        files: &[],
        text: r#"[[step]]
get = "/"
[golden]
show = ["/a~b"]
"#,
        says: "scenarios/a/scenario.toml:4:9: in the pointer `/a~b` a `~` is written `~0`, and a `/` in a key `~1`",
    },
    Mistake {
        name: "a date in a body",
        files: &[],
        text: r#"[[step]]
post = "/"
json = { day = 2024-01-01 }
"#,
        says: r"scenarios/a/scenario.toml:3:16: JSON has no dates
  put quotes around it",
    },
    Mistake {
        name: "infinity in a body",
        files: &[],
        text: r#"[[step]]
post = "/"
json = { x = inf }
"#,
        says: "scenarios/a/scenario.toml:3:14: JSON has no number inf",
    },
    Mistake {
        name: "a date for a text",
        files: &[],
        text: "description = 2024-01-01\n[[step]]\nget = \"/\"\n",
        says: "scenarios/a/scenario.toml:1:15: expected a string, found the date 2024-01-01",
    },
    Mistake {
        name: "null in a body",
        files: &[],
        text: "[[step]]\npost = \"/\"\njson = { a = null }\n",
        says: r#"scenarios/a/scenario.toml:3:14: TOML has no `null`
  leave the field out, or put a body with null into a file of its own: json_file = "body.json""#,
    },
    Mistake {
        name: "None for a text",
        files: &[],
        text: "system = None\n[[step]]\nget = \"/\"\n",
        says: r#"scenarios/a/scenario.toml:1:10: TOML has no `None`
  leave the field out, or put a body with null into a file of its own: json_file = "body.json""#,
    },
    Mistake {
        name: "a level that is not a word",
        files: &[],
        text: "drift = { prompt = true }\n[[step]]\nget = \"/\"\n",
        says: "scenarios/a/scenario.toml:1:20: expected one of `ignore`, `note`, `fail`, found boolean `true`",
    },
    Mistake {
        name: "a level with a capital",
        files: &[],
        text: "drift = { prompt = \"Fail\" }\n[[step]]\nget = \"/\"\n",
        says: r"scenarios/a/scenario.toml:1:20: `Fail` is not one of `ignore`, `note`, `fail`
  did you mean `fail`?",
    },
    Mistake {
        name: "delays as a number",
        files: &[],
        text: "delays = 5\n[[step]]\nget = \"/\"\n",
        says: "scenarios/a/scenario.toml:1:10: expected one of `none`, `recorded`, found integer `5`",
    },
    Mistake {
        name: "a detail that is not a word",
        files: &[],
        text: "[[step]]\nget = \"/\"\n[golden]\ndetail = [\"keys\"]\n",
        says: "scenarios/a/scenario.toml:4:10: expected one of `keys`, `types`, `values`, found a list",
    },
    Mistake {
        name: "a time limit beyond the clock",
        files: &[],
        text: "timeout = \"18446744073709551615s\"\n[[step]]\nget = \"/\"\n",
        says: "scenarios/a/scenario.toml:1:11: `18446744073709551615s` is more than a day",
    },
    Mistake {
        name: "a settle beyond the clock",
        files: &[],
        text: "settle = \"307445734561825860m\"\n[[step]]\nget = \"/\"\n",
        says: "scenarios/a/scenario.toml:1:10: `307445734561825860m` is more than a day",
    },
    Mistake {
        name: "a status as text, in a list",
        files: &[],
        text: "[[step]]\nget = \"/\"\nstatus = [\"200\"]\n",
        says: "scenarios/a/scenario.toml:3:11: expected a whole number, found string \"200\"",
    },
    Mistake {
        name: "a status beyond all numbers",
        files: &[],
        text: "[[step]]\nget = \"/\"\nstatus = 99999999999999999999\n",
        says: "scenarios/a/scenario.toml:3:10: expected a status or a list of them, found integer `99999999999999999999`",
    },
];
