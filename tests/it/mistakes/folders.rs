//! Mistakes that a person can make with folders and names, with the files that steps send, and with the file `suite.toml`.

use crate::mistakes::spoilt::{SILENT, only_these_fail, write_bytes};
#[cfg(unix)]
use crate::mistakes::spoilt::{forbid, link, pipe, without_permissions};
use crate::runner::discovery::{asking, greeting};

tests! { each_entry_that_is_not_a_scenario_is_reported_with_the_nearest_name,
    control_characters_in_a_name_are_escaped,
    files_that_editors_leave_behind_are_ignored,
    a_file_that_a_step_sends_has_to_be_in_the_scenarios_folder,
    a_suite_that_cannot_be_read_stops_the_whole_run,
    files_without_permission_to_read_are_named,
    a_rendered_step_is_checked_before_it_is_sent,
}

fn each_entry_that_is_not_a_scenario_is_reported_with_the_nearest_name() {
    let tree = greeting();
    let rule = "names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`";
    let names = [
        ("with space", "with_space"),
        ("Upper", "upper"),
        ("-dash", "dash"),
        ("a,b", "a_b"),
        ("q\"uote", "q_uote"),
        ("{{ run }}", "run"),
        ("%41", "41"),
        ("trailing ", "trailing"),
        // This name differs from an existing one only in case. It is not a valid name, and the other scenario runs.
        ("Greeting", ""),
        ("ünï", ""),
        ("日本", ""),
        ("~", ""),
    ];
    for (name, _) in names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), SILENT);
    }
    for name in ["dotted.name", "under_score", "9"] {
        tree.write(&format!("scenarios/{name}/scenario.toml"), SILENT);
    }
    tree.write("scenarios/none/scenario.toml", SILENT);
    tree.write("scenarios/stray", "");
    tree.write("scenarios/suite.tml", "");
    tree.write("scenarios/bare/notes.txt", "");
    tree.write("scenarios/caps/Scenario.toml", SILENT);
    tree.write("scenarios/kept/scenario.toml~", SILENT);
    tree.write("scenarios/outer/inner/scenario.toml", SILENT);
    tree.write("scenarios/inside/scenario.toml/x", "");
    tree.write("scenarios/stepless/scenario.toml", "");
    tree.write("scenarios/cases/scenario.toml", &format!("{}[case.a]\n[case.b]\n", asking("Hello")));
    tree.write("scenarios/conflict/scenario.toml", &format!("<<<<<<< HEAD\n{SILENT}=======\n>>>>>>> topic\n"));
    let run = tree.runner("oddities").run().exits(101);
    for (name, near) in names {
        let near =
            if near.is_empty() { String::new() } else { format!("\n  rename the folder, for example to `{near}`") };
        let says = format!("scenarios/{name}: `{name}` cannot be the name of a scenario\n  {rule}{near}");
        assert_eq!(run.failure(name), says);
    }
    let no_fixture = "has no fixture: fixtures/cases.a.json does not exist\n  to record it: retake record cases.a\n  or, if \
                      the scenario calls no model: fixture = \"none\"";
    for (name, says) in [
        (
            "none",
            "scenarios/none: `none` cannot be the name of a scenario\n  fixture = \"none\" says that no model is called",
        ),
        (
            "stray",
            "scenarios/stray: this file belongs to no scenario\n  `scenarios` contains `suite.toml`, and a folder for each scenario",
        ),
        (
            "suite.tml",
            "scenarios/suite.tml: this file belongs to no scenario\n  did you mean `suite.toml`?\n  `scenarios` contains \
                       `suite.toml`, and a folder for each scenario",
        ),
        (
            "bare",
            "scenarios/bare: this folder lacks its scenario.toml\n  add scenarios/bare/scenario.toml, or remove the folder",
        ),
        (
            "caps",
            "scenarios/caps: this folder lacks its scenario.toml\n  is `Scenario.toml` meant to be scenarios/caps/scenario.toml?",
        ),
        (
            "kept",
            "scenarios/kept: this folder lacks its scenario.toml\n  is `scenario.toml~` meant to be scenarios/kept/scenario.toml?",
        ),
        (
            "outer",
            "scenarios/outer: this folder lacks its scenario.toml\n  scenarios are not nested: each one is a folder right \
                   below `scenarios`",
        ),
        ("inside", "scenarios/inside/scenario.toml: expected a file, found a folder"),
        (
            "stepless",
            "scenarios/stepless/scenario.toml: a scenario needs at least one [[step]]\n  a step is one request: post = \
                      \"/path\", json = { … }",
        ),
        ("cases.a", &format!("the scenario {no_fixture}")),
        (
            "conflict",
            "scenarios/conflict/scenario.toml:1:1: a merge conflict is left in this file: the line begins with \
                      `<<<<<<<`\n  keep one of its sides, and remove the markers down to line 6",
        ),
    ] {
        assert_eq!(run.failure(name), says);
    }
    for name in ["greeting", "dotted.name", "under_score", "9", "retake::no_orphans"] {
        assert_eq!(run.trials().get(name), Some(&"ok"), "{name}: {}", run.stdout);
    }
}

