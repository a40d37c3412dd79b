//! The fields of a step.

use super::suites::{BASE, is};
use super::walk::{Entry, Says};
use crate::systems::service::agent;

/// Returns a scenario with these steps that calls no model.
fn steps(steps: &str) -> String {
    format!("system = \"agent\"\nfixture = \"none\"\n{steps}")
}

/// Returns a scenario whose step captures the method and the header `x-team` of its own request.
fn asked(method: &str, fields: &str) -> String {
    let capture = "capture = { method = \"json:/method\", team = \"json:/team\" }";
    steps(&format!("[[step]]\n{method} = \"/request\"\n{fields}\n{capture}\n"))
}

/// Returns a scenario whose golden contains the body of its own request.
fn echoed(fields: &str) -> String {
    steps(&format!("[[step]]\npost = \"/echo\"\n{fields}\ngolden = true\n[golden]\ndetail = \"values\"\n"))
}

pub(super) fn entries() -> Vec<Entry> {
    let played = |field: &str, scenarios: &[(String, Says)]| {
        let scenarios: Vec<(&str, Says)> =
            scenarios.iter().map(|(scenario, says)| (scenario.as_str(), *says)).collect();
        Entry::played(&format!("step.{field}"), &BASE, &scenarios)
    };
    let method = |field: &str| {
        let scenario = asked(field, "") + &is("method", &field.to_uppercase());
        played(field, &[(scenario, Says::Green)])
    };
    let numbers = |fields: &str| steps(&format!("timeout = \"4s\"\n[[step]]\nget = \"/numbers\"\n{fields}\n"));
    let run = |fields: &str| {
        let run = format!("[[step]]\nrun = {}\n{fields}\ngolden = false\n", agent());
        steps(&run)
    };
    let says = |what: &str| format!("env = {{ {what}, MESSAGE = \"x\" }}");
    let pwd = |fields: &str| {
        let step = format!(
            "[[step]]\nrun = [\"sh\", \"-c\", \"test $(basename $PWD) = front && echo 1\"]\n{fields}\ngolden = false\n"
        );
        steps(&step)
    };
    let reads = |name: &str| {
        let step = format!("[[step]]\nrun = [\"grep\", \"-c\", \"hi\", \"{name}\"]\ngolden = false\n");
        steps(&format!("{step}files = {{ \"{name}\" = \"note.txt\" }}\n"))
    };
    let job = |is: &str| {
        steps(&format!("timeout = \"4s\"\n[[step]]\nget = \"/job\"\nwait = {{ json = \"/status\", is = \"{is}\" }}\n"))
    };
    let numbers_left = numbers("cancel = { after = \"number\" }");
    let again = "[[step]]\nget = \"/numbers\"\nstream = { last = \"last\" }\n";
    let meet = "together = [{ get = \"/meet\" }, { get = \"/meet\" }]";
    let status = |status: &str| steps(&format!("[[step]]\nget = \"/count\"\n{status}\n"));
    let plain = "systems::sockets::a_socket_is_recorded_and_goes_on_in_later_steps";
    let socket_io = "systems::sockets::socket_io_connects_answers_pings_and_names_its_events";
    let approved = "systems::approval::a_person_approves_in_the_middle_of_a_run_and_refuses_in_another";
    let approved_twice = "systems::approval::two_approvals_in_one_run_are_waited_for_one_after_another";
    let mut entries = vec![
        Entry::by("step.after.event", approved_twice),
        Entry::by("step.after.times", approved_twice),
        Entry::by("step.after.at", approved),
        Entry::by("step.after.is", approved),
        Entry::by("step.stream.listen", approved),
        Entry::by("step.socket", plain),
        Entry::by("step.send", plain),
        Entry::by("step.send_file", plain),
        Entry::by("step.last", plain),
        Entry::by("step.event", "systems::sockets::what_a_socket_does_wrong_is_told"),
        Entry::by("step.framing", socket_io),
        Entry::by("step.connect", socket_io),
        played("name", &[(status("name = \"counting\"\nstatus = 404"), Says::Red("counting"))]),
        method("get"),
        method("post"),
        method("put"),
        method("patch"),
        method("delete"),
        played("listen", &[(steps("[[step]]\nlisten = \"/events\"\n"), Says::Red("hello"))]),
        played("run", &[(run(&says("FAILS = \"4\"")), Says::Red("exit code 0, found 4"))]),
        played("together", &[(steps(&format!("[[step]]\n{meet}\n")), Says::Green)]),
        played("headers", &[(asked("get", "headers = { x-team = \"red\" }") + &is("team", "red"), Says::Green)]),
        played("json", &[(echoed("json = { a = 1 }"), Says::Red("application/json"))]),
        played("json_file", &[(echoed("json_file = \"body.json\""), Says::Red("null"))])
            .with_file("body.json", "{\"a\": null}"),
        played("form", &[(echoed("form = { a = \"b c\" }"), Says::Red("a=b+c"))]),
        played(
            "files",
            &[(echoed("files = { a = \"note.txt\" }"), Says::Red("filename")), (reads("in/note.txt"), Says::Green)],
        )
        .with_file("note.txt", "hi"),
        played("cwd", &[(pwd(""), Says::Red("exit code")), (pwd("cwd = \"front\""), Says::Green)]),
        played("env", &[(run(&says("FAILS = \"5\"")), Says::Red("exit code 0, found 5"))]),
        played("exit", &[(run(&(says("FAILS = \"6\"") + "\nexit = 6")), Says::Green)]),
        played("status", &[(status(""), Says::Green), (status("status = 404"), Says::Red("404"))]),
        played("capture", &[(status("capture = { absent = \"json:/absent\" }"), Says::Red("/absent"))]),
        played(
            "stream.first",
            &[(numbers("stream = { first = \"zero\", last = \"last\" }"), Says::Red("expected `zero`"))],
        ),
        played(
            "stream.last",
            &[
                (numbers("stream = true"), Says::Red("took longer than")),
                (numbers("stream = { last = \"last\" }"), Says::Red("last")),
            ],
        ),
        played("cancel.after", &[(numbers_left.clone(), Says::Red("left after number"))]),
        played(
            "reconnect",
            &[
                (numbers_left.clone() + again, Says::Red("{n} ×4")),
                (numbers_left + again + "reconnect = true\n", Says::Red("reconnected")),
            ],
        ),
        played("wait.json", &[(job("done"), Says::Green)]),
        played("wait.is", &[(job("finished"), Says::Red("/status did not become \"finished\", but is \"done\""))]),
        Entry::by("step.await.caller", "systems::left::a_step_can_wait_for_the_model_call_of_a_caller"),
        played("golden", &[(status(""), Says::Green), (status("golden = true"), Says::Red("goldens/"))]),
    ];
    entries.extend(pages());
    entries
}

