//! Options that a suite can set for all scenarios, and a scenario for itself. Each line is tested in both places.

use retake_core::json::{Json, Layout};
use retake_core::key::{Check, CheckTexts, Rules};
use retake_wire::fixture::Recorded;
use retake_wire::{self as wire, Api, Body, Frames};

use super::suites::{BASE, READ_AGAIN, TOOLS};
use super::walk::{Entry, Says};
use crate::support::fixtures::turn;

/// An option's line, a scenario, and the expected results without and with the line.
struct Lines {
    field: &'static str,
    line: &'static str,
    suite: String,
    scenario: String,
    without: Option<Says>,
    with: Says,
    turns: Vec<Recorded>,
    file: Option<(&'static str, String)>,
}

/// The body of a step that sends one message to the model.
const ASK: &str =
    "json = { model = \"small\", temperature = 1, messages = [{ role = \"user\", content = \"hello\" }] }\n";

/// A scenario whose golden contains the value of an environment variable.
const SECRET: &str = "fixture = \"none\"\n[[step]]\npost = \"/echo\"\njson = \"the-walked-value\"\ngolden = true\n[golden]\ndetail = \"values\"\n";

fn asks(fixture: &str, fields: &str) -> String {
    format!("fixture = \"{fixture}\"\n{fields}\n[[step]]\npost = \"/model\"\n{ASK}")
}

/// Returns a turn that answers that message, with these checks.
fn checked(prompt: &str, tools: &str, model: &str, results: &str) -> Recorded {
    let tools = Json::parse(tools.as_bytes()).unwrap();
    let settings = Json::object([("temperature", Json::Int(1))]);
    let texts = CheckTexts::new(&Rules::default().normalizer, prompt, &tools, model, &settings);
    Recorded { texts: Some(texts.with(Check::Results, results.into()).0), ..turn(None, "hello", "hi") }
}

#[expect(clippy::too_many_lines, reason = "a list")]
fn all() -> Vec<Lines> {
    let lines = |field, line, scenario: String, without, with, turns: Vec<Recorded>| Lines {
        field,
        line,
        suite: BASE.clone(),
        scenario,
        without: Some(without),
        with,
        turns,
        file: None,
    };
    let paused = {
        let mut paused = checked("", "null", "small", "");
        let frames: Frames = [
            "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
            "data: [DONE]\n\n",
        ]
        .into_iter()
        .collect();
        let response = &mut paused.wire.as_mut().unwrap().response;
        response.body = Body::Frames(frames.with_delays(&[0, 3_600_000]));
        "text/event-stream".clone_into(&mut response.content_type);
        paused.output = wire::decode_response(Api::OpenAiChat, response).unwrap();
        paused
    };
    let with_stop = {
        let mut turn = checked("", "null", "small", "");
        let form = Json::object([("stop", Json::from(true)), ("version", "v1".into())]);
        *turn.text(Check::Form) = Some(form.print(Layout::Python).into());
        turn
    };
    let of_user = {
        let mut turn = checked("", "null", "small", "");
        *turn.text(Check::Extra) = Some(r#"{"user": "u"}"#.into());
        turn
    };
    let streamed = asks("paused", "").replace("temperature = 1", "temperature = 1, stream = true");
    let own = "system = \"own\"\nfixture = \"title\"\n[[step]]\npost = \"/go-on/300\"\n";
    let title = || vec![turn(None, "a title for this?", "Hello")];
    let tools = r#"[{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]"#;
    vec![
        lines(
            "unused",
            "unused = \"allow\"",
            "fixture = \"rest\"\n[[step]]\nget = \"/count\"\n".to_owned(),
            Says::Red("unused"),
            Says::Green,
            vec![turn(None, "x", "y")],
        ),
        lines(
            "drift.prompt",
            "drift = { prompt = \"ignore\" }",
            asks("prompt", ""),
            Says::Red("prompt"),
            Says::Green,
            vec![checked("Be kind.", "null", "small", "")],
        ),
        lines(
            "drift.tools",
            "drift = { tools = \"ignore\" }",
            asks("tools", ""),
            Says::Red("tools"),
            Says::Green,
            vec![checked("", tools, "small", "")],
        ),
        lines(
            "drift.model",
            "drift = { model = \"fail\" }",
            asks("large", ""),
            Says::Green,
            Says::Red("model"),
            vec![checked("", "null", "large", "")],
        ),
        lines(
            "drift.settings",
            "drift = { settings = \"fail\" }",
            asks("cold", "").replace("= 1,", "= 0,"),
            Says::Green,
            Says::Red("settings"),
            vec![checked("", "null", "small", "")],
        ),
        lines(
            "drift.form",
            "drift = { form = \"fail\" }",
            asks("form", ""),
            Says::Green,
            Says::Red("form"),
            vec![with_stop],
        ),
        lines(
            "drift.extra",
            "drift = { extra = \"fail\" }",
            asks("extra", ""),
            Says::Green,
            Says::Red("user"),
            vec![of_user],
        ),
        lines(
            "drift.results",
            "drift = { results = \"ignore\" }",
            asks("results", ""),
            Says::Red("results"),
            Says::Green,
            vec![checked("", "null", "small", "call 1, `read`: empty")],
        ),
        Lines {
            field: "drift.observation",
            line: "drift = { observation = \"note\" }",
            suite: TOOLS.replace("\"cat\"", "\"echo\""),
            scenario: READ_AGAIN.to_owned(),
            without: Some(Says::Red("drift")),
            with: Says::Green,
            turns: Vec::new(),
            file: Some(super::suites::written_and_read()),
        },
        lines("settle", "settle = \"5s\"", own.to_owned(), Says::Red("unused"), Says::Green, title()),
        lines(
            "linger",
            "linger = \"2s\"",
            own.replace("\"title\"", "\"none\""),
            Says::Green,
            Says::Red("miss"),
            Vec::new(),
        ),
        Lines {
            without: None,
            ..lines(
                "secrets",
                "secrets = [\"WALKED\"]",
                SECRET.to_owned(),
                Says::Green,
                Says::Red("<WALKED>"),
                Vec::new(),
            )
        },
        Lines {
            without: None,
            ..lines(
                "timeout",
                "timeout = \"300ms\"",
                "fixture = \"none\"\n[[step]]\nget = \"/meet\"\n".to_owned(),
                Says::Green,
                Says::Red("took longer than 300ms"),
                Vec::new(),
            )
        },
        lines("delays", "delays = \"recorded\"", streamed, Says::Green, Says::Red("504"), vec![paused]),
    ]
}

impl Lines {
    fn entry(self, suite: &str, with: &str) -> Entry {
        let Lines { field, without, with: says, turns, file, .. } = self;
        let scenarios: Vec<(&str, Says)> = without
            .into_iter()
            .map(|says| (self.scenario.as_str(), says))
            .filter(|_| suite == self.suite)
            .chain([(with, says)])
            .collect();
        let mut entry = Entry::played(field, suite, &scenarios);
        let name =
            self.scenario.split("fixture = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        if !turns.is_empty() {
            entry = entry.with_fixture(name.to_owned().leak(), turns);
        }
        file.into_iter().fold(entry, |entry, (path, text)| entry.with_file(path, text))
    }
}

/// The fields of `cost`.
fn cost() -> impl Iterator<Item = Entry> {
    const TEST: &str = "cost::trial::a_budget_names_what_is_beyond_it";
    let fields = ["calls", "input", "cached", "callers.*.calls", "callers.*.input", "callers.*.cached"];
    fields.into_iter().map(|field| Entry::by(&format!("cost.{field}"), TEST))
}

/// The fields of `worlds`, each with the test that shows its effect.
fn worlds() -> impl Iterator<Item = Entry> {
    const TEST: &str = "worlds::trial::settings_of_worlds_have_an_effect";
    const LEAVES: &str = "worlds::client::what_becomes_of_a_run_without_its_client_is_judged_if_it_is_declared";
    const BACK: &str = "worlds::client::the_request_with_which_a_client_comes_back_is_declared";
    const SAME: &str = "worlds::client::what_makes_two_requests_the_same_is_declared";
    const CRASH: &str = "worlds::process::what_has_to_come_after_a_crash_is_declared";
    const READS: &str = "worlds::tools::what_acts_again_is_said_unless_it_only_reads";
    let back = ["back", "back_json", "back_form"].map(|field| (field, BACK));
    let of_client = [("leaves", LEAVES), ("same", SAME), ("crash", CRASH), ("reads", READS)].into_iter().chain(back);
    let of_model = ["of", "max", "times", "calls"].map(|field| (field, TEST));
    of_model.into_iter().chain(of_client).map(|(field, test)| Entry::by(&format!("worlds.{field}"), test))
}

/// The fields about what programs may reach, each with the test that shows its effect.
fn egress() -> impl Iterator<Item = Entry> {
    const REFUSED: &str = "systems::egress::every_way_out_is_told_with_process_and_address_and_refused";
    const ALLOWED: &str = "systems::egress::what_is_allowed_is_neither_told_nor_refused";
    [Entry::by("egress", REFUSED), Entry::by("allow", ALLOWED)].into_iter()
}

const ONCE: &str = "runner::hundredth::nothing_is_tried_again_after_a_miss";
const FLAKY: &str =
    "runner::hundredth::a_scenario_that_is_green_only_at_the_second_try_is_told_as_flaky_in_all_reports";
const CLOCK: &str = "replay::filled::the_clock_of_a_recording_needs_the_library_that_sets_it";
const PANICS: &str = "runner::panics::a_panic_in_the_background_is_allowed_if_the_scenario_says_so";

/// Returns the entries in which the suite has the line.
pub(super) fn of_suite() -> Vec<Entry> {
    let entries = all().into_iter().map(|lines| {
        let suite = format!("{}\n{}", lines.line, without_top_level(&lines.suite, lines.line));
        let scenario = lines.scenario.clone();
        lines.entry(&suite, &scenario)
    });
    // A secret that one scenario declares is secret in the whole project, so this entry needs its own suite.
    let told = format!("{}# nothing is secret\n", *BASE);
    let told = Entry::played("secrets", &told, &[(SECRET, Says::Red("the-walked-value"))]);
    let words = Entry::by("error_words", "worlds::trial::settings_of_worlds_have_an_effect");
    entries
        .chain([Entry::by("panics", PANICS), Entry::by("retries", ONCE), Entry::by("clock", CLOCK), told, words])
        .chain(worlds())
        .chain(cost())
        .chain(egress())
        .collect()
}

/// Returns the suite without its own top-level line for the option.
fn without_top_level(suite: &str, line: &str) -> String {
    let option = line.split(' ').next().unwrap_or_default();
    suite.lines().filter(|own| !own.starts_with(&format!("{option} ="))).collect::<Vec<_>>().join("\n")
}

/// Returns the scenario with an additional line, which is placed after the line of its system.
fn with_line(line: &str, scenario: &str) -> String {
    match scenario.split_once('\n').filter(|(first, _)| first.starts_with("system")) {
        Some((system, rest)) => format!("{system}\n{line}\n{rest}"),
        None => format!("{line}\n{scenario}"),
    }
}

/// Returns the entries in which the scenario has the line.
pub(super) fn of_scenario() -> Vec<Entry> {
    let entries = all().into_iter().map(|lines| {
        let (suite, scenario) = (lines.suite.clone(), with_line(lines.line, &lines.scenario));
        lines.entry(&suite, &scenario)
    });
    entries
        .chain([Entry::by("panics", PANICS), Entry::by("retries", FLAKY), Entry::by("clock", CLOCK)])
        .chain(worlds())
        .chain(cost())
        .chain(egress())
        .collect()
}
