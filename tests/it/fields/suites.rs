//! The tables of `suite.toml`.

use std::sync::LazyLock;

use super::walk::{Entry, Says};
use crate::support::fixtures::turn;
use crate::support::loopback::free_port;
use crate::support::tree::project;
use crate::systems::described::{READY, system};

/// A suite with one system for most scenarios, and others for special cases. Scenarios do not settle or linger.
pub(super) static BASE: LazyLock<String> = LazyLock::new(|| {
    let systems = [
        system("agent", "", &format!("{READY}\nshared = true")),
        system("own", "", READY),
        system("dies", "DIES = \"7\"", READY),
        system("elsewhere", "", &format!("{READY}\ncwd = \"front\"")),
        system("nowhere", "", "ready = { http = \"/nowhere\", timeout = \"300ms\" }"),
        system("line", "", "ready = { line = \"listening on\" }"),
        system("silent", "", "ready = { line = \"never\", timeout = \"350ms\" }"),
        system("by_port", "", "ready = { port = true }"),
        "[systems.shut]\ncommand = [\"sleep\", \"60\"]\nready = { port = true, timeout = \"360ms\" }\n".to_owned(),
        system("unbuilt", "", &format!("{READY}\ncwd = \"front\"\nbuild = [\"sh\", \"-c\", \"exit 9\"]")),
        system("pinned", "AT = \"{{ port }}\"", &format!("{READY}\nport = {}", *PORT)),
    ];
    format!("settle = \"0ms\"\nlinger = \"0ms\"\n{}", systems.concat())
});

/// A port that was free when it was chosen.
static PORT: LazyLock<u16> = LazyLock::new(free_port);

/// A suite with tools that are commands. The entries write the file that they read.
pub(super) const TOOLS: &str =
    "[tools.write_file]\nas_recorded = true\n[tools.read_file]\ncommand = [\"cat\", \"{{ root }}/kept/note.txt\"]\n";

/// A scenario that makes recorded calls of these tools again.
pub(super) const READ_AGAIN: &str = "kind = \"tools\"\nfixture = \"written_and_read\"\n";

pub(super) fn written_and_read() -> (&'static str, String) {
    ("fixtures/written_and_read.json", project("fixtures/write_read_file.json"))
}

/// Returns a step that fails unless a captured value is the expected one.
pub(super) fn is(captured: &str, expected: &str) -> String {
    let test = format!("test '{{{{ {captured} }}}}' = '{expected}' && echo 1");
    format!("[[step]]\nrun = [\"sh\", \"-c\", \"{test}\"]\ngolden = false\n")
}

/// Returns a scenario that captures the working directory of a system.
fn on(system: &str) -> String {
    format!(
        "system = \"{system}\"\nfixture = \"none\"\n[[step]]\nget = \"/environment\"\ncapture = {{ cwd = \"json:/cwd\" }}\n"
    )
}

fn goldens() -> Vec<Entry> {
    let suite = format!("{}\n[golden]\nheaders = [\"content-type\"]\n", *BASE);
    let asks = "fixture = \"none\"\n[[step]]\nget = \"/count\"\ngolden = true\n";
    vec![Entry::played("golden.headers", &suite, &[(asks, Says::Red("+   content-type: "))])]
}

/// The test makes one call over an API that has all of them.
fn apis() -> Vec<Entry> {
    let fields = ["name", "path", "prompt", "messages", "tools", "model", "settings", "text", "error"];
    let usage = ["usage.input", "usage.output", "usage.cached"];
    let by = |field| Entry::by(&format!("apis.{field}"), "replay::declared::what_is_declared_has_an_effect");
    fields.into_iter().chain(usage).map(by).collect()
}

const OTHER_VALUE: Says = Says::Red("exit code");

pub(super) fn entries() -> Vec<Entry> {
    [systems(), tools(), callers(), apis(), rules(), goldens()].into_iter().flatten().collect()
}

