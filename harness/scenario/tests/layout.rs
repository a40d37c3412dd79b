//! The errors for folders and files that are not where they should be.

use super::{STEP, read, told, tree};

fn assert_layout(files: &[(&str, &str)], says: &str) {
    let root = tree(files);
    assert_eq!(told(root.path()), says);
}

#[test]
fn no_folder_at_all() {
    assert_layout(&[], "there is no folder `scenarios`\n  `retake init` writes a first one");
}

#[test]
fn no_scenario_in_the_folder() {
    let says = "there is no scenario in `scenarios`\n  `retake new NAME` writes one";
    assert_layout(&[("scenarios/", "")], says);
    assert_layout(&[("scenarios/suite.toml", ""), ("scenarios/.git/x", ""), ("scenarios/.DS_Store", "")], says);
}

#[test]
fn the_folder_is_a_file() {
    assert_layout(&[("scenarios", "")], "scenarios: expected a folder, found a file");
}

#[test]
fn a_folder_without_its_file() {
    let says = "[a] scenarios/a: this folder lacks its scenario.toml\n  ";
    assert_layout(&[("scenarios/a/", "")], &format!("{says}add scenarios/a/scenario.toml, or remove the folder"));
    assert_layout(
        &[("scenarios/a/scenarios.toml", STEP)],
        &format!("{says}is `scenarios.toml` meant to be scenarios/a/scenario.toml?"),
    );
    assert_layout(
        &[("scenarios/a/b/scenario.toml", STEP)],
        &format!("{says}scenarios are not nested: each one is a folder right below `scenarios`"),
    );
}

#[test]
fn a_folder_in_place_of_a_file() {
    let step = ("scenarios/b/scenario.toml", STEP);
    let says = "[a] scenarios/a/scenario.toml: expected a file, found a folder\nb";
    assert_layout(&[("scenarios/a/scenario.toml/", ""), step], says);
    assert_layout(&[("scenarios/suite.toml/", ""), step], "scenarios/suite.toml: expected a file, found a folder");
}

#[test]
fn a_stray_file_does_not_hide_the_others() {
    let says = "a\n[sweet.toml] scenarios/sweet.toml: this file belongs to no scenario\n  did you mean `suite.toml`?\n  \
                `scenarios` contains `suite.toml`, and a folder for each scenario";
    assert_layout(&[("scenarios/a/scenario.toml", STEP), ("scenarios/sweet.toml", "")], says);
}

#[test]
fn a_folder_that_cannot_be_a_name() {
    let says = "[My Run] scenarios/My Run: `My Run` cannot be the name of a scenario\n  \
                names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`\n  \
                rename the folder, for example to `my_run`";
    assert_layout(&[("scenarios/My Run/scenario.toml", STEP)], says);
    let says = "[none] scenarios/none: `none` cannot be the name of a scenario\n  \
                fixture = \"none\" says that no model is called";
    assert_layout(&[("scenarios/none/scenario.toml", STEP)], says);
}

#[test]
fn a_folder_and_a_case_of_one_name() {
    let cases = format!("{STEP}[case.b]\n[case.c]\n");
    let files = [("scenarios/a/scenario.toml", cases.as_str()), ("scenarios/a.b/scenario.toml", STEP)];
    let says = "[a.b] two scenarios have the name `a.b`\n  \
                they are in scenarios/a.b/scenario.toml and scenarios/a/scenario.toml\n  \
                a case `b` of the folder `a` is called `a.b`: rename the case or the folder\na.c";
    assert_layout(&files, says);
}

#[test]
fn a_mistake_that_all_cases_share_is_reported_once_and_others_with_their_case() {
    let says = "[a] scenarios/a/scenario.toml:2:7: the path `x` does not start with `/`\n  \
                retake puts the system's address before it: write only the path";
    assert_layout(&[("scenarios/a/scenario.toml", "[[step]]\nget = \"x\"\n[case.b]\n[case.c]\n")], says);
    let text = format!("{STEP}[case.b]\n[case.c]\ntimeout = \"0s\"\n");
    let says = "a.b\n[a.c] scenarios/a/scenario.toml:5:11: a timeout of zero always fails";
    assert_layout(&[("scenarios/a/scenario.toml", &text)], says);
}

