//! The errors for mistakes in the systems of `suite.toml`.

use super::{Mistake, STEP, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/suite.toml", text), ("scenarios/a/scenario.toml", STEP)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "a system of no kind",
        files: &[],
        text: r#"[systems.agent]
cwd = "."
"#,
        says: r"scenarios/suite.toml:1:10: the system `agent` has neither `command` nor `url`
  a router of your own crate is registered in tests/scenarios.rs, not here",
    },
    Mistake {
        name: "a system of both kinds",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
url = "http://localhost:1"
"#,
        says: r"scenarios/suite.toml:3:7: the system `agent` has both `command` and `url`
  either retake starts it, or it is already running",
    },
    Mistake {
        name: "a command as text",
        files: &[],
        text: r#"[systems.agent]
command = "uvicorn app:app"
"#,
        says: r#"scenarios/suite.toml:2:11: expected a list, found string "uvicorn app:app"
  a list is written in brackets: `[…]`"#,
    },
    Mistake {
        name: "no program",
        files: &[],
        text: r#"[systems.agent]
command = []
ready = { http = "/" }
"#,
        says: "scenarios/suite.toml:2:11: the command names no program",
    },
    Mistake {
        name: "a command without ready",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
"#,
        says: r#"scenarios/suite.toml:1:10: the system `agent` lacks `ready`
  write ready = { http = "/health" }, ready = { line = "regex of a log line" }, or ready = { port = true }"#,
    },
    Mistake {
        name: "ready in no way",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { timeout = "1s" }
"#,
        says: "scenarios/suite.toml:3:9: `ready` has exactly one of `http`, `line` and `port`",
    },
    Mistake {
        name: "ready in two ways",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { http = "/", line = "up" }
"#,
        says: "scenarios/suite.toml:3:9: `ready` has exactly one of `http`, `line` and `port`",
    },
    Mistake {
        name: "ready by a port that says no",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { port = false }
"#,
        says: "scenarios/suite.toml:3:18: `port = false` has no effect: say with `http` or `line` when the system is ready",
    },
    Mistake {
        name: "ready without slash",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { http = "health" }
"#,
        says: "scenarios/suite.toml:3:18: the path `health` does not start with `/`",
    },
    Mistake {
        name: "an env of a number",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { http = "/" }
env = { PORT = 80 }
"#,
        says: "scenarios/suite.toml:4:16: expected a string, found integer `80`",
    },
    Mistake {
        name: "an env name with =",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { http = "/" }
env = { "A=B" = "" }
"#,
        says: "scenarios/suite.toml:4:9: `A=B` is not the name of an environment variable",
    },
    Mistake {
        name: "an undefined name",
        files: &[],
        text: r#"[systems.agent]
command = ["a", "--port", "{{ prt }}"]
ready = { http = "/" }
"#,
        says: r"scenarios/suite.toml:2:31: `prt` is not defined here
  did you mean `port`?
  defined here: `model`, `port`, `root`, `run`, `secret`, `tools`, `workdir`",
    },
    Mistake {
        name: "a name that systems do not have",
        files: &[],
        text: r#"[systems.agent]
command = ["a", "{{ fixture.prompt }}"]
ready = { http = "/" }
"#,
        says: r"scenarios/suite.toml:2:21: `fixture` is not defined here
  a system's configuration cannot use it",
    },
    Mistake {
        name: "a folder that is not there",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
cwd = "services/agent"
ready = { http = "/" }
"#,
        says: "scenarios/suite.toml:3:7: there is no folder `services/agent`",
    },
    Mistake {
        name: "model of a command",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
ready = { http = "/" }
model = { addr = "127.0.0.1:1", key_env = "K" }
"#,
        says: r"scenarios/suite.toml:4:9: `model` belongs to a system with a `url`
  a command gets the model's address from its env: `{{ model.openai }}`",
    },
    Mistake {
        name: "no url",
        files: &[],
        text: r#"[systems.agent]
url = "localhost"
model = { addr = "127.0.0.1:1", key_env = "K" }
"#,
        says: "scenarios/suite.toml:2:7: `localhost` is not a URL: relative URL without a base",
    },
    Mistake {
        name: "another scheme",
        files: &[],
        text: r#"[systems.agent]
url = "ws://localhost:1"
model = { addr = "127.0.0.1:1", key_env = "K" }
"#,
        says: "scenarios/suite.toml:2:7: `ws://localhost:1` starts with `ws:`, expected `http:` or `https:`",
    },
    Mistake {
        name: "another machine",
        files: &[],
        text: r#"[systems.agent]
url = "http://example.com"
model = { addr = "127.0.0.1:1", key_env = "K" }
"#,
        says: r"scenarios/suite.toml:2:7: `http://example.com` is not on this machine
  replay opens no socket beyond loopback: expected localhost, 127.0.0.1 or [::1]",
    },
    Mistake {
        name: "a url without model",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
"#,
        says: r#"scenarios/suite.toml:1:10: the system `agent` lacks `model`
  write model = { addr = "127.0.0.1:PORT", key_env = "NAME" }"#,
    },
    Mistake {
        name: "a url with env",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
env = { A = "b" }
"#,
        says: "scenarios/suite.toml:3:7: `env` belongs to a system with a `command`",
    },
    Mistake {
        name: "no address",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
model = { addr = "localhost", key_env = "K" }
"#,
        says: r#"scenarios/suite.toml:3:18: `localhost` is not an address: expected "127.0.0.1:PORT""#,
    },
    Mistake {
        name: "an address of another machine",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
model = { addr = "10.0.0.1:80", key_env = "K" }
"#,
        says: r"scenarios/suite.toml:3:18: `10.0.0.1:80` is not on this machine
  replay opens no socket beyond loopback: expected localhost, 127.0.0.1 or [::1]",
    },
    Mistake {
        name: "a port of zero",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
model = { addr = "127.0.0.1:0", key_env = "K" }
"#,
        says: "scenarios/suite.toml:3:18: port 0 is a different port each time, and the system has to know it",
    },
    Mistake {
        name: "no key",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
model = { addr = "127.0.0.1:80" }
"#,
        says: "scenarios/suite.toml:3:9: missing field `key_env`",
    },
    Mistake {
        name: "no name for the key",
        files: &[],
        text: r#"[systems.agent]
url = "http://localhost:1"
model = { addr = "127.0.0.1:80", key_env = "" }
"#,
        says: r"scenarios/suite.toml:3:44: `` cannot be the name of an environment variable
  names are made of letters, digits and `_`, and do not start with a digit",
    },
    Mistake {
        name: "needs: not there",
        files: &[],
        text: r#"[systems.front]
command = ["front"]
ready = { http = "/" }
needs = ["bakend"]
[systems.backend]
command = ["backend"]
ready = { http = "/" }
"#,
        says: "scenarios/suite.toml:4:10: there is no system `bakend` in this file
  did you mean `backend`?",
    },
    Mistake {
        name: "needs: each other",
        files: &[],
        text: r#"[systems.a]
command = ["a"]
ready = { http = "/" }
needs = ["b"]
[systems.b]
command = ["b"]
ready = { http = "/" }
needs = ["a"]
"#,
        says: "scenarios/suite.toml:4:10: `a` and `b` need each other",
    },
    Mistake {
        name: "needs: a shared one",
        files: &[],
        text: r#"[systems.a]
command = ["a"]
ready = { http = "/" }
needs = ["b"]
[systems.b]
command = ["b"]
ready = { http = "/" }
shared = true
"#,
        says: "scenarios/suite.toml:4:10: `b` is not started for each scenario, so no system can need it
  leave out `shared`, or write its address down",
    },
    Mistake {
        name: "systems: one that is not needed",
        files: &[],
        text: r#"[systems.a]
command = ["a", "{{ systems.b }}"]
ready = { http = "/" }
"#,
        says: r#"scenarios/suite.toml:2:21: `systems` is not defined here
  name the systems that this one needs: needs = ["NAME"]"#,
    },
    Mistake {
        name: "a system that extends an unknown one",
        files: &[],
        text: r#"[systems.agent]
extends = "bse"

[systems.base]
command = ["a"]
ready = { line = "up" }
"#,
        says: r"scenarios/suite.toml:2:11: there is no system `bse` in this file
  did you mean `base`?",
    },
    Mistake {
        name: "systems that extend each other",
        files: &[],
        text: r#"[systems.agent]
extends = "base"

[systems.base]
extends = "other"

[systems.other]
extends = "base"
"#,
        says: r"scenarios/suite.toml:8:11: the system `base` extends itself
  agent extends base extends other extends base",
    },
    Mistake {
        name: "a command that becomes a URL",
        files: &[],
        text: r#"[systems.agent]
extends = "base"
url = "http://127.0.0.1:8000"

[systems.base]
command = ["a"]
ready = { line = "up" }
"#,
        says: r"scenarios/suite.toml:3:7: the system `agent` has both `command` and `url`
  either retake starts it, or it is already running
  what it does not set is taken from `base`",
    },
    Mistake {
        name: "a copy of no folder",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
cwd_copy = true
ready = { line = "up" }
"#,
        says: r#"scenarios/suite.toml:3:12: `cwd_copy` needs `cwd`: the folder that is copied
  write cwd = "the/service", or cwd = "." for the whole project"#,
    },
    Mistake {
        name: "a copy of a folder of the stage",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
cwd = "{{ workdir }}"
cwd_copy = true
ready = { line = "up" }
"#,
        says: "scenarios/suite.toml:4:12: `cwd_copy` copies a folder of the project, but this `cwd` belongs to the run",
    },
    Mistake {
        name: "a file outside the work folder",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
files = { "../config.yaml" = "config.yaml" }
ready = { line = "up" }
"#,
        says: r#"scenarios/suite.toml:3:11: `../config.yaml` is not in the work folder
  write its path relative to that folder: "config/agent.yaml""#,
    },
    Mistake {
        name: "a file rendered from nothing",
        files: &[],
        text: r#"[systems.agent]
command = ["a"]
files = { "config.yaml" = "config.yaml" }
ready = { line = "up" }
"#,
        says: r"config.yaml: no such file
  named by scenarios/suite.toml:3:27",
    },
    Mistake {
        name: "a name that a rendered file lacks",
        files: &[("config.yaml", "port: {{ port }}\nuser: {{ user }}\n")],
        text: r#"[systems.agent]
command = ["a"]
files = { "config.yaml" = "config.yaml" }
ready = { line = "up" }
"#,
        says: r"config.yaml:2:10: `user` is not defined here
  defined here: `model`, `port`, `root`, `run`, `secret`, `tools`, `workdir`",
    },
    Mistake {
        name: "files of a system that runs already",
        files: &[],
        text: r#"[systems.agent]
url = "http://127.0.0.1:8000"
files = { "config.yaml" = "config.yaml" }
"#,
        says: "scenarios/suite.toml:3:9: `files` belongs to a system with a `command`",
    },
];
