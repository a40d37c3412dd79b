//! Correct files, and the values that they are read into.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::super::source::Source;
use super::super::*;
use super::{STEP, only, read};
use retake_core::events::{Detail, ShapeOptions};
use retake_core::json::{Json, Layout};
use retake_core::key::Check;
use retake_model::OfferedTools;

const WHOLE: &str = r#"
description = "Writes a note, reads it back, answers"
system  = "gateway"
fixture = "write_read_file"
timeout = "60s"
secrets = ["LISTED"]
record = { errors = true, timeout = "15m" }

[vars]
greeting = "{{ prompt }}, {{ user.name }}"
prompt = "Create note.txt for {{ run }}"
user = { name = "ann", tags = ["{{ count }}", 2] }
count = 3

[[step]]
post    = "/api/auth/register"
json    = { email = "{{ run }}@example.com", "{{ run }}" = { n = "{{ count }}" } }
status  = 201
capture = { csrf = "cookie:csrf_token", thread = "json:/thread/-1/id", all = "json:" }

[[step]]
name    = "run"
post    = "/api/threads/{{ thread }}/runs/stream"
headers = { "X-CSRF-Token" = "{{ csrf }}", Authorization = "Bearer {{ secret.TOKEN }}" }
json    = { input = { messages = [{ role = "user", content = "{{ greeting }}" }] } }
stream  = { first = "metadata", last = "end" }
capture = { id = "sse:on:chat:/0/id", etag = "header:ETag", event = "sse:values:" }

[[step]]
get = "/api/threads/{{ thread }}?after={{ id }}"
status = [200, 304]
golden = true

[golden]
detail   = "values"
show     = ["/messages/-1/content"]
collapse = ["messages"]
unordered = ["tool_result"]
"#;

fn stage() -> Context {
    let mut context = Context::new();
    context.insert("run", "r1");
    context.insert("secret", Json::object([("TOKEN", Json::from("s"))]));
    context
}

fn body(step: &Step, context: &Context) -> String {
    match request(step).body.render(context).unwrap() {
        RenderedBody::Json(json) => json.print(Layout::Compact),
        other => panic!("{other:?}"),
    }
}