fn systems() -> Vec<Entry> {
    let played = |field: &str, scenarios: &[(&str, Says)]| Entry::played(field, &BASE, scenarios);
    let at = on("pinned").replace("cwd = \"json:/cwd\"", "at = \"json:/AT\"");
    let in_front = "[[step]]\nrun = [\"sh\", \"-c\", \"case '{{ cwd }}' in */front) echo 1;; *) exit 3;; esac\"]\ngolden = false\n";
    let kinds = "systems::kinds::a_system_that_is_already_running_is_reached_by_its_url";
    vec![
        played("systems.*.command", &[(&on("own"), Says::Green), (&on("dies"), Says::Red("exit code 7"))]),
        played("systems.*.env", &[(&on("dies"), Says::Red("the database is locked"))]),
        played(
            "systems.*.cwd",
            &[(&(on("own") + in_front), OTHER_VALUE), (&(on("elsewhere") + in_front), Says::Green)],
        ),
        played("systems.*.ready.http", &[(&on("nowhere"), Says::Red("/nowhere"))]),
        played("systems.*.ready.line", &[(&on("line"), Says::Green), (&on("silent"), Says::Red("never"))]),
        played(
            "systems.*.ready.port",
            &[
                (&on("by_port"), Says::Green),
                (&on("shut"), Says::Red("to accept a connection, and found nothing listening")),
            ],
        ),
        played("systems.*.ready.timeout", &[(&on("nowhere"), Says::Red("300ms")), (&on("silent"), Says::Red("350ms"))]),
        played("systems.*.build", &[(&on("unbuilt"), Says::Red("exit code 9"))]),
        played("systems.*.port", &[(&(at + &is("at", &PORT.to_string())), Says::Green)]),
        Entry::by("steps", "runner::hundredth::shared_steps_come_first_and_stay_out_of_the_golden"),
        Entry::by("before", "runner::hundredth::shared_steps_come_first_and_stay_out_of_the_golden"),
        Entry::by("system", "systems::growing::the_suite_names_the_system_of_scenarios_that_name_none"),
        Entry::by(
            "systems.*.extends",
            "systems::growing::a_system_that_extends_another_overrides_only_the_fields_that_it_sets",
        ),
        Entry::by("systems.*.cwd_copy", "systems::growing::with_cwd_copy_a_system_runs_in_a_copy_of_its_folder"),
        Entry::by(
            "systems.*.files",
            "systems::growing::files_for_the_work_folder_are_rendered_before_the_system_starts",
        ),
        Entry::by("systems.*.shared", "systems::kinds::a_shared_system_is_one_process_for_all_scenarios"),
        Entry::by("systems.*.needs", "systems::kinds::a_system_that_needs_another_one_gets_its_address"),
        Entry::by("systems.*.url", kinds),
        Entry::by("systems.*.model.addr", kinds),
        Entry::by("systems.*.model.key_env", kinds),
    ]
}

fn tools() -> Vec<Entry> {
    let played = |field: &str, suite: &str, says: Says| {
        let (path, text) = written_and_read();
        let entry = Entry::played(&format!("tools.*.{field}"), suite, &[(READ_AGAIN, says)]);
        entry.with_file(path, text).with_file("kept/note.txt", "hi from replay.")
    };
    let cat = "command = [\"cat\", \"{{ root }}/kept/note.txt\"]";
    let other = |with: &str| TOOLS.replace(cat, with);
    let says = |text: &str, more: &str| other(&format!("command = [\"printf\", \"{text}\"]\n{more}"));
    let http = "tools::snapshot::an_http_endpoint_can_be_a_tool";
    let stdio = "tools::doubles::a_double_replaces_a_recorded_server_on_standard_input";
    let rule = "normalize = [{ pattern = \"re[a-z]+\", replace = \"AGAIN\" }]";
    vec![
        played("command", TOOLS, Says::Green),
        played("command", &says("hi from reply.", ""), Says::Red("now       \"hi from reply.\"")),
        played(
            "as_recorded",
            &TOOLS.replace("[tools.write_file]\nas_recorded = true\n", ""),
            Says::Red("`write_file`"),
        ),
        played("cwd", &other("command = [\"cat\", \"note.txt\"]"), Says::Red("drift")),
        played("cwd", &other("command = [\"cat\", \"note.txt\"]\ncwd = \"kept\""), Says::Green),
        played(
            "env",
            &other("command = [\"sh\", \"-c\", 'printf \"$SAYS\"']\nenv = { SAYS = \"hi from replay.\" }"),
            Says::Green,
        ),
        played(
            "tools",
            "[tools.any]\ncommand = [\"true\"]\ntools = [\"write_file\", \"read_file\"]\n",
            Says::Red("drift in 2"),
        ),
        played("timeout", &other("command = [\"sleep\", \"60\"]\ntimeout = \"200ms\""), Says::Red("within 0.2 s")),
        played("ignore", &says("hi from reply.", "ignore = [\"/observation/content\"]"), Says::Green),
        played("normalize.pattern", &says("hi from reply.", rule), Says::Green),
        played("normalize.replace", &says("bye from reply.", rule), Says::Red("bye from AGAIN.")),
        Entry::by("tools.*.http", http),
        Entry::by("tools.*.headers", http),
        Entry::by("tools.*.mcp.command", stdio),
        Entry::by("tools.*.mcp.url", "tools::doubles::a_double_replaces_a_recorded_server_over_http"),
        prefix(),
    ]
}

