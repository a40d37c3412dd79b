//! The errors for mistakes in `scenario.toml`: syntax, fields, steps, cases.

use super::{Mistake, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/a/scenario.toml", text)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "toml syntax: no value",
        files: &[],
        text: r#"description =
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:14: string values must be quoted, expected literal string",
    },
    Mistake {
        name: "toml syntax: open string",
        files: &[],
        text: r#"description = "half
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:20: invalid basic string, expected `"`"#,
    },
    Mistake {
        name: "toml syntax: a key twice",
        files: &[],
        text: r#"[[step]]
get = "/"
get = "/b"
"#,
        says: "scenarios/a/scenario.toml:3:1: duplicate key",
    },
    Mistake {
        name: "toml syntax: an inline table over brackets",
        files: &[],
        text: r#"[[step]]
post = "/"
json = { a = 1
"#,
        says: "scenarios/a/scenario.toml:3:15: unclosed inline table, expected `}`",
    },
    Mistake {
        name: "unknown field of a step",
        files: &[],
        text: r#"[[step]]
post = "/"
jsn = { a = 1 }
"#,
        says: r"scenarios/a/scenario.toml:3:1: unknown field `jsn`
  did you mean `json`?
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `send`, `last`, `framing`, `connect`, `event`, `run`, `browser`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `await`, `golden`, `do`, `storage`, `viewport`, `colors`, `dialogs`, `traffic`",
    },
    Mistake {
        name: "unknown field of a scenario",
        files: &[],
        text: r#"sytem = "gateway"
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:1: unknown field `sytem`
  did you mean `system`?
  known here: `description`, `kind`, `recording`, `conversation`, `unobserved`, `tools`, `system`, `fixture`, `skip`, `tags`, `retries`, `timeout`, `settle`, `linger`, `panics`, `unused`, `drift`, `delays`, `worlds`, `secrets`, `record`, `vars`, `before`, `step`, `golden`, `case`",
    },
    Mistake {
        name: "unknown field of golden",
        files: &[],
        text: r#"[[step]]
get = "/"
[golden]
detial = "keys"
"#,
        says: r"scenarios/a/scenario.toml:4:1: unknown field `detial`
  did you mean `detail`?
  known here: `detail`, `show`, `collapse`, `unordered`, `ordered`, `ignore`, `text`, `comments`, `lengths`, `words`, `after_last`, `loose`, `headers`, `event_name`",
    },
    Mistake {
        name: "unknown field of stream",
        files: &[],
        text: r#"[[step]]
post = "/"
stream = { lst = "end" }
"#,
        says: r"scenarios/a/scenario.toml:3:12: unknown field `lst`
  did you mean `last`?
  known here: `first`, `last`",
    },
    Mistake {
        name: "unknown field with nothing near",
        files: &[],
        text: r#"[[step]]
get = "/"
flavour = "red"
"#,
        says: r"scenarios/a/scenario.toml:3:1: unknown field `flavour`
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `send`, `last`, `framing`, `connect`, `event`, `run`, `browser`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `await`, `golden`, `do`, `storage`, `viewport`, `colors`, `dialogs`, `traffic`",
    },
    Mistake {
        name: "steps in the plural",
        files: &[],
        text: r#"[[steps]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:3: unknown field `steps`
  did you mean `step`?
  known here: `description`, `kind`, `recording`, `conversation`, `unobserved`, `tools`, `system`, `fixture`, `skip`, `tags`, `retries`, `timeout`, `settle`, `linger`, `panics`, `unused`, `drift`, `delays`, `worlds`, `secrets`, `record`, `vars`, `before`, `step`, `golden`, `case`",
    },
    Mistake {
        name: "one bracket too few",
        files: &[],
        text: r#"[step]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:1: expected a list, found a table
  a list of tables is written with two brackets: `[[name]]`",
    },
    Mistake {
        name: "no step",
        files: &[],
        text: r#"description = "nothing"
"#,
        says: r#"scenarios/a/scenario.toml: a scenario needs at least one [[step]]
  a step is one request: post = "/path", json = { … }"#,
    },
    Mistake {
        name: "no step in the list",
        files: &[],
        text: r"step = []
",
        says: r#"scenarios/a/scenario.toml: a scenario needs at least one [[step]]
  a step is one request: post = "/path", json = { … }"#,
    },
    Mistake {
        name: "an empty file",
        files: &[],
        text: "",
        says: r#"scenarios/a/scenario.toml: a scenario needs at least one [[step]]
  a step is one request: post = "/path", json = { … }"#,
    },
    Mistake {
        name: "a step without a method",
        files: &[],
        text: r"[[step]]
json = { a = 1 }
",
        says: r"scenarios/a/scenario.toml:1:1: this step sends nothing
  a step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `run`, `browser`, `together`",
    },
    Mistake {
        name: "a step with two methods",
        files: &[],
        text: r#"[[step]]
get = "/"
post = "/b"
"#,
        says: r"scenarios/a/scenario.toml:3:8: this step has 2 methods: `get`, `post`
  a step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `run`, `browser`, `together`",
    },
    Mistake {
        name: "a path without slash",
        files: &[],
        text: r#"[[step]]
get = "api/x"
"#,
        says: r"scenarios/a/scenario.toml:2:7: the path `api/x` does not start with `/`
  retake puts the system's address before it: write only the path",
    },
    Mistake {
        name: "a path with a host",
        files: &[],
        text: r#"[[step]]
get = "http://localhost/x"
"#,
        says: r"scenarios/a/scenario.toml:2:7: the path `http://localhost/x` does not start with `/`
  retake puts the system's address before it: write only the path",
    },
    Mistake {
        name: "a step kind misspelt",
        files: &[],
        text: r#"[[step]]
lisen = "/event"
"#,
        says: r"scenarios/a/scenario.toml:2:1: unknown field `lisen`
  did you mean `listen`?
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `send`, `last`, `framing`, `connect`, `event`, `run`, `browser`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `await`, `golden`, `do`, `storage`, `viewport`, `colors`, `dialogs`, `traffic`",
    },
    Mistake {
        name: "tools that are a table",
        files: &[],
        text: r#"[[step]]
get = "/"
[tools]
a = 1
"#,
        says: "scenarios/a/scenario.toml:3:1: expected one of `recorded`, `live`, found a table",
    },
    Mistake {
        name: "json and json_file",
        files: &[],
        text: r#"[[step]]
post = "/"
json = { a = 1 }
json_file = "b.json"
"#,
        says: "scenarios/a/scenario.toml:4:13: a step has either `json` or `json_file`, this one has both",
    },
    Mistake {
        name: "json_file that is not there",
        files: &[("scenarios/a/body.json", "{}")],
        text: r#"[[step]]
post = "/"
json_file = "bdy.json"
"#,
        says: r"scenarios/a/scenario.toml:3:13: there is no file `bdy.json` in scenarios/a
  did you mean `body.json`?",
    },
    Mistake {
        name: "json_file outside",
        files: &[],
        text: r#"[[step]]
post = "/"
json_file = "../b/body.json"
"#,
        says: r"scenarios/a/scenario.toml:3:13: `../b/body.json` is not in the scenario's folder
  files that several scenarios share are in ../_shared/",
    },
    Mistake {
        name: "json_file that is not JSON",
        files: &[(
            "scenarios/a/body.json",
            r#"{
  "a": tru
}"#,
        )],
        text: r#"[[step]]
post = "/"
json_file = "body.json"
"#,
        says: r"scenarios/a/body.json:2:8: this is not JSON: expected a JSON value, found 't'
  named by scenarios/a/scenario.toml:3:13",
    },
    Mistake {
        name: "json_file that is a folder",
        files: &[("scenarios/a/body/x", "")],
        text: r#"[[step]]
post = "/"
json_file = "body"
"#,
        says: r"scenarios/a/body: expected a file, found a folder
  named by scenarios/a/scenario.toml:3:13",
    },
    Mistake {
        name: "json_file with an undefined name",
        files: &[(
            "scenarios/a/body.json",
            r#"{
  "a": "{{ nme }}"
}"#,
        )],
        text: r#"[[step]]
