//! The errors for mistakes in the less common kinds of steps.

use super::{Mistake, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/a/scenario.toml", text)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "two kinds",
        files: &[],
        text: r#"[[step]]
get = "/"
run = ["agent"]
"#,
        says: r"scenarios/a/scenario.toml:3:7: this step has 2 kinds: `get`, `run`
  a step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `run`, `browser`, `together`",
    },
    Mistake {
        name: "listen without slash",
        files: &[],
        text: r#"[[step]]
listen = "events"
"#,
        says: r"scenarios/a/scenario.toml:2:10: the path `events` does not start with `/`
  retake puts the system's address before it: write only the path",
    },
    Mistake {
        name: "listen with a body",
        files: &[],
        text: r#"[[step]]
listen = "/"
json = {}
"#,
        says: "scenarios/a/scenario.toml:3:8: `json` belongs to a request that sends something, and `listen` does not",
    },
    Mistake {
        name: "listen that is cancelled",
        files: &[],
        text: r#"[[step]]
listen = "/"
cancel = { after = "x" }
"#,
        says: "scenarios/a/scenario.toml:3:10: `cancel` belongs to a step that waits for its answer, and `listen` does not",
    },
    Mistake {
        name: "listen with a capture of its events",
        files: &[],
        text: r#"[[step]]
listen = "/"
capture = { a = "sse:x:/id" }
"#,
        says: "scenarios/a/scenario.toml:3:17: the events of `listen` come while later steps run, so none can be captured here",
    },
    Mistake {
        name: "listen kept out of the golden",
        files: &[],
        text: r#"[[step]]
listen = "/"
golden = false
"#,
        says: "scenarios/a/scenario.toml:3:10: a stream always goes into the golden",
    },
    Mistake {
        name: "run as text",
        files: &[],
        text: r#"[[step]]
run = "agent exec"
"#,
        says: r#"scenarios/a/scenario.toml:2:7: expected a list, found string "agent exec"
  a list is written in brackets: `[…]`"#,
    },
    Mistake {
        name: "run of nothing",
        files: &[],
        text: r"[[step]]
run = []
",
        says: "scenarios/a/scenario.toml:2:7: the command names no program",
    },
    Mistake {
        name: "run with a header",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
headers = { A = "b" }
"#,
        says: "scenarios/a/scenario.toml:3:11: `headers` belongs to a request, and this step runs a command",
    },
    Mistake {
        name: "run with a status",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
status = 0
"#,
        says: "scenarios/a/scenario.toml:3:10: 0 is not an HTTP status: expected 100 to 599",
    },
    Mistake {
        name: "run with a form",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
form = { a = 1 }
"#,
        says: "scenarios/a/scenario.toml:3:8: `form` belongs to a request, and this step runs a command",
    },
    Mistake {
        name: "run in a folder that is not there",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
cwd = "agnet"
"#,
        says: "scenarios/a/scenario.toml:3:7: there is no folder `agnet`",
    },
    Mistake {
        name: "run with a wrong name of a variable",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
env = { "A=B" = "c" }
"#,
        says: "scenarios/a/scenario.toml:3:9: `A=B` is not the name of an environment variable",
    },
    Mistake {
        name: "run with an undefined name",
        files: &[],
        text: r#"[[step]]
run = ["agent", "{{ thred }}"]
"#,
        says: r"scenarios/a/scenario.toml:2:21: `thred` is not defined here
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `workdir`",
    },
    Mistake {
        name: "run with an exit code as text",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
exit = "0"
"#,
        says: r#"scenarios/a/scenario.toml:3:8: expected a whole number, found string "0""#,
    },
    Mistake {
        name: "run with a capture of a header",
        files: &[],
        text: r#"[[step]]
run = ["agent"]
capture = { a = "header:b" }
"#,
        says: r"scenarios/a/scenario.toml:3:17: a command answers without headers
  read an event of its output with `sse:EVENT:/pointer`",
    },
    Mistake {
        name: "env of a request",
        files: &[],
        text: r#"[[step]]
get = "/"
env = { A = "b" }
"#,
        says: "scenarios/a/scenario.toml:3:7: `env` belongs to a step with `run`",
    },
    Mistake {
        name: "cancel without after",
        files: &[],
        text: r#"[[step]]
get = "/"
cancel = {}
"#,
        says: "scenarios/a/scenario.toml:3:10: missing field `after`",
    },
    Mistake {
        name: "cancel after nothing",
        files: &[],
        text: r#"[[step]]
get = "/"
cancel = { after = "" }
"#,
        says: "scenarios/a/scenario.toml:3:20: the event's name is empty",
    },
    Mistake {
        name: "cancel and last",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = { last = "a" }
cancel = { after = "b" }
"#,
        says: r"scenarios/a/scenario.toml:4:10: a stream has either `last` or `cancel`, this one has both
  with `last` the stream is over, with `cancel` the client leaves midway",
    },
    Mistake {
        name: "reconnect to nothing",
        files: &[],
        text: r#"[[step]]
get = "/"
reconnect = true
"#,
        says: r"scenarios/a/scenario.toml:3:13: there is no stream before this step to come back to
  `reconnect` sends the id of the last event of the latest stream before it",
    },
    Mistake {
        name: "reconnect with an id of its own",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = true
[[step]]
get = "/"
reconnect = true
headers = { last-event-id = "1" }
"#,
        says: "scenarios/a/scenario.toml:6:13: the header `Last-Event-ID` is given, and `reconnect` sends its own",
    },
    Mistake {
        name: "wait of a post",
        files: &[],
        text: r#"[[step]]
post = "/"
wait = { json = "/a", is = 1 }
"#,
        says: "scenarios/a/scenario.toml:3:8: `wait` asks again and again, so it belongs to a `get`",
    },
    Mistake {
        name: "wait for nothing",
        files: &[],
        text: r#"[[step]]
get = "/"
wait = { json = "/a" }
"#,
        says: "scenarios/a/scenario.toml:3:8: missing field `is`",
    },
    Mistake {
        name: "wait with a wrong pointer",
        files: &[],
        text: r#"[[step]]
get = "/"
wait = { json = "a", is = 1 }
"#,
        says: "scenarios/a/scenario.toml:3:17: the pointer `a` does not start with `/`",
    },
    Mistake {
        name: "wait in a stream",
        files: &[],
        text: r#"[[step]]
get = "/"
stream = true
wait = { json = "/a", is = 1 }
"#,
        says: "scenarios/a/scenario.toml:4:8: `wait` reads a JSON body, and this step has a stream",
    },
    Mistake {
        name: "form and json",
        files: &[],
        text: r#"[[step]]
post = "/"
json = {}
form = {}
"#,
        says: "scenarios/a/scenario.toml:4:8: a step has either `json` or `form`, this one has both",
    },
    Mistake {
        name: "form that is nested",
        files: &[],
        text: r#"[[step]]
post = "/"
form = { a = { b = 1 } }
"#,
        says: r"scenarios/a/scenario.toml:3:14: the field `a` is nested
  expected a table of fields, each with a value or a list of values",
    },
    Mistake {
        name: "form as a list",
        files: &[],
        text: r#"[[step]]
post = "/"
form = ["a"]
"#,
        says: "scenarios/a/scenario.toml:3:8: expected a table of fields, each with a value or a list of values",
    },
    Mistake {
        name: "form with an undefined name",
        files: &[],
        text: r#"[[step]]
post = "/"
form = { a = "{{ b }}" }
"#,
        says: r"scenarios/a/scenario.toml:3:18: `b` is not defined here
  defined here: `fixture`, `model`, `port`, `root`, `run`, `secret`, `systems`, `tools`, `turn`, `workdir`",
    },
    Mistake {
        name: "files and json",
        files: &[],
        text: r#"[[step]]
post = "/"
json = {}
files = { a = "b" }
"#,
        says: r"scenarios/a/scenario.toml:4:9: a step has either `json` or `files`, this one has both
  write fields that go with files as `form`",
    },
    Mistake {
        name: "a file that is not there",
        files: &[],
        text: r#"[[step]]
post = "/"
files = { a = "scenario.tml" }
"#,
        says: r"scenarios/a/scenario.toml:3:15: there is no file `scenario.tml` in scenarios/a
  did you mean `scenario.toml`?",
    },
    Mistake {
        name: "a file outside",
        files: &[],
        text: r#"[[step]]
post = "/"
files = { a = "../b" }
"#,
        says: r"scenarios/a/scenario.toml:3:15: `../b` is not in the scenario's folder
  files that several scenarios share are in ../_shared/",
    },
    Mistake {
        name: "no file",
        files: &[],
        text: r#"[[step]]
post = "/"
files = {}
"#,
        says: "scenarios/a/scenario.toml:3:9: the table of files is empty",
    },
    Mistake {
        name: "together with nothing",
        files: &[],
        text: r"[[step]]
together = []
",
        says: "scenarios/a/scenario.toml:2:12: `together` contains no step",
    },
    Mistake {
        name: "together with a status",
        files: &[],
        text: r#"[[step]]
together = [{ get = "/" }]
status = 200
"#,
        says: "scenarios/a/scenario.toml:3:10: `status` belongs to one of the steps in `together`",
    },
    Mistake {
        name: "together within together",
        files: &[],
        text: r#"[[step]]
together = [{ together = [{ get = "/" }] }]
"#,
        says: "scenarios/a/scenario.toml:2:26: `together` cannot stand in `together`: put it into a step of its own",
    },
    Mistake {
        name: "listen within together",
        files: &[],
        text: r#"[[step]]
together = [{ listen = "/" }]
"#,
        says: "scenarios/a/scenario.toml:2:24: `listen` cannot stand in `together`: put it into a step of its own",
    },
    Mistake {
        name: "a capture of both",
        files: &[],
        text: r#"[[step]]
together = [{ get = "/", capture = { a = "json:" } }, { get = "/", capture = { a = "json:" } }]
"#,
        says: "scenarios/a/scenario.toml:2:80: another step of `together` captures `a` too",
    },
    Mistake {
        name: "a capture of another step in together",
        files: &[],
        text: r#"[[step]]
together = [{ get = "/", capture = { a = "json:" } }, { get = "/{{ a }}" }]
"#,
        says: r"scenarios/a/scenario.toml:2:68: `a` is not defined here
  step 1 captures it, for the steps after that one",
    },
    Mistake {
        name: "an unknown field within together",
        files: &[],
        text: r#"[[step]]
together = [{ get = "/", jsn = {} }]
"#,
        says: r"scenarios/a/scenario.toml:2:26: unknown field `jsn`
  did you mean `json`?
  known here: `name`, `get`, `post`, `put`, `patch`, `delete`, `listen`, `socket`, `send`, `last`, `framing`, `connect`, `event`, `run`, `browser`, `together`, `headers`, `json`, `json_file`, `form`, `files`, `cwd`, `env`, `exit`, `status`, `capture`, `stream`, `cancel`, `reconnect`, `wait`, `await`, `golden`, `do`, `storage`, `viewport`, `colors`, `dialogs`, `traffic`",
    },
    Mistake {
        name: "send without a socket",
        files: &[],
        text: r#"[[step]]
send = "hi"
"#,
        says: "scenarios/a/scenario.toml:2:8: there is no open socket before this step to send this to\n  a step with `socket = \"/path\"` opens one",
    },
    Mistake {
        name: "a field of sockets at a request",
        files: &[],
        text: r#"[[step]]
get = "/"
last = "end"
"#,
        says: "scenarios/a/scenario.toml:3:8: `last` belongs to a step with `socket`",
    },
    Mistake {
        name: "a field of requests at a socket",
        files: &[],
        text: r#"[[step]]
socket = "/ws"
json = {}
"#,
        says: "scenarios/a/scenario.toml:3:8: `json` belongs to a request or a command, and this step talks over a WebSocket",
    },
    Mistake {
        name: "an unknown framing",
        files: &[],
        text: r#"[[step]]
socket = "/ws"
framing = "socketio"
"#,
        says: "scenarios/a/scenario.toml:3:11: `socketio` is not one of `plain`, `socket.io`, `graphql-ws`\n  did you mean `socket.io`?",
    },
    Mistake {
        name: "connect without a framing",
        files: &[],
        text: r#"[[step]]
socket = "/ws"
connect = { token = "x" }
"#,
        says: r"scenarios/a/scenario.toml:3:11: `connect` belongs to a socket with a `framing`
  write what a plain socket expects first as the first message of `send`",
    },
];