#[cfg(not(unix))]
fn control_characters_in_a_name_are_escaped() {}

#[cfg(unix)]
fn control_characters_in_a_name_are_escaped() {
    let tree = greeting();
    // Line breaks, colours and changes of the text direction in a name do not disturb the report.
    tree.write("scenarios/\u{1b}[31m\u{202e}red/scenario.toml", SILENT);
    let long = "a".repeat(250);
    tree.write(&format!("scenarios/{long}/scenario.toml"), SILENT);
    tree.write("scenarios/two\nlines/scenario.toml", SILENT);
    let run = tree.runner("oddities").run().exits(101);
    let says = format!(
        "scenarios/{long}: `{long}` cannot be the name of a scenario\n  it is 250 bytes long; at most 200 are allowed"
    );
    assert_eq!(run.failure(&long), says);
    assert!(run.failure("\\u{1b}[31m\\u{202e}red").contains("cannot be the name of a scenario"));
    assert!(run.failure("two\\nlines").starts_with("scenarios/two\\nlines: `two\\nlines` cannot be the name"));
}

fn files_that_editors_leave_behind_are_ignored() {
    let tree = greeting();
    for file in
        ["suite.toml~", "#suite.toml#", ".suite.toml.swp", ".DS_Store", "Thumbs.db", ".git/x", ".hidden/scenario.toml"]
    {
        tree.write(&format!("scenarios/{file}"), "no TOML");
    }
    for file in ["scenario.toml~", ".scenario.toml.swp", ".DS_Store", "notes.txt"] {
        tree.write(&format!("scenarios/greeting/{file}"), "no TOML");
    }
    for file in ["fixtures/.DS_Store", "fixtures/greeting.json~", "goldens/.DS_Store", "goldens/greeting.snap~"] {
        tree.write(file, "no JSON");
    }
    let mut green = vec![("greeting", "ok"), ("retake::no_orphans", "ok")];
    #[cfg(unix)]
    {
        // Links to a file or a folder work like their targets.
        tree.write("elsewhere/scenario.toml", SILENT);
        link(&tree, "scenarios/linked/scenario.toml", "../../elsewhere/scenario.toml");
        link(&tree, "scenarios/folder", "../elsewhere");
        green.extend([("linked", "ok"), ("folder", "ok")]);
    }
    tree.runner("oddities").run().exits(0).trials_are(&green);
    #[cfg(unix)]
    {
        link(&tree, "scenarios/nowhere", "gone");
        link(&tree, "scenarios/cycle", "cycle");
        link(&tree, "scenarios/empty/scenario.toml", "gone.toml");
        let run = tree.runner("oddities").run().exits(101);
        for (name, to) in [("nowhere", "gone"), ("cycle", "cycle")] {
            let says = format!("scenarios/{name}: expected the folder of a scenario, found a broken link to `{to}`");
            assert_eq!(run.failure(name), format!("{says}\n  point the link at a folder, or remove it"));
        }
        let says = "scenarios/empty/scenario.toml: expected a file, found a broken link to `gone.toml`";
        assert_eq!(run.failure("empty"), says);
        only_these_fail(&run, &["nowhere", "cycle", "empty"]);
    }
}

