//! What a person sees who writes a wrong `scenario.toml`.

use super::{Mistake, assert_told};

#[test]
fn each_mistake_is_told_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/a/scenario.toml", text)].into());
}

const MISTAKES: &[Mistake] = &[
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
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `golden`",
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
  known here: `description`, `system`, `fixture`, `timeout`, `settle`, `unused`, `drift`, `delays`, `secrets`, `record`, `vars`, `step`, `golden`, `case`",
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
  known here: `detail`, `show`, `collapse`, `unordered`",
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
colour = "red"
"#,
        says: r"scenarios/a/scenario.toml:3:1: unknown field `colour`
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `golden`",
    },
    Mistake {
        name: "steps in the plural",
        files: &[],
        text: r#"[[steps]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:3: unknown field `steps`
  did you mean `step`?
  known here: `description`, `system`, `fixture`, `timeout`, `settle`, `unused`, `drift`, `delays`, `secrets`, `record`, `vars`, `step`, `golden`, `case`",
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
        says: r#"scenarios/a/scenario.toml:1:10: `2` is no duration
  write "60s", "500ms" or "2m""#,
    },
    Mistake {
        name: "a duration in days",
        files: &[],
        text: r#"timeout = "1d"
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:11: `1d` is no duration
  write "60s", "500ms" or "2m""#,
    },
    Mistake {
        name: "a timeout of zero",
        files: &[],
        text: r#"timeout = "0s"
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:11: a timeout of no time at all always fails",
    },
    Mistake {
        name: "no HTTP status",
        files: &[],
        text: r#"[[step]]
get = "/"
status = [200, 700]
"#,
        says: "scenarios/a/scenario.toml:3:10: 700 is no HTTP status: expected 100 to 599",
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
        name: "drift: a level that is none",
        files: &[],
        text: r#"drift = { prompt = "warn" }
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:1:20: `warn` is not one of `ignore`, `note`, `fail`",
    },
    Mistake {
        name: "drift: a part that is none",
        files: &[],
        text: r#"drift = { promt = "note" }
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:11: unknown field `promt`
  did you mean `prompt`?
  known here: `prompt`, `tools`, `model`, `settings`",
    },
    Mistake {
        name: "delays: a word that is none",
        files: &[],
        text: r#"delays = "record"
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:10: `record` is not one of `none`, `recorded`
  did you mean `recorded`?",
    },
    Mistake {
        name: "golden: a detail that is none",
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
  a step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `together`",
    },
    Mistake {
        name: "a step with two methods",
        files: &[],
        text: r#"[[step]]
get = "/"
post = "/b"
"#,
        says: r"scenarios/a/scenario.toml:3:8: this step has 2 methods: `get`, `post`
  a step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `together`",
    },
    Mistake {
        name: "a path without slash",
        files: &[],
        text: r#"[[step]]
get = "api/x"
"#,
        says: r"scenarios/a/scenario.toml:2:7: the path `api/x` does not start with `/`
  the system's address comes before it: write the path alone",
    },
    Mistake {
        name: "a path with a host",
        files: &[],
        text: r#"[[step]]
get = "http://localhost/x"
"#,
        says: r"scenarios/a/scenario.toml:2:7: the path `http://localhost/x` does not start with `/`
  the system's address comes before it: write the path alone",
    },
    Mistake {
        name: "a step that this version cannot do",
        files: &[],
        text: r#"[[step]]
browser = "/"
"#,
        says: "scenarios/a/scenario.toml:2:1: this version of retake cannot do `browser` yet",
    },
    Mistake {
        name: "a step kind misspelt",
        files: &[],
        text: r#"[[step]]
lisen = "/event"
"#,
        says: r"scenarios/a/scenario.toml:2:1: unknown field `lisen`
  did you mean `listen`?
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `golden`",
    },
    Mistake {
        name: "tools, not yet",
        files: &[],
        text: r#"[[step]]
get = "/"
[tools]
a = 1
"#,
        says: "scenarios/a/scenario.toml:3:2: this version of retake cannot do `tools` yet",
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
        says: "scenarios/a/scenario.toml:3:13: `../b/body.json` is not in the scenario's folder",
    },
    Mistake {
        name: "json_file that is no JSON",
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
        says: r"scenarios/a/body.json:2:8: this is no JSON: expected a JSON value, found 't'
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
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `tools`, `turn`, `workdir`",
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
        name: "no number in a body",
        files: &[],
        text: r#"[[step]]
post = "/"
json = { x = inf }
"#,
        says: "scenarios/a/scenario.toml:3:14: JSON has no number inf",
    },
    Mistake {
        name: "a name with a space in a header",
        files: &[],
        text: r#"[[step]]
get = "/"
headers = { "X Y" = "1" }
"#,
        says: "scenarios/a/scenario.toml:3:13: `X Y` is no name of a header",
    },
    Mistake {
        name: "a header twice",
        files: &[],
        text: r#"[[step]]
get = "/"
headers = { "X-A" = "1", "x-a" = "2" }
"#,
        says: "scenarios/a/scenario.toml:3:26: the header `x-a` is given twice: case does not tell headers apart",
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
        name: "capture: no form",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { id = "thread_id" }
"#,
        says: r"scenarios/a/scenario.toml:3:18: `thread_id` does not say where the value is
  write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`",
    },
    Mistake {
        name: "capture: an unknown form",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { id = "cokie:a" }
"#,
        says: r"scenarios/a/scenario.toml:3:18: `cokie:` is no place to capture from
  did you mean `cookie:`?
  write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`",
    },
    Mistake {
        name: "capture: no cookie",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { id = "cookie:" }
"#,
        says: r"scenarios/a/scenario.toml:3:18: `cookie:` names no cookie
  write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`",
    },
    Mistake {
        name: "capture: a pointer without slash",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { id = "json:id" }
"#,
        says: "scenarios/a/scenario.toml:3:18: the pointer `id` does not start with `/`",
    },
    Mistake {
        name: "capture: an event without pointer",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = true
capture = { id = "sse:metadata" }
"#,
        says: r"scenarios/a/scenario.toml:4:18: `sse:metadata` lacks an event or a pointer
  write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`",
    },
    Mistake {
        name: "capture: sse without a stream",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { id = "sse:metadata:/id" }
"#,
        says: r"scenarios/a/scenario.toml:3:18: `sse:` reads a stream, and this step has none
  add `stream = true`, or read the body with `json:/pointer`",
    },
    Mistake {
        name: "capture: json of a stream",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = true
capture = { id = "json:/id" }
"#,
        says: r"scenarios/a/scenario.toml:4:18: `json:` reads a JSON body, and this step has a stream
  read an event with `sse:EVENT:/pointer`",
    },
    Mistake {
        name: "capture: a reserved name",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { run = "json:/id" }
"#,
        says: r"scenarios/a/scenario.toml:3:13: the name `run` is reserved
  reserved: `run`, `port`, `workdir`, `root`, `model`, `secret`, `tools`, `turn`, `fixture`",
    },
    Mistake {
        name: "capture: a name that is a var",
        files: &[],
        text: r#"[[step]]
get = "/"
capture = { id = "json:/id" }
[vars]
id = "1"
"#,
        says: r"scenarios/a/scenario.toml:3:13: `id` is a var already
  a capture needs a name of its own",
    },
    Mistake {
        name: "vars: a reserved name",
        files: &[],
        text: r#"[[step]]
get = "/"
[vars]
model = "gpt"
"#,
        says: r"scenarios/a/scenario.toml:4:1: the name `model` is reserved
  reserved: `run`, `port`, `workdir`, `root`, `model`, `secret`, `tools`, `turn`, `fixture`",
    },
    Mistake {
        name: "vars: a name with a dash",
        files: &[],
        text: r#"[[step]]
get = "/"
[vars]
user-name = "ann"
"#,
        says: r"scenarios/a/scenario.toml:4:1: a template cannot use the name `user-name`
  names are made of letters, digits and `_`, and do not start with a digit",
    },
    Mistake {
        name: "vars: a word of the language",
        files: &[],
        text: r#"[[step]]
get = "/"
[vars]
not = "ann"
"#,
        says: "scenarios/a/scenario.toml:4:1: the name `not` is a word of the template language",
    },
    Mistake {
        name: "vars: an undefined name",
        files: &[],
        text: r#"[vars]
prompt = "ask {{ usr }}"
user = "ann"
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:2:18: `usr` is not defined here
  did you mean `user`?
  defined here: `fixture`, `model`, `port`, `prompt`, `root`, `run`, `secret`, `tools`, `turn`, `user`, `workdir`",
    },
    Mistake {
        name: "vars: a circle",
        files: &[],
        text: r#"[vars]
a = "{{ b }}"
b = "x {{ c }}"
c = ["{{ a }}"]
d = "{{ a }}"
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:2:5: vars that need each other: a → b → c → a",
    },
    Mistake {
        name: "vars: a circle of one",
        files: &[],
        text: r#"[vars]
a = "{{ a }}"
[[step]]
get = "/"
"#,
        says: "scenarios/a/scenario.toml:2:5: vars that need each other: a → a",
    },
    Mistake {
        name: "vars: a captured name",
        files: &[],
        text: r#"[vars]
a = "{{ id }}"
[[step]]
get = "/"
capture = { id = "json:/id" }
"#,
        says: r"scenarios/a/scenario.toml:2:9: `id` is not defined here
  step 1 captures it, for the steps after that one",
    },
    Mistake {
        name: "template: open braces",
        files: &[],
        text: r#"[[step]]
get = "/{{ run"
"#,
        says: "scenarios/a/scenario.toml:2:7: this is no template: unexpected end of input, expected end of variable block",
    },
    Mistake {
        name: "template: no expression",
        files: &[],
        text: r#"[[step]]
get = "/{{ }}"
"#,
        says: "scenarios/a/scenario.toml:2:7: this is no template: unexpected end of variable block",
    },
    Mistake {
        name: "template: an unknown tag",
        files: &[],
        text: r#"[[step]]
get = "/{% include 'x' %}"
"#,
        says: "scenarios/a/scenario.toml:2:7: this is no template: unknown statement include",
    },
    Mistake {
        name: "template: an undefined name",
        files: &[],
        text: r#"[vars]
prompt = "hi"
[[step]]
post = "/"
json = { input = { messages = [{ content = "say: {{ promt }}" }] } }
"#,
        says: r"scenarios/a/scenario.toml:5:53: `promt` is not defined here
  did you mean `prompt`?
  defined here: `fixture`, `model`, `port`, `prompt`, `root`, `run`, `secret`, `tools`, `turn`, `workdir`",
    },
    Mistake {
        name: "template: undefined on a later line",
        files: &[],
        text: r#"[[step]]
post = "/"
[step.json]
text = """
one
two {{ prompt }}
"""
"#,
        says: r"scenarios/a/scenario.toml:6:8: `prompt` is not defined here
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `tools`, `turn`, `workdir`",
    },
    Mistake {
        name: "template: a capture of a later step",
        files: &[],
        text: r#"[[step]]
get = "/{{ thread }}"
[[step]]
get = "/"
capture = { thread = "json:/id" }
"#,
        says: r"scenarios/a/scenario.toml:2:12: `thread` is not defined here
  step 2 captures it, for the steps after that one",
    },
    Mistake {
        name: "template: a capture of the step itself",
        files: &[],
        text: r#"[[step]]
get = "/{{ thread }}"
capture = { thread = "json:/id" }
"#,
        says: r"scenarios/a/scenario.toml:2:12: `thread` is not defined here
  step 1 captures it, for the steps after that one",
    },
    Mistake {
        name: "template: a model that is none",
        files: &[],
        text: r#"[[step]]
get = "/{{ model.opnai }}"
"#,
        says: r"scenarios/a/scenario.toml:2:12: `model` has no `opnai`
  did you mean `openai`?
  it has `url`, `openai`, `anthropic`, `gemini`, `ollama`, `key`",
    },
    Mistake {
        name: "template: a fixture value that is none",
        files: &[],
        text: r#"[[step]]
get = "/{{ fixture.promt }}"
"#,
        says: r"scenarios/a/scenario.toml:2:12: `fixture` has no `promt`
  did you mean `prompt`?
  it has `prompt`, `context`",
    },
    Mistake {
        name: "template: a secret without a name",
        files: &[],
        text: r#"[[step]]
get = "/{{ secret }}"
"#,
        says: r"scenarios/a/scenario.toml:2:12: `secret` stands for no value by itself
  name the environment variable: {{ secret.NAME }}",
    },
    Mistake {
        name: "secrets: no name",
        files: &[],
        text: r#"secrets = ["MY TOKEN"]
[[step]]
get = "/"
"#,
        says: r"scenarios/a/scenario.toml:1:12: `MY TOKEN` cannot be the name of an environment variable
  names are made of letters, digits and `_`, and do not start with a digit",
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
  leave the field out; a body with null in it is written in a file of its own: json_file = "body.json""#,
    },
    Mistake {
        name: "None for a text",
        files: &[],
        text: "system = None\n[[step]]\nget = \"/\"\n",
        says: r#"scenarios/a/scenario.toml:1:10: TOML has no `None`
  leave the field out; a body with null in it is written in a file of its own: json_file = "body.json""#,
    },
    Mistake {
        name: "a level that is no word",
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
        name: "a detail that is no word",
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
    Mistake {
        name: "a method in capitals",
        files: &[],
        text: "[[step]]\nGET = \"/\"\n",
        says: r"scenarios/a/scenario.toml:2:1: unknown field `GET`
  did you mean `get`?
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `golden`",
    },
    Mistake {
        name: "a name that would colour the terminal",
        files: &[],
        text: "\"\\u001b[31mred\\u202e\" = 1\n[[step]]\nget = \"/\"\n",
        says: r"scenarios/a/scenario.toml:1:1: unknown field `\u{1b}[31mred\u{202e}`
  known here: `description`, `system`, `fixture`, `timeout`, `settle`, `unused`, `drift`, `delays`, `secrets`, `record`, `vars`, `step`, `golden`, `case`",
    },
    Mistake {
        name: "cases as a list",
        files: &[],
        text: "[[step]]\nget = \"/\"\n[[case]]\nname = \"a\"\n",
        says: r"scenarios/a/scenario.toml:3:1: expected a table, found a list
  a table is written with one bracket: `[name]`",
    },
    Mistake {
        name: "capture: a form in capitals",
        files: &[],
        text: "[[step]]\nget = \"/\"\ncapture = { id = \"JSON:/id\" }\n",
        says: r"scenarios/a/scenario.toml:3:18: `JSON:` is no place to capture from
  did you mean `json:`?
  write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`",
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
        says: "scenarios/a/scenario.toml:2:7: the path holds '\\n'",
    },
    Mistake {
        name: "template: an unknown filter",
        files: &[],
        text: "[[step]]\nget = \"/{{ run | uper }}\"\n",
        says: r"scenarios/a/scenario.toml:2:18: there is no filter `uper`
  did you mean `upper`?",
    },
    Mistake {
        name: "template: an unknown test",
        files: &[],
        text: "[[step]]\nget = \"/{{ run is strng }}\"\n",
        says: r"scenarios/a/scenario.toml:2:19: there is no test `strng`
  did you mean `string`?",
    },
    Mistake {
        name: "fixture: a path",
        files: &[],
        text: r#"fixture = "fixtures/write.json"
[[step]]
get = "/"
"#,
        says: r#"scenarios/a/scenario.toml:1:11: `fixtures/write.json` cannot be the name of a fixture
  without folder and ending: fixture = "write""#,
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
        says: "scenarios/a/scenario.toml:3:7: a case holds no cases of its own",
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
  known here: `description`, `system`, `fixture`, `timeout`, `settle`, `unused`, `drift`, `delays`, `secrets`, `record`, `vars`, `step`, `golden`, `case`",
    },
    Mistake {
        name: "case: none",
        files: &[],
        text: r#"[[step]]
get = "/"
[case]
"#,
        says: "scenarios/a/scenario.toml: `case` holds no case",
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
        name: "a field of the scenario behind a step",
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