fn request(step: &Step) -> &Request {
    match &step.action {
        Action::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_whole_scenario() {
    let scenario = only(WHOLE);
    assert_eq!(scenario.name, "a");
    assert_eq!(scenario.golden_name, "a");
    assert_eq!(scenario.fixture, FixtureRef::Named("write_read_file".to_owned()));
    assert_eq!(scenario.file, Path::new("scenarios/a/scenario.toml"));
    assert_eq!(scenario.dir, Path::new("scenarios/a"));
    assert_eq!(scenario.options.secrets, ["LISTED"]);
    assert_eq!(scenario.used.secrets.iter().collect::<Vec<_>>(), ["TOKEN"]);
    assert!(scenario.record_errors);
    assert_eq!(scenario.record_timeout, Some(Duration::from_secs(900)));
    assert_eq!(scenario.golden.detail, Detail::Values);
    assert_eq!(scenario.golden.show, ["/messages/-1/content"]);
    assert_eq!(scenario.golden.unordered, ["tool_result"]);
    let [register, run, get] = &scenario.steps[..] else { panic!() };

    let mut context = scenario.resolve_vars(&stage()).unwrap();
    assert_eq!(context.get("greeting"), Some(&Json::from("Create note.txt for r1, ann")));
    assert_eq!(context.get("user").unwrap().print(Layout::Compact), r#"{"name":"ann","tags":[3,2]}"#);

    assert_eq!((request(register).method.as_str(), register.place.line), ("POST", 15));
    assert_eq!(body(register, &context), r#"{"email":"r1@example.com","r1":{"n":3}}"#);
    assert_eq!(request(register).status.as_deref(), Some(&[201][..]));
    assert_eq!(register.capture["csrf"], CaptureFrom::Cookie("csrf_token".to_owned()));
    assert_eq!(register.capture["all"], CaptureFrom::Json(Pointer::parse("").unwrap()));
    assert!(!register.golden);

    context.insert("csrf", "c");
    context.insert("thread", "t");
    assert_eq!(run.name.as_deref(), Some("run"));
    assert_eq!(request(run).path.render_text(&context).unwrap(), "/api/threads/t/runs/stream");
    let headers =
        request(run).headers.iter().map(|(name, value)| (name.as_str(), value.render_text(&context).unwrap()));
    assert_eq!(
        headers.collect::<Vec<_>>(),
        [("Authorization", "Bearer s".to_owned()), ("X-CSRF-Token", "c".to_owned())]
    );
    let ends = StreamSpec { first: Some("metadata".to_owned()), last: Some(EventSpec::named("end")), cancel: false };
    assert_eq!(request(run).answer, AnswerAs::Stream(ends));
    assert!(run.golden);
    let chat = CaptureFrom::Sse { event: "on:chat".to_owned(), pointer: Pointer::parse("/0/id").unwrap() };
    assert_eq!(run.capture["id"], chat);
    let values = CaptureFrom::Sse { event: "values".to_owned(), pointer: Pointer::parse("").unwrap() };
    assert_eq!(run.capture["event"], values);

    assert_eq!((request(get).method, get.golden, &request(get).body), (Method::Get, true, &StepBody::None));
    assert_eq!(request(get).status.as_deref(), Some(&[200, 304][..]));
}

#[test]
fn other_kinds_of_step() {
    let files: &[(&str, &str)] = &[
        ("scenarios/a/notes.txt", "a note"),
        (
            "scenarios/a/scenario.toml",
            r#"
[[step]]
listen = "/events"
stream = { last = "bye" }
[[step]]
run = ["agent", "exec", "--json", "{{ run }}"]
cwd = "scenarios"
env = { MODEL = "{{ model.openai }}" }
exit = 3
golden = false
capture = { thread = "sse:started:/thread_id" }
[[step]]
post = "/upload"
form = { tag = ["a", 2], note = "{{ thread }}" }
files = { file = "notes.txt" }
[[step]]
get = "/stream"
reconnect = true
cancel = { after = "values" }
[[step]]
together = [
    { get = "/status", wait = { json = "/status", is = "done" }, capture = { pages = "json:/pages" } },
    { post = "/form", form = { a = "1&2" } },
]
[[step]]
get = "/{{ pages }}"
"#,
        ),
    ];
    let discovered = read(files);
    let [Ok(scenario)] = &discovered.scenarios[..] else { panic!("{:?}", discovered.scenarios) };
    let [listen, run, upload, back, together, _] = &scenario.steps[..] else { panic!() };
    let until = |last: &str, cancel| StreamSpec { first: None, last: Some(EventSpec::named(last)), cancel };
    assert_eq!(request(listen).answer, AnswerAs::Listen(until("bye", false)));
    let Action::Run(command) = &run.action else { panic!() };
    assert_eq!((command.command.len(), command.exit, run.golden), (4, 3, false));
    assert_eq!(command.cwd.as_ref().unwrap().source(), "scenarios");

    let mut context = stage();
    context.insert("thread", "t");
    let fields = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let RenderedBody::Files(form, uploads) = request(upload).body.render(&context).unwrap() else { panic!() };
    assert_eq!(form, fields(&[("note", "t"), ("tag", "a"), ("tag", "2")]));
    assert_eq!((uploads[0].field.as_str(), &uploads[0].content[..]), ("file", &b"a note"[..]));

    assert!(request(back).reconnect);
    assert_eq!(request(back).answer, AnswerAs::Stream(until("values", true)));
    let [wait, form] = together.parts() else { panic!() };
    let AnswerAs::Until(WaitFor { json, is }) = &request(wait).answer else { panic!() };
    assert_eq!((json.as_str(), is.render(&context).unwrap()), ("/status", Json::from("done")));
    assert_eq!(request(form).body.render(&context).unwrap(), RenderedBody::Form(fields(&[("a", "1&2")])));
}

#[test]
fn a_scenario_of_commands_needs_no_system() {
    let mut commands = read(&[("scenarios/a/scenario.toml", "[[step]]\nrun = [\"agent\"]\n")]);
    commands.check_systems(&[]).unwrap();
    assert_eq!(commands.sound().next().unwrap().system, None);
}

#[test]
fn defaults() {
    let scenario = only(STEP);
    assert_eq!(scenario.fixture, FixtureRef::Named("a".to_owned()));
    assert_eq!((scenario.options.timeout, scenario.options.settle), (Duration::from_secs(60), Duration::from_secs(2)));
    assert_eq!((&scenario.options.unused, scenario.options.delays), (&Unused::Fail, Delays::None));
    assert_eq!(
        [Check::Prompt, Check::Results].map(|check| scenario.options.drift.of(check)),
        [Level::Note, Level::Fail]
    );
    assert_eq!(scenario.golden, ShapeOptions::default());
    assert_eq!(only(&format!("fixture = \"none\"\n{STEP}")).fixture, FixtureRef::None);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let scenario = only(&format!("\u{feff}description = \"é\"\r\n{}", STEP.replace('\n', "\r\n")));
    assert_eq!(scenario.description, "é");
    assert_eq!(scenario.steps[0].place.line, 2);
}

#[test]
fn a_case_overrides_the_scenario_and_the_scenario_the_suite() {
    let suite =
        "timeout = \"5s\"\nsettle = \"1s\"\nunused = \"allow\"\ndrift = { prompt = \"fail\", model = \"fail\" }\n";
    let text = r#"
timeout = "6s"
drift = { prompt = "ignore" }
[vars]
mode = "plain"
text = "in {{ mode }}"
[[step]]
post = "/{{ mode }}"
[golden]
collapse = ["messages"]
[case.ultra]
timeout = "7s"
vars = { mode = "ultra" }
golden = { detail = "keys" }
unused = ["title"]
[case.flash]
fixture = "shared"
drift = { tools = "fail" }
step = [{ get = "/other" }]
"#;
    let discovered = read(&[("scenarios/suite.toml", suite), ("scenarios/modes/scenario.toml", text)]);
    let [flash, ultra] = &discovered.sound().collect::<Vec<_>>()[..] else { panic!("{discovered:?}") };

    assert_eq!((flash.name.as_str(), ultra.name.as_str()), ("modes.flash", "modes.ultra"));
    assert_eq!(ultra.golden_name, "modes.ultra");
    assert_eq!(ultra.fixture, FixtureRef::Named("modes.ultra".to_owned()));
    assert_eq!(flash.fixture, FixtureRef::Named("shared".to_owned()));
    assert_eq!((flash.options.timeout, ultra.options.timeout), (Duration::from_secs(6), Duration::from_secs(7)));
    assert_eq!(ultra.options.settle, Duration::from_secs(1));
    assert_eq!(ultra.options.unused, Unused::Callers(vec!["title".to_owned()]));
    assert_eq!(flash.options.unused, Unused::Allow);
    let [prompt, tools, model] = [Level::Ignore, Level::Fail, Level::Fail].map(Some);
    let drift = Drift { prompt, tools, model, ..Drift::default() };
    assert_eq!(flash.options.drift, drift);
    assert_eq!(ultra.golden.detail, Detail::Keys);
    assert_eq!(ultra.golden.collapse, ["messages"]);
    assert_eq!(request(&flash.steps[0]).method, Method::Get);
    let context = ultra.resolve_vars(&Context::new()).unwrap();
    assert_eq!(context.get("text"), Some(&Json::from("in ultra")));
    assert_eq!(request(&ultra.steps[0]).path.render_text(&context).unwrap(), "/ultra");
}

#[test]
fn a_body_from_a_file_is_rendered_too() {
    let files = [
        ("scenarios/a/scenario.toml", "[vars]\nn = 3\n[[step]]\npost = \"/\"\njson_file = \"in/body.json\"\n"),
        ("scenarios/a/in/body.json", "\u{feff}{\"none\": null, \"n\": \"{{ n }}\", \"m\": \"{{ model.openai }}\"}"),
    ];
    let discovered = read(&files);
    let scenario = discovered.sound().next().unwrap();
    let mut context = scenario.resolve_vars(&Context::new()).unwrap();
    context.insert("model", Json::object([("openai", Json::from("http://x"))]));
    assert_eq!(body(&scenario.steps[0], &context), r#"{"m":"http://x","n":3,"none":null}"#);

    context.insert("model", Json::object([("opnai", Json::Null)]));
    let error = request(&scenario.steps[0]).body.render(&context).unwrap_err();
    let says = "scenarios/a/in/body.json:1:41: `model.openai` is not defined\n  did you mean `opnai`?";
    assert_eq!(error.to_string(), says);
}

#[test]
fn two_keys_may_not_render_to_the_same_text() {
    let scenario = only("[vars]\nk = \"a\"\n[[step]]\npost = \"/\"\njson = { a = 1, \"{{ k }}\" = 2 }\n");
    let error = request(&scenario.steps[0]).body.render(&scenario.resolve_vars(&Context::new()).unwrap()).unwrap_err();
    let says = "scenarios/a/scenario.toml:5:17: two keys of this object render to `a`";
    assert_eq!(error.to_string(), says);
}

#[test]
fn a_whole_suite() {
    let suite = r#"
[systems.agent]
command = ["uvicorn", "app:app", "--port", "{{ port }}"]
cwd     = "services/agent"
env     = { OPENAI_BASE_URL = "{{ model.openai }}", DATA_DIR = "{{ workdir }}" }
ready   = { http = "/health", timeout = "10s" }

[systems.worker]
command = ["worker"]
cwd     = "{{ workdir }}"
ready   = { line = "listening on \\d+" }
shared  = true

[systems.attached]
url   = "http://127.0.0.1:8000/base"
model = { addr = "[::1]:9000", key_env = "MODEL_KEY" }

[[callers]]
name = "middleware:title"
when = { message = "^Generate a concise title", tools = false, header = { X-Kind = "t" }, metadata = { k = "v" } }

[[callers]]
name = "subagent:search"
when = { tools = ["search"], model = "mini", system = "You search" }

[[callers]]
name = "lead_agent"
when = {}

[[normalize]]
pattern = 'order-\d+'
replace = "<ORDER>"

[aliases]
title_agent = "middleware:title"
"#;
    let discovered =
        read(&[("scenarios/suite.toml", suite), ("scenarios/a/scenario.toml", STEP), ("services/agent/", "")]);
    let suite = &discovered.suite;
    let Some(SystemSpec::Command(CommandSpec { command, env, ready, shared: false, .. })) = suite.systems.get("agent")
    else {
        panic!("{suite:?}")
    };
    let mut context = Context::new();
    context.insert("port", 80_u64);
    assert_eq!(command[3].render_text(&context).unwrap(), "80");
    assert_eq!(env["DATA_DIR"].source(), "{{ workdir }}");
    assert!(matches!(ready, Ready::Http { path, timeout } if path == "/health" && timeout.as_secs() == 10));
    let worker = suite.systems.get("worker");
    let Some(SystemSpec::Command(CommandSpec { ready: Ready::Line { regex, timeout }, shared: true, .. })) = worker
    else {
        panic!("{worker:?}")
    };
    assert!(regex.is_match("listening on 80") && timeout.as_secs() == 30);
    let attached = suite.systems.get("attached");
    let Some(SystemSpec::Url(UrlSpec { url, model })) = attached else { panic!("{attached:?}") };
    assert_eq!((url.as_str(), model.key_env.as_str()), ("http://127.0.0.1:8000/base", "MODEL_KEY"));

    let [title, search, lead] = &suite.callers[..] else { panic!() };
    assert_eq!(title.when.tools, Some(OfferedTools::Any(false)));
    assert!(title.when.header["x-kind"].is_match("t") && title.when.metadata["k"].is_match("v"));
    assert_eq!(search.when.tools, Some(OfferedTools::Named(vec!["search".to_owned()])));
    assert!(lead.when.model.is_none());
    assert_eq!(suite.normalize[0].replace, "<ORDER>");
    assert_eq!(suite.aliases["title_agent"], "middleware:title");
}

#[test]
fn a_suite_needs_no_file() {
    let suite = read(&[("scenarios/a/scenario.toml", STEP)]).suite;
    assert_eq!(suite.defaults, Defaults::default());
    assert_eq!(suite.path, Path::new("scenarios/suite.toml"));
}

/// Reads a text as a scenario and as a suite. Only a panic is a failure.
fn survives(text: &str) {
    let root = Path::new("nowhere");
    let Ok(source) = Source::of(Path::new("x.toml"), text.as_bytes().to_vec()) else { return };
    let file = read::ScenarioFile { source: &source, root, dir: root, list: None };
    for scenario in read::scenario::read("a", file, &Suite::default()).into_iter().flatten() {
        let _ = scenario.resolve_vars(&stage());
    }
    let _ = read::suite::parse(&source, root);
}

#[test]
fn very_deep_nesting_does_not_overflow_the_stack() {
    survives(&format!("vars.{}a = 1\n{STEP}", "a.".repeat(100_000)));
    survives(&format!("{STEP}json = {}", "[".repeat(100_000)));
    survives(&format!("{STEP}json = {}", "{a=".repeat(100_000)));
}

#[test]
fn vars_that_double_each_other_are_refused_before_they_fill_the_memory() {
    let vars: Vec<String> = (1..60).map(|i| format!("v{i} = \"{{{{ v{0} }}}}{{{{ v{0} }}}}\"\n", i - 1)).collect();
    let scenario = only(&format!("[vars]\nv0 = \"{}\"\n{}{STEP}", "x".repeat(1 << 20), vars.concat()));
    let error = scenario.resolve_vars(&stage()).unwrap_err().to_string();
    assert_eq!(error, "scenarios/a/scenario.toml:6:6: the var `v4` holds more than 16 MB");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = Source::of(Path::new("x.toml"), bytes).map(|source| survives(&source.text));
    }

    #[test]
    fn any_lines_of_a_scenario_are_read_or_refused(
        picked in proptest::collection::vec((0..60_usize, 0..80_usize, any::<char>()), 0..40),
    ) {
        let lines: Vec<&str> = WHOLE.lines().chain(["[case.x]", "[vars]", "a = \"{{ b }}\"", "b = '{{ a }}'"]).collect();
        let mut text = String::new();
        for (line, at, strange) in picked {
            let line = lines[line % lines.len()];
            let (before, after) = line.split_at((0..=at.min(line.len())).rfind(|at| line.is_char_boundary(*at)).unwrap());
            text.push_str(before);
            if at % 7 == 0 {
                text.push(strange);
            }
            text.push_str(after);
            text.push('\n');
        }
        survives(&text);
    }
}

#[test]
fn a_scenario_begins_with_the_shared_steps_of_its_suite() {
    let suite = "before = [\"login\", \"thread\"]\n[[steps.login]]\npost = \"/login\"\njson_file = \"../_shared/ada.json\"\n\
                 capture = { token = \"json:/token\" }\n[[steps.thread]]\npost = \"/threads?{{ token }}\"\n\
                 stream = true\n[[steps.ask]]\npost = \"/ask?{{ prompt }}\"\nstream = true\ngolden = true\n";
    let discovered = read(&[
        ("scenarios/suite.toml", suite),
        ("scenarios/_shared/ada.json", "{}"),
        ("scenarios/all/scenario.toml", "[[step]]\nget = \"/{{ token }}\"\n"),
        ("scenarios/asks/scenario.toml", "before = [\"ask\"]\nvars = { prompt = \"hi\" }\n"),
        ("scenarios/off/scenario.toml", "before = []\n[[step]]\nget = \"/\"\n"),
        ("scenarios/takes/scenario.toml", "vars = { token = \"x\" }\n[[step]]\nget = \"/\"\n"),
    ]);
    let steps = |index: usize| -> Vec<_> {
        let steps = &discovered.scenarios[index].as_ref().unwrap().steps;
        steps.iter().map(|step| (step.name.as_deref(), step.golden, step.file.display().to_string())).collect()
    };
    let suite = || "scenarios/suite.toml".to_owned();
    let own = |name: &str| format!("scenarios/{name}/scenario.toml");
    assert_eq!(
        steps(0),
        [(Some("login"), false, suite()), (Some("thread"), false, suite()), (None, false, own("all"))]
    );
    assert_eq!(steps(1), [(Some("ask"), true, suite())]);
    assert_eq!(steps(2), [(None, false, own("off"))]);
    let error = &discovered.scenarios[3].as_ref().unwrap_err().error;
    assert_eq!(
        error.to_string(),
        "scenarios/takes/scenario.toml: the shared steps `login` capture `token`, so it cannot be a var\n  \
         give the var another name, or leave these steps out of `before`"
    );
}