fn a_file_that_a_step_sends_has_to_be_in_the_scenarios_folder() {
    let tree = greeting();
    let cases = [
        (
            "missing",
            "bodi.json",
            "scenario.toml:4:13: there is no file `bodi.json` in scenarios/missing\n  did you mean `body.json`?",
        ),
        (
            "outside",
            "../suite.toml",
            "scenario.toml:4:13: `../suite.toml` is not in the scenario's folder\n  files that several scenarios share are in ../_shared/",
        ),
        (
            "absolute",
            "/etc/hosts",
            "scenario.toml:4:13: `/etc/hosts` is not in the scenario's folder\n  files that several scenarios share are in ../_shared/",
        ),
        ("folder", "inner", "inner: expected a file, found a folder\n  named by scenarios/folder/scenario.toml:4:13"),
        (
            "empty",
            "empty.json",
            "empty.json:1:1: this is not JSON: expected a JSON value, found the end of the text\n  named by scenarios/empty/scenario.toml:4:13",
        ),
        (
            "syntax",
            "bad.json",
            "bad.json:2:6: this is not JSON: expected `:`, found '2'\n  named by scenarios/syntax/scenario.toml:4:13",
        ),
        (
            "twice",
            "twice.json",
            "twice.json:1:10: this is not JSON: the key \"a\" appears twice in this object\n  named by scenarios/twice/scenario.toml:4:13",
        ),
    ];
    for (name, file, _) in cases {
        let step = format!("{SILENT}json_file = \"{file}\"\n");
        tree.write(&format!("scenarios/{name}/scenario.toml"), &step);
        for (file, text) in [
            ("body.json", "{}"),
            ("inner/x", ""),
            ("empty.json", ""),
            ("bad.json", "{\"a\": 1,\n \"b\" 2}"),
            ("twice.json", "{\"a\": 1, \"a\": 2}"),
        ] {
            tree.write(&format!("scenarios/{name}/{file}"), text);
        }
    }
    let run = tree.runner("oddities").run().exits(101);
    for (name, _, says) in cases {
        assert_eq!(run.failure(name), format!("scenarios/{name}/{says}"));
    }
    only_these_fail(&run, &cases.map(|(name, ..)| name));
    #[cfg(unix)]
    {
        tree.write("scenarios/nowhere/scenario.toml", &format!("{SILENT}json_file = \"body.json\"\n"));
        link(&tree, "scenarios/nowhere/body.json", "gone.json");
        for (name, field) in [("piped", "json_file = \"pipe\""), ("uploaded", "files = { a = \"pipe\" }")] {
            tree.write(&format!("scenarios/{name}/scenario.toml"), &format!("{SILENT}{field}\n"));
            pipe(&tree.path(&format!("scenarios/{name}/pipe")));
        }
        let run = tree.runner("oddities").run().exits(101);
        let says =
            "scenarios/nowhere/scenario.toml:4:13: `body.json`: expected a file, found a broken link to `gone.json`";
        assert_eq!(run.failure("nowhere"), says);
        let says =
            "scenarios/piped/pipe: expected a file, found a named pipe\n  named by scenarios/piped/scenario.toml:4:13";
        assert_eq!(run.failure("piped"), says);
        let says = "scenarios/uploaded/scenario.toml:4:15: `pipe`: expected a file, found a named pipe";
        assert_eq!(run.failure("uploaded"), says);
    }
}

fn a_suite_that_cannot_be_read_stops_the_whole_run() {
    let tree = greeting();
    let says = |text: &str| drop(tree.runner("oddities").run().exits(2).says(&[text]));
    write_bytes(&tree, "scenarios/suite.toml", b"# caf\xe9\n");
    says("error: scenarios/suite.toml:1:6: the byte 0xe9 is not UTF-8");
    tree.write("scenarios/suite.toml", "<<<<<<< HEAD\nsettle = \"1s\"\n=======\n>>>>>>> topic\n");
    says("error: scenarios/suite.toml:1:1: a merge conflict is left in this file");
    tree.write("scenarios/suite.toml", "of_tomorrow = 1\nrequires = \">=99.1\"\n");
    says("error: scenarios/suite.toml:2:12: this project requires Retake >=99.1, and this is ");
    tree.write("scenarios/suite.toml", "requires = \"new\"\n");
    says("error: scenarios/suite.toml:1:12: expected versions, such as \">=0.3\": ");
    tree.remove("scenarios/suite.toml");
    std::fs::create_dir(tree.path("scenarios/suite.toml")).unwrap();
    says("error: scenarios/suite.toml: expected a file, found a folder");
    std::fs::remove_dir(tree.path("scenarios/suite.toml")).unwrap();
    #[cfg(unix)]
    {
        link(&tree, "scenarios/suite.toml", "gone.toml");
        says("error: scenarios/suite.toml: expected a file, found a broken link to `gone.toml`");
        tree.remove("scenarios/suite.toml");
        pipe(&tree.path("scenarios/suite.toml"));
        says("error: scenarios/suite.toml: expected a file, found a named pipe");
        tree.remove("scenarios/suite.toml");
        link(&tree, "scenarios/suite.toml", "/dev/zero");
        says("error: scenarios/suite.toml: expected a file, found a device");
        tree.remove("scenarios/suite.toml");
    }
    tree.write("scenarios/suite.toml", &"# too much\n".repeat(2_000_000));
    says("error: scenarios/suite.toml: the file is too large: 20 MB, expected 16 MB at most");
    std::fs::remove_dir_all(tree.path("scenarios")).unwrap();
    tree.write("scenarios", "");
    says("error: scenarios: expected a folder, found a file");
}

