//! The errors for mistakes in `suite.toml`.

use super::{Mistake, STEP, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/suite.toml", text), ("scenarios/a/scenario.toml", STEP)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "unknown field",
        files: &[],
        text: r#"[[caller]]
name = "x"
"#,
        says: r"scenarios/suite.toml:1:3: unknown field `caller`
  did you mean `callers`?
  known here: `system`, `systems`, `steps`, `before`, `tools`, `callers`, `normalize`, `aliases`, `unused`, `drift`, `settle`, `linger`, `panics`, `secrets`, `suspects`, `retries`, `timeout`, `delays`, `fork`, `verify`, `prices`, `worlds`, `error_words`, `golden`",
    },
    Mistake {
        name: "a field of scenarios",
        files: &[],
        text: r#"[vars]
prompt = "hello"
"#,
        says: r"scenarios/suite.toml:1:2: unknown field `vars`
  known here: `system`, `systems`, `steps`, `before`, `tools`, `callers`, `normalize`, `aliases`, `unused`, `drift`, `settle`, `linger`, `panics`, `secrets`, `suspects`, `retries`, `timeout`, `delays`, `fork`, `verify`, `prices`, `worlds`, `error_words`, `golden`",
    },
    Mistake {
        name: "a negative price",
        files: &[],
        text: "[prices.gpt-x]\ninput = 1\noutput = -2\n",
        says: "scenarios/suite.toml:3:10: expected a price: a number that is not negative",
    },
    Mistake {
        name: "tools of a fork by another word",
        files: &[],
        text: "fork = { tools = \"real\" }\n",
        says: "scenarios/suite.toml:1:18: `real` is not one of `recorded`, `live`",
    },
    Mistake {
        name: "shared steps that are not there",
        files: &[],
        text: r#"before = ["logn"]
[[steps.login]]
post = "/login"
"#,
        says: r"scenarios/suite.toml:1:11: suite.toml has no steps with the name `logn`
  did you mean `login`?
  known there: `login`",
    },
    Mistake {
        name: "shared steps named twice",
        files: &[],
        text: r#"before = ["login", "login"]
[[steps.login]]
post = "/login"
"#,
        says: "scenarios/suite.toml:1:20: `before` names `login` twice",
    },
    Mistake {
        name: "a mistake in a shared step, told once and with its place",
        files: &[("scenarios/b/scenario.toml", STEP)],
        text: r#"[[steps.login]]
post = "/login"
get = "/login"
"#,
        says: r"scenarios/suite.toml:2:8: this step has 2 methods: `get`, `post`
  a step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `run`, `browser`, `together`",
    },
    Mistake {
        name: "a shared step that uses what a scenario lacks",
        files: &[],
        text: r#"before = ["ask"]
[[steps.ask]]
post = "/ask"
json = "{{ prompt }}"
"#,
        says: r"scenarios/suite.toml:4:12: `prompt` is not defined here
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `workdir`",
    },
    Mistake {
        name: "no shared step in a list",
        files: &[],
        text: "steps = { login = [] }\n",
        says: "scenarios/suite.toml:1:19: `steps.login` contains no step",
    },
    Mistake {
        name: "a caller without a name",
        files: &[],
        text: r"[[callers]]
when = { tools = false }
",
        says: "scenarios/suite.toml:1:1: missing field `name`",
    },
    Mistake {
        name: "a caller with an empty name",
        files: &[],
        text: r#"[[callers]]
name = ""
when = { tools = false }
"#,
        says: "scenarios/suite.toml:2:8: the caller's name is empty",
    },
    Mistake {
        name: "a caller without a rule",
        files: &[],
        text: r#"[[callers]]
name = "title"
"#,
        says: "scenarios/suite.toml:1:1: missing field `when`",
    },
    Mistake {
        name: "an unknown condition",
        files: &[],
        text: r#"[[callers]]
name = "title"
when = { mesage = "x" }
"#,
        says: r"scenarios/suite.toml:3:10: unknown field `mesage`
  did you mean `message`?
  known here: `header`, `metadata`, `model`, `system`, `message`, `tools`",
    },
    Mistake {
        name: "a rule that hides the next",
        files: &[],
        text: r#"[[callers]]
name = "all"
when = {}
[[callers]]
name = "title"
when = { tools = false }
"#,
        says: r"scenarios/suite.toml:3:8: the rule for `all` matches every call, so no later rule is ever tried
  `when` may hold `header`, `metadata`, `model`, `system`, `message`, `tools`",
    },
    Mistake {
        name: "a pattern with an open group",
        files: &[],
        text: r#"[[callers]]
name = "title"
when = { message = "(a" }
"#,
        says: "scenarios/suite.toml:3:20: `(a` is not a regular expression: unclosed group",
    },
    Mistake {
        name: "tools as a number",
        files: &[],
        text: r#"[[callers]]
name = "title"
when = { tools = 0 }
"#,
        says: "scenarios/suite.toml:3:18: expected true, false or a list of tool names, found integer `0`",
    },
    Mistake {
        name: "no tool in the list",
        files: &[],
        text: r#"[[callers]]
name = "title"
when = { tools = [] }
"#,
        says: r"scenarios/suite.toml:3:18: the list of tools is empty
  `tools = false` matches calls without tools",
    },
    Mistake {
        name: "a header pattern that is wrong",
        files: &[],
        text: r#"[[callers]]
name = "title"
when = { header = { x-a = "*" } }
"#,
        says: "scenarios/suite.toml:3:27: `*` is not a regular expression: repetition operator missing expression",
    },
    Mistake {
        name: "normalize without replace",
        files: &[],
        text: r"[[normalize]]
pattern = 'a'
",
        says: "scenarios/suite.toml:1:1: missing field `replace`",
    },
    Mistake {
        name: "normalize: matches everywhere",
        files: &[],
        text: r"[[normalize]]
pattern = 'a*'
replace = ''
",
        says: "scenarios/suite.toml:2:11: `a*` matches the empty text, so it would match everywhere",
    },
    Mistake {
        name: "normalize: a group that is not there",
        files: &[],
        text: "[[normalize]]\npattern = 'a(b)'\nreplace = '<$2>'\n",
        says: r"scenarios/suite.toml:3:11: `$2` is not a group of `a(b)`, so it would be replaced by nothing
  a group is `${1}` or `${name}`, and `$$` is one dollar sign",
    },
    Mistake {
        name: "normalize: a letter after a group",
        files: &[],
        text: "[[normalize]]\npattern = 'a(b)'\nreplace = '$$$1st'\n",
        says: r"scenarios/suite.toml:3:11: `$1st` is not a group of `a(b)`, so it would be replaced by nothing
  a group is `${1}` or `${name}`, and `$$` is one dollar sign",
    },
    Mistake {
        name: "normalize: look-around",
        files: &[],
        text: "[[normalize]]\npattern = '(?=a)b'\nreplace = ''\n",
        says: "scenarios/suite.toml:2:11: `(?=a)b` is not a regular expression: look-around, including look-ahead and look-behind, is not supported",
    },
    Mistake {
        name: "normalize: too large a pattern",
        files: &[],
        text: "[[normalize]]\npattern = '(a{1000}){1000}{1000}'\nreplace = ''\n",
        says: "scenarios/suite.toml:2:11: `(a{1000}){1000}{1000}` is not a regular expression: Compiled regex exceeds size limit of 10485760 bytes.",
    },
    Mistake {
        name: "an alias of an alias",
        files: &[],
        text: "[aliases]\na = \"b\"\nb = \"a\"\n",
        says: "scenarios/suite.toml:2:5: `a` stands for `b`, which is itself an alias",
    },
    Mistake {
        name: "systems as a list",
        files: &[],
        text: "[[systems]]\ncommand = [\"a\"]\n",
        says: r"scenarios/suite.toml:1:1: expected a table, found a list
  a table is written with one bracket: `[name]`",
    },
    Mistake {
        name: "a template with an unknown filter",
        files: &[],
        text: "[systems.agent]\ncommand = [\"a\", \"{{ port | itn }}\"]\nready = { http = \"/\" }\n",
        says: r"scenarios/suite.toml:2:28: there is no filter `itn`
  did you mean `int`?",
    },
    Mistake {
        name: "normalize: one bracket too few",
        files: &[],
        text: r"[normalize]
pattern = 'a'
replace = ''
",
        says: r"scenarios/suite.toml:1:1: expected a list, found a table
  a list of tables is written with two brackets: `[[name]]`",
    },
    Mistake {
        name: "an alias of nobody",
        files: &[],
        text: r#"[aliases]
title_agent = ""
"#,
        says: "scenarios/suite.toml:2:15: the alias `title_agent` names no caller",
    },
];