post = "/"
json_file = "body.json"
"#,
        says: r"scenarios/a/body.json:2:12: `nme` is not defined here
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `workdir`",
    },
    Mistake {
        name: "a name with a space in a header",
        files: &[],
        text: r#"[[step]]
get = "/"
headers = { "X Y" = "1" }
"#,
        says: "scenarios/a/scenario.toml:3:13: `X Y` is not the name of a header",
    },
    Mistake {
        name: "a header twice",
        files: &[],
        text: r#"[[step]]
get = "/"
headers = { "X-A" = "1", "x-a" = "2" }
"#,
        says: "scenarios/a/scenario.toml:3:26: the header `x-a` is given twice: the names of headers ignore case",
    },
    Mistake {
        name: "a header over two lines",
        files: &[],
        text: r#"[[step]]
get = "/"
headers = { "X-A" = "1\n2" }
"#,
        says: "scenarios/a/scenario.toml:3:21: a header's value is one line of text",
    },
    Mistake {
        name: "a stream kept out of the golden",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = true
golden = false
"#,
        says: "scenarios/a/scenario.toml:4:10: a stream always goes into the golden",
    },
    Mistake {
        name: "a stream that ends with no name",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = { last = "" }
"#,
        says: "scenarios/a/scenario.toml:3:19: the event's name is empty",
    },
    Mistake {
        name: "a step with an empty name",
        files: &[],
        text: r#"[[step]]
name = " "
get = "/"
"#,
        says: "scenarios/a/scenario.toml:2:8: the step's name is empty",
    },
    Mistake {
        name: "a method in capitals",
        files: &[],
        text: "[[step]]\nGET = \"/\"\n",
        says: r"scenarios/a/scenario.toml:2:1: unknown field `GET`
  did you mean `get`?
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `send`, `last`, `framing`, `connect`, `event`, `run`, `browser`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `await`, `golden`, `do`, `storage`, `viewport`, `colors`, `dialogs`, `traffic`",
    },
    Mistake {
        name: "a name that would colour the terminal",
        files: &[],
        text: "\"\\u001b[31mred\\u202e\" = 1\n[[step]]\nget = \"/\"\n",
        says: r"scenarios/a/scenario.toml:1:1: unknown field `\u{1b}[31mred\u{202e}`
  known here: `description`, `kind`, `recording`, `conversation`, `unobserved`, `tools`, `system`, `fixture`, `skip`, `tags`, `retries`, `timeout`, `settle`, `linger`, `panics`, `unused`, `drift`, `delays`, `worlds`, `secrets`, `record`, `vars`, `before`, `step`, `golden`, `case`",
    },
    Mistake {
        name: "cases as a list",
        files: &[],
        text: "[[step]]\nget = \"/\"\n[[case]]\nname = \"a\"\n",
        says: r"scenarios/a/scenario.toml:3:1: expected a table, found a list
  a table is written with one bracket: `[name]`",
    },
    Mistake {
        name: "a control character in a header",
        files: &[],
        text: "[[step]]\nget = \"/\"\nheaders = { a = \"x\\u0001\" }\n",
        says: "scenarios/a/scenario.toml:3:17: a header's value is one line of text",
    },
    Mistake {
        name: "a path of two lines",
        files: &[],
        text: "[[step]]\nget = \"/a\\nb\"\n",
        says: "scenarios/a/scenario.toml:2:7: the path contains '\\n'",
    },
    Mistake {
        name: "fixture: a path",
        files: &[],
        text: r#"fixture = "fixtures/write.json"
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:11: `fixtures/write.json` cannot be the name of a fixture
  write it without folder and extension: fixture = "write""#,
    },
    Mistake {
        name: "fixture: capitals",
        files: &[],
        text: r#"fixture = "Write"
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:11: `Write` cannot be the name of a fixture
  names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`",
    },
    Mistake {
        name: "case: a name with a space",
        files: &[],
        text: r#"[[step]]
get = "/"
[case."very ultra"]
"#,
        says: r"scenarios/a/scenario.toml:3:7: `very ultra` cannot be the name of a case
  names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`",
    },
    Mistake {
        name: "case: cases of its own",
        files: &[],
        text: r#"[[step]]
get = "/"
[case.a.case.b]
"#,
        says: "scenarios/a/scenario.toml:3:7: a case cannot have cases of its own",
    },
    Mistake {
        name: "case: an unknown field",
        files: &[],
        text: r#"[[step]]
get = "/"
[case.a]
var = { x = 1 }
"#,
        says: r"scenarios/a/scenario.toml:4:1: unknown field `var`
  did you mean `vars`?
  known here: `description`, `kind`, `recording`, `conversation`, `unobserved`, `tools`, `system`, `fixture`, `skip`, `tags`, `retries`, `timeout`, `settle`, `linger`, `panics`, `unused`, `drift`, `delays`, `worlds`, `secrets`, `record`, `vars`, `before`, `step`, `golden`, `case`",
    },
    Mistake {
        name: "case: none",
        files: &[],
        text: r#"[[step]]
get = "/"
[case]
"#,
        says: "scenarios/a/scenario.toml: `case` contains no case",
    },
    Mistake {
        name: "system: not there",
        files: &[],
        text: r#"system = "gatway"
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:10: there is no system `gatway`
  did you mean `gateway`?
  known here: `gateway`",
    },
    Mistake {
        name: "tools in a step",
        files: &[],
        text: r#"[[step]]
get = "/"
tools = "live"
"#,
        says: r"scenarios/a/scenario.toml:3:1: unknown field `tools`
  `tools` belongs to the scenario: put it above the first [[step]]",
    },
    Mistake {
        name: "a field of the scenario after a step",
        files: &[],
        text: r#"[[step]]
get = "/"
fixture = "none"
"#,
        says: r"scenarios/a/scenario.toml:3:1: unknown field `fixture`
  `fixture` belongs to the scenario: put it above the first [[step]]",
    },
    Mistake {
        name: "a field of a step without a step",
        files: &[],
        text: r#"post = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:1: unknown field `post`
  `post` belongs to a step: put [[step]] above it",
    },
];
