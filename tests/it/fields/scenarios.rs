//! The fields of `scenario.toml`, except those of steps and options.

use super::suites::{BASE, TOOLS, is, written_and_read};
use super::walk::{Entry, Says};
use crate::support::fixtures::turn;

const TAGGED: &str = "runner::hundredth::a_scenario_that_is_skipped_says_why_and_tags_choose_scenarios";
const QUIET: &str = "fixture = \"none\"\n[[step]]\nget = \"/count\"\n";
const FAILS: &str = "fixture = \"none\"\n[[step]]\nget = \"/count\"\nstatus = 404\n";

pub(super) fn entries() -> Vec<Entry> {
    let played = |field: &str, scenarios: &[(&str, Says)]| Entry::played(field, &BASE, scenarios);
    let hello = "[[step]]\npost = \"/model\"\njson = { messages = [{ role = \"user\", content = \"hi\" }] }\n";
    let var = format!("fixture = \"none\"\n[vars]\nword = \"one\"\n{}", is("word", "one"));
    let live = "tools::doubles::a_live_tool_that_changed_is_named_as_the_cause_of_the_miss";
    let mut entries = vec![
        played("description", &[(&format!("description = \"It counts.\"\n{FAILS}"), Says::Red("It counts."))]),
        played("system", &[(QUIET, Says::Green), (&format!("system = \"dies\"\n{QUIET}"), Says::Red("exit code 7"))]),
        played(
            "fixture",
            &[(hello, Says::Red("has no fixture")), (&format!("fixture = \"greeted\"\n{hello}"), Says::Green)],
        )
        .with_fixture("greeted", vec![turn(None, "hi", "Hello.")]),
        played("vars", &[(&var, Says::Green), (&var.replace("\"one\"", "\"two\""), Says::Red("exit code"))]),
        played(
            "case",
            &[(&format!("[case.bad]\nvars = {{ code = 404 }}\n{}", FAILS.replace("404", "[404]")), Says::Red("404"))],
        ),
        Entry::by("before", "runner::hundredth::shared_steps_come_first_and_stay_out_of_the_golden"),
        Entry::by("skip", TAGGED),
        Entry::by("tags", TAGGED),
        Entry::by("tools", live),
        Entry::by(
            "record.errors",
            "record::recording::a_failure_of_the_provider_is_the_first_line_and_cannot_be_accepted",
        ),
        Entry::by("record.timeout", "record::recording::a_recording_has_its_own_time_limit"),
    ];
    entries.extend(tools());
    entries.extend(goldens());
    entries
}

/// Adds an OpenHands conversation in which the user rejected the only tool call.
fn conversation(entry: Entry, folder: &'static str) -> Entry {
    let file = |name: &str| -> &'static str { format!("{folder}/{name}").leak() };
    let call = r#"{"kind": "ActionEvent", "id": "a", "source": "agent", "tool_name": "read_file", "tool_call_id": "c",
        "llm_response_id": "r", "thought": [], "action": {"kind": "MyAction", "path": "note.txt"},
        "tool_call": {"id": "c", "name": "read_file", "arguments": "{\"path\": \"note.txt\"}"}}"#;
    let rejected = r#"{"kind": "UserRejectObservation", "id": "o", "source": "environment", "tool_name": "read_file",
        "tool_call_id": "c", "action_id": "a", "rejection_reason": "no"}"#;
    let entry = entry.with_file(file("base_state.json"), r#"{"leaf_event_id": "o"}"#);
    entry
        .with_file(file("events/event-00000-aaaaaaa0.json"), call)
        .with_file(file("events/event-00001-aaaaaaa1.json"), rejected)
}

fn tools() -> Vec<Entry> {
    let played = |field: &str, scenarios: &[(&str, Says)]| {
        let (path, text) = written_and_read();
        Entry::played(field, TOOLS, scenarios).with_file(path, text).with_file("kept/note.txt", "hi from replay.")
    };
    let (one, two) = ("many/6f2d7a4e9f3b4c1d8e5a0b1c2d3e4f50", "many/00000000000000000000000000000001");
    let many = "kind = \"tools\"\nrecording = \"many\"\n";
    let this = format!("{many}conversation = \"00000000000000000000000000000001\"\n");
    let rejected = "kind = \"tools\"\nrecording = \"rejected\"\n";
    vec![
        played(
            "kind",
            &[
                ("kind = \"tools\"\nfixture = \"written_and_read\"\n", Says::Green),
                ("fixture = \"written_and_read\"\n", Says::Red("[[step]]")),
            ],
        ),
        conversation(
            played("recording", &[(rejected, Says::Red("1 action recorded, none of them executed"))]),
            "rejected",
        ),
        conversation(
            conversation(
                played(
                    "conversation",
                    &[(many, Says::Red("2 conversations")), (&this, Says::Red("none of them executed"))],
                ),
                one,
            ),
            two,
        ),
        played("unobserved", &[(&format!("{rejected}unobserved = \"execute\"\n"), Says::Red("drift"))]),
    ]
}

fn goldens() -> Vec<Entry> {
    let agent = "printf '{\\\"type\\\":\\\"b\\\",\\\"n\\\":1}\\n{\\\"type\\\":\\\"a\\\",\\\"n\\\":2}\\n{\\\"type\\\":\\\"a\\\",\\\"n\\\":3}\\n{\\\"type\\\":\\\"c\\\",\\\"n\\\":4,\\\"l\\\":[1],\\\"p\\\":\\\"word\\\"}\\n'";
    let shows = |field: &str, options: &str, text: &'static str| {
        let scenario =
            format!("fixture = \"none\"\n[[step]]\nrun = [\"sh\", \"-c\", \"{agent}\"]\n[golden]\n{options}\n");
        Entry::played(field, &BASE, &[(&scenario, Says::Red(text))])
    };
    vec![
        shows("golden.detail", "", "+   n          number"),
        shows("golden.detail", "detail = \"values\"", "+   n          1"),
        shows("golden.show", "show = [\"/n\"]", "/n = 3"),
        shows("golden.collapse", "collapse = [\"a\"]", "…"),
        shows("golden.unordered", "unordered = [\"a\", \"b\"]", "+ a         {n, type} ×2\n+ b         {n, type}"),
        Entry::by(
            "golden.ordered",
            "record::parallel::events_of_calls_that_were_made_at_once_are_in_the_order_of_the_calls",
        ),
        Entry::by("golden.ignore", "systems::steps::events_after_the_last_one_are_marked_in_the_golden"),
        shows("golden.words", "words = [\"p\"]", "+   p          \"word\""),
        shows("golden.lengths", "", "l[1]"),
        shows("golden.lengths", "lengths = false", "{l, n, p, type}"),
        Entry::by("golden.after_last", "systems::steps::events_after_the_last_one_are_marked_in_the_golden"),
        Entry::by("golden.loose", "systems::steps::a_length_that_varies_is_reported_with_the_option_that_ignores_it"),
        Entry::by("golden.text", "systems::steps::prose_of_a_command_line_agent_is_in_the_golden_line_by_line"),
        shows("golden.event_name", "event_name = \"/p\"", "c/word"),
        Entry::played(
            "golden.headers",
            &BASE,
            &[(
                &format!("{QUIET}golden = true\n[golden]\nheaders = [\"content-type\"]\n"),
                Says::Red("+   content-type: "),
            )],
        ),
        Entry::played(
            "golden.comments",
            &BASE,
            &[(
                &format!("{QUIET}stream = true\n[golden]\ncomments = true\n").replace("/count", "/heartbeat"),
                Says::Red("alive"),
            )],
        ),
    ]
}
