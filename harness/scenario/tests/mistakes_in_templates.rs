//! The errors for mistakes in templates, vars, captures and secrets of `scenario.toml`.

use super::{Mistake, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/a/scenario.toml", text)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
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
        says: r"scenarios/a/scenario.toml:3:18: `cokie:` is not a place to capture from
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
  reserved: `run`, `port`, `workdir`, `root`, `model`, `secret`, `systems`, `tools`, `turn`, `fixture`",
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
        says: r"scenarios/a/scenario.toml:3:13: `id` is already a var
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
  reserved: `run`, `port`, `workdir`, `root`, `model`, `secret`, `systems`, `tools`, `turn`, `fixture`",
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
  defined here: `fixture`, `model`, `port`, `prompt`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `user`, `workdir`",
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
        says: "scenarios/a/scenario.toml:2:7: this is not a template: unexpected end of input, expected end of variable block",
    },
    Mistake {
        name: "template: no expression",
        files: &[],
        text: r#"[[step]]
get = "/{{ }}"
"#,
        says: "scenarios/a/scenario.toml:2:7: this is not a template: unexpected end of variable block",
    },
    Mistake {
        name: "template: an unknown tag",
        files: &[],
        text: r#"[[step]]
get = "/{% include 'x' %}"
"#,
        says: r"scenarios/a/scenario.toml:2:7: templates have no `{% include %}`
  they have `if`, `for` and `raw`; to name a value, add it to [vars]",
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
  defined here: `fixture`, `model`, `port`, `prompt`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `workdir`",
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
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `workdir`",
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
        name: "template: an unknown attribute of model",
        files: &[],
        text: r#"[[step]]
get = "/{{ model.opnai }}"
"#,
        says: r"scenarios/a/scenario.toml:2:12: `model` has no `opnai`
  did you mean `openai`?
  it has `url`, `openai`, `anthropic`, `gemini`, `ollama`, `key`",
    },
    Mistake {
        name: "template: an unknown attribute of fixture",
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
        says: r"scenarios/a/scenario.toml:2:12: `secret` alone has no value
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
        name: "capture: a form in capitals",
        files: &[],
        text: "[[step]]\nget = \"/\"\ncapture = { id = \"JSON:/id\" }\n",
        says: r"scenarios/a/scenario.toml:3:18: `JSON:` is not a place to capture from
  did you mean `json:`?
  write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`",
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
];