#[cfg(not(unix))]
fn files_without_permission_to_read_are_named() {}

#[cfg(unix)]
fn files_without_permission_to_read_are_named() {
    let tree = greeting();
    for name in ["file", "folder", "body"] {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &format!("{SILENT}json_file = \"body.json\"\n"));
        tree.write(&format!("scenarios/{name}/body.json"), "{}");
    }
    let forbidden = ["scenarios/file/scenario.toml", "scenarios/folder", "scenarios/body/body.json"];
    for path in forbidden {
        forbid(&tree.path(path));
    }
    let Some(runner) = without_permissions(&tree) else { return };
    let run = runner.run().exits(101);
    let denied = "no permission to read it";
    assert_eq!(run.failure("file"), format!("scenarios/file/scenario.toml: {denied}"));
    assert_eq!(run.failure("folder"), format!("scenarios/folder/scenario.toml: {denied}"));
    let named = "named by scenarios/body/scenario.toml:4:13";
    assert_eq!(run.failure("body"), format!("scenarios/body/body.json: {denied}\n  {named}"));
    only_these_fail(&run, &["file", "folder", "body"]);
    for (path, says) in [
        ("scenarios/suite.toml", "error: scenarios/suite.toml: no permission to read it"),
        ("scenarios", "error: scenarios: no permission to read it"),
    ] {
        forbid(&tree.path(path));
        without_permissions(&tree).unwrap().run().exits(2).says(&[says]);
    }
    // The permissions are restored, because a folder that its owner may not enter cannot be removed.
    for path in ["scenarios", "scenarios/folder"] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(tree.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn a_rendered_step_is_checked_before_it_is_sent() {
    let tree = greeting();
    let silent = |path: &str, rest: &str| format!("fixture = \"none\"\n[[step]]\npost = \"{path}\"\n{rest}");
    // The first path would change the host if it were appended to the system's address.
    let cases = [
        ("machine", silent("{{ a }}", "[vars]\na = \"@machine.invalid/\"\n")),
        ("header", silent("/silent", "headers = { x = \"{{ a }}\" }\n[vars]\na = \"1\\n2\"\n")),
        ("attribute", silent("/silent", "json = { x = \"{{ user.nmae }}\" }\n[vars]\nuser = { name = \"ann\" }\n")),
        (
            "endless",
            silent(
                "/silent",
                "json = \"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}\"\n",
            ),
        ),
        ("huge", silent("/silent", "json = \"{% for a in range(99999) %}{{ 'x' * 99999 }}{% endfor %}\"\n")),
    ];
    for (name, text) in &cases {
        tree.write(&format!("scenarios/{name}/scenario.toml"), text);
    }
    let run = tree.runner("oddities").run().exits(101);
    for (name, says) in [
        (
            "machine",
            ":3:8: failed to take step 1 (POST @machine.invalid/): the path is `@machine.invalid/`, which does not start with `/`\n  \
             retake puts the system's address before it: a template gives only the path",
        ),
        (
            "header",
            ":4:17: failed to take step 1 (POST /silent): the header `x` would contain '\\n', and a header's value is one line of text",
        ),
        (
            "attribute",
            ":4:18: failed to take step 1 (POST /silent): `user.nmae` is not defined\n  did you mean `name`?",
        ),
        (
            "endless",
            ":4:8: failed to take step 1 (POST /silent): `{% for a in range(99999) %}{% for b in range(99999) %}{% end…` takes \
             more than 1000000 steps to render",
        ),
        (
            "huge",
            ":4:8: failed to take step 1 (POST /silent): `{% for a in range(99999) %}{{ 'x' * 99999 }}{% endfor %}` renders to \
             more than 16 MB",
        ),
    ] {
        let looked_into = format!("to see what happened, step by step and call by call:\n    retake explain {name}");
        assert_eq!(run.failure(name), format!("scenarios/{name}/scenario.toml{says}\n\n{looked_into}"));
    }
    only_these_fail(&run, &cases.map(|(name, _)| name));
}