#[test]
fn the_folder_of_shared_inputs_is_not_a_scenario() {
    let step = ("scenarios/a/scenario.toml", STEP);
    assert_layout(&[step, ("scenarios/_shared/body.json", "{}")], "a");
    let says = "[_shared] scenarios/_shared: `_shared` contains inputs of several scenarios, and is not a scenario itself\n  \
                move its scenario.toml into a folder of its own\na";
    assert_layout(&[step, ("scenarios/_shared/scenario.toml", STEP)], says);
    let wrong = |named: &str| format!("[[step]]\npost = \"/\"\njson_file = \"{named}\"\n");
    let at = "[a] scenarios/a/scenario.toml:3:13: ";
    for (named, says) in [
        (
            "../_shared/bdy.json",
            "there is no file `bdy.json` in scenarios/_shared\n  did you mean `../_shared/body.json`?",
        ),
        (
            "_shared/body.json",
            "there is no file `_shared/body.json` in scenarios/a\n  did you mean `../_shared/body.json`?",
        ),
        (
            "../_shared/../b/body.json",
            "`../_shared/../b/body.json` is not in the scenario's folder\n  \
             files that several scenarios share are in ../_shared/",
        ),
    ] {
        let files = [("scenarios/a/scenario.toml", &*wrong(named)), ("scenarios/_shared/body.json", "{}")];
        assert_layout(&files, &format!("{at}{says}"));
    }
}

#[test]
fn bytes_that_are_not_text() {
    let root = tree(&[("scenarios/a/scenario.toml", b"description = \"x\"\nsystem = \"caf\xe9\"\n")]);
    assert_eq!(told(root.path()), "[a] scenarios/a/scenario.toml:2:14: the byte 0xe9 is not UTF-8");
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere() {
    let root = tree(&[("scenarios/a/", "")]);
    std::os::unix::fs::symlink("nowhere", root.path().join("scenarios/a/scenario.toml")).unwrap();
    assert_eq!(told(root.path()), "[a] scenarios/a/scenario.toml: expected a file, found a broken link to `nowhere`");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tree(&[("scenarios/a/scenario.toml", STEP)]);
    let file = root.path().join("scenarios/a/scenario.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&file).is_err() {
        assert_eq!(told(root.path()), "[a] scenarios/a/scenario.toml: no permission to read it");
    }
}

#[test]
fn systems_are_those_of_the_suite_and_the_registered_ones() {
    let suite = "[systems.agent]\ncommand = [\"a\"]\nready = { line = \"up\" }\n";
    let named = format!("system = \"agent\"\n{STEP}");
    let files = [
        ("scenarios/suite.toml", suite),
        ("scenarios/a/scenario.toml", STEP),
        ("scenarios/b/scenario.toml", named.as_str()),
    ];
    let says = "[a] scenarios/a/scenario.toml: this scenario does not say which system it is for\n  \
                add system = \"…\", one of `agent`, `gateway`; in scenarios/suite.toml it applies to all scenarios\nb";
    assert_layout(&files, says);
    for (default, says) in [
        ("agent", "a\nb"),
        ("gateway", "a\nb"),
        (
            "gatway",
            "scenarios/suite.toml:1:10: there is no system `gatway`\n  did you mean `gateway`?\n  \
             known here: `agent`, `gateway`",
        ),
    ] {
        let suite = format!("system = \"{default}\"\n{suite}");
        assert_layout(&[("scenarios/suite.toml", &suite), files[1], files[2]], says);
    }

    let mut discovered = read(&files);
    discovered.check_systems(&[]).unwrap();
    assert!(discovered.sound().all(|scenario| scenario.system.as_deref() == Some("agent")));
    assert_eq!(discovered.sound().count(), 2);

    let error = read(&files).check_systems(&["agent"]).unwrap_err();
    let says = "scenarios/suite.toml: the system `agent` is registered in tests/scenarios.rs too";
    assert_eq!(error.to_string(), says);

    let error = read(&[("scenarios/a/scenario.toml", STEP)]).check_systems(&[]).unwrap_err();
    let says = "there is no system to test\n  describe it in scenarios/suite.toml as [systems.NAME], or register a \
                router in tests/scenarios.rs";
    assert_eq!(error.to_string(), says);
}