/// A recording can have a prefix before the names of a server's tools.
#[cfg(feature = "mcp")]
fn prefix() -> Entry {
    use crate::tools::agent::SERVER;
    let program = std::env::current_exe().unwrap();
    let server = format!(
        "mcp = {{ command = [{:?}, {SERVER:?}, \"{{{{ root }}}}/kept/note.txt\"] }}",
        program.to_str().unwrap()
    );
    let suite = format!("[tools.files]\n{server}\nprefix = \"files_\"\n");
    let call = r#"{"kind": "ActionEvent", "id": "a", "source": "agent", "tool_name": "files_read", "tool_call_id": "c",
        "llm_response_id": "r", "thought": [], "action": {"kind": "MyAction"},
        "tool_call": {"id": "c", "name": "files_read", "arguments": "{}"}}"#;
    let observed = r#"{"kind": "ObservationEvent", "id": "o", "source": "environment", "tool_name": "files_read",
        "tool_call_id": "c", "action_id": "a",
        "observation": {"kind": "My", "content": [{"type": "text", "text": "hi"}], "is_error": false}}"#;
    let again = "kind = \"tools\"\nrecording = \"prefixed\"\n";
    let entry = Entry::played("tools.*.prefix", &suite, &[(again, Says::Green)]).with_file("kept/note.txt", "hi");
    let entry = entry.with_file("prefixed/base_state.json", r#"{"leaf_event_id": "o"}"#);
    let entry = entry.with_file("prefixed/events/event-00000-aaaaaaa0.json", call);
    entry.with_file("prefixed/events/event-00001-aaaaaaa1.json", observed)
}

/// Without the feature there is no server, so only the errors about the field's place can be tested.
#[cfg(not(feature = "mcp"))]
fn prefix() -> Entry {
    Entry::by("tools.*.prefix", "tools::snapshot::mistakes_in_the_declaration_of_a_tool_name_their_place")
}