/// Fields of pages are covered by tests that need Chromium.
fn pages() -> Vec<Entry> {
    let found = "browser::finding::an_element_is_found_by_text_role_label_placeholder_test_id_and_css";
    let hidden = "browser::finding::hidden_repeated_missing_and_late_elements_are_distinguished";
    let filled = "browser::finding::fields_are_filled_and_buttons_clicked_as_a_person_would";
    let golden = "browser::finding::the_pages_traffic_and_its_tree_go_into_the_golden";
    let seen = "browser::seeing::what_a_person_would_not_see_is_not_seen_and_the_failure_says_why";
    let picture = "browser::finding::a_screenshot_is_compared_with_an_earlier_run_but_not_in_ci";
    let stored = "browser::finding::local_storage_is_set_before_the_first_script_and_never_again";
    let shown = [
        ("browser", found),
        ("do.see", found),
        ("do.unseen", hidden),
        ("do.once", hidden),
        ("do.above", hidden),
        ("do.visible", seen),
        ("do.within", hidden),
        ("do.click", filled),
        ("do.fill", filled),
        ("do.text", filled),
        ("do.press", filled),
        ("do.goto", stored),
        ("do.reload", stored),
        ("do.aria", golden),
        ("do.screenshot", picture),
        ("do.baseline", picture),
        ("storage", stored),
        ("traffic", golden),
    ];
    shown.map(|(field, test)| Entry::by(&format!("step.{field}"), test)).into()
}

/// The fields of pages that the tests in `browser/ways` show, each with its test.
pub(super) fn of_pages() -> Vec<Entry> {
    let fields: &[(&str, &str)] = &[
        ("do.exact", "an_exact_text_is_the_whole_one"),
        ("do.markdown", "a_text_in_markdown_is_found_as_the_page_renders_it"),
        ("do.nth", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.text", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.role", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.label", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.placeholder", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.testid", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.css", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.exact", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.in.nth", "one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in"),
        ("do.frame", "an_iframe_is_looked_at_and_used_like_the_page"),
        ("do.hover", "files_are_given_to_a_field_and_the_mouse_hovers"),
        ("do.upload", "files_are_given_to_a_field_and_the_mouse_hovers"),
        ("do.files", "files_are_given_to_a_field_and_the_mouse_hovers"),
        ("do.dialog", "dialogs_are_answered_and_never_hold_the_page_up"),
        ("do.retry", "a_group_of_acts_is_tried_again_until_all_succeed"),
        ("do.tolerance", "masks_and_a_tolerance_loosen_a_baseline_and_a_picture_shows_the_rest"),
        ("do.mask", "masks_and_a_tolerance_loosen_a_baseline_and_a_picture_shows_the_rest"),
        ("viewport", "the_window_has_the_size_and_the_colours_that_a_step_asks_for"),
        ("colors", "the_window_has_the_size_and_the_colours_that_a_step_asks_for"),
        ("dialogs", "dialogs_are_answered_and_never_hold_the_page_up"),
    ];
    let entry = |(field, test): &(&str, &str)| {
        Entry::by(&format!("step.{field}"), Box::leak(format!("browser::ways::{test}").into_boxed_str()))
    };
    fields.iter().map(entry).collect()
}