/// Six rules, one for each field. Each of them matches only the call that has this field.
fn callers() -> Vec<Entry> {
    const RULES: [(&str, &str, &str); 6] = [
        ("header", "header = { x-part = \"^one$\" }", "messages = [{ role = \"user\", content = \"ask\" }]"),
        (
            "metadata",
            "metadata = { part = \"^one$\" }",
            "messages = [{ role = \"user\", content = \"ask\" }], metadata = { part = \"one\" }",
        ),
        ("model", "model = \"^tiny$\"", "model = \"tiny\", messages = [{ role = \"user\", content = \"ask\" }]"),
        (
            "system",
            "system = \"^Be brief\"",
            "messages = [{ role = \"system\", content = \"Be brief.\" }, { role = \"user\", content = \"ask\" }]",
        ),
        ("message", "message = \"^title\"", "messages = [{ role = \"user\", content = \"title\" }]"),
        (
            "tools",
            "tools = [\"look\"]",
            "messages = [{ role = \"user\", content = \"ask\" }], tools = [{ type = \"function\", function = { name = \"look\" } }]",
        ),
    ];
    let rules = RULES.map(|(name, when, _)| format!("[[callers]]\nname = \"by_{name}\"\nwhen = {{ {when} }}\n"));
    let suite = BASE.clone() + &rules.concat();
    let mut turns: Vec<_> = RULES
        .iter()
        .map(|(name, ..)| turn(Some(&format!("by_{name}")), if *name == "message" { "title" } else { "ask" }, name))
        .collect();
    turns.extend([turn(Some("another"), "ask", "another"), turn(Some("another"), "title", "another")]);
    let scenario = |fields: &str, header: &str, answer: &str| {
        let step = format!("[[step]]\npost = \"/model\"\njson = {{ {fields} }}\n{header}");
        let capture = "capture = { said = \"json:/choices/0/message/content\" }\n";
        format!("unused = \"allow\"\nfixture = \"callers\"\n{step}{capture}{}", is("said", answer))
    };
    let mut entries: Vec<Entry> = RULES
        .iter()
        .map(|(name, _, fields)| {
            let header = if *name == "header" { "headers = { x-part = \"one\" }\n" } else { "" };
            Entry::played(&format!("callers.when.{name}"), &suite, &[(&scenario(fields, header, name), Says::Green)])
        })
        .collect();
    let of_nobody = scenario(RULES[0].2, "", "header");
    let named = Entry::played("callers.name", &suite, &[(&of_nobody, Says::Red("`another`"))]);
    entries.push(named.with_fixture("callers", turns));
    entries
}

fn rules() -> Vec<Entry> {
    let scenario = |fixture: &str, said: &str| {
        let json = format!("json = {{ messages = [{{ role = \"user\", content = \"{said}\" }}] }}");
        format!(
            "fixture = \"{fixture}\"\n[[step]]\npost = \"/model\"\nheaders = {{ x-retake-caller = \"helper\" }}\n{json}\n"
        )
    };
    let buy = scenario("orders", "buy order-7");
    let orders = || vec![turn(Some("helper"), "buy <ORDER>", "Bought.")];
    let rule = |pattern: &str, replace: &str| {
        format!("{}[[normalize]]\npattern = '{pattern}'\nreplace = \"{replace}\"\n", *BASE)
    };
    let aliased = scenario("aliased", "help");
    let by_another_name = || vec![turn(Some("assistant"), "help", "Here I am.")];
    let suspected = "record::suspects::a_suspected_secret_is_masked_and_no_fixture_is_written_without_a_rule";
    vec![
        Entry::by("requires", "mistakes::folders::a_suite_that_cannot_be_read_stops_the_whole_run"),
        Entry::by("max_age", "runner::hundredth::a_recording_that_is_too_old_is_told_and_fails_nothing"),
        Entry::by("fork.tools", "today::fork_tools::the_real_server_answers_where_the_suite_allows_it"),
        Entry::by("verify", "today::forks::prices_and_verify_are_columns_of_the_table"),
        Entry::by("prices.*.input", "today::forks::prices_and_verify_are_columns_of_the_table"),
        Entry::by("prices.*.cached", "today::forks::prices_and_verify_are_columns_of_the_table"),
        Entry::by("prices.*.output", "today::forks::prices_and_verify_are_columns_of_the_table"),
        Entry::by("suspects.key", suspected),
        Entry::by("suspects.password", suspected),
        Entry::by("suspects.authorization", suspected),
        Entry::by("suspects.cookie", suspected),
        Entry::by("suspects.private-key", suspected),
        Entry::played("normalize.pattern", &BASE, &[(&buy, Says::Red("miss"))]).with_fixture("orders", orders()),
        Entry::played("normalize.pattern", &rule("order-\\d+", "<ORDER>"), &[(&buy, Says::Green)])
            .with_fixture("orders", orders()),
        Entry::played("normalize.replace", &rule("order-\\d+", "<IT>"), &[(&buy, Says::Red("miss"))])
            .with_fixture("orders", orders()),
        Entry::played("aliases", &BASE, &[(&aliased, Says::Red("miss"))]).with_fixture("aliased", by_another_name()),
        Entry::played("aliases", &format!("{}[aliases]\nhelper = \"assistant\"\n", *BASE), &[(&aliased, Says::Green)])
            .with_fixture("aliased", by_another_name()),
    ]
}
