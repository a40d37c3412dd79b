use super::*;
use crate::report::run_data::{RunAction, RunResult};

fn run(scenario: &str) -> RunData {
    RunData {
        took_ms: 1.5,
        notes: vec!["sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH was sent".to_owned()],
        ..RunData::passed(
            scenario,
            "scenarios/chat/scenario.toml".into(),
            RunAction::Test,
            "2026-11-22T14:15:54.120Z".to_owned(),
        )
    }
}

#[test]
fn a_run_is_read_as_it_was_written_except_for_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::of(folder.path());
    runs.write(&run("chat")).unwrap();
    let read = runs.read("chat").unwrap().unwrap();
    assert_eq!((read.scenario.as_str(), read.result, read.took_ms), ("chat", RunResult::Passed, 1.5));
    assert!(!read.notes[0].contains("abcdefghij") && read.notes[0].ends_with(" was sent"), "{:?}", read.notes);
    assert!(runs.read("other").unwrap().is_none());
    assert_eq!(std::fs::read_to_string(folder.path().join(".retake/.gitignore")).unwrap(), "*\n");
}

#[test]
fn a_run_of_another_version_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::of(folder.path());
    runs.write(&RunData { format: "retake-run/99".to_owned(), ..run("chat") }).unwrap();
    let error = runs.read("chat").unwrap_err().to_string();
    assert!(error.contains("unknown version \"retake-run/99\""), "{error}");
    assert!(error.contains("run the scenario again"), "{error}");
}

#[test]
fn runs_of_other_jobs_are_found_in_any_folder_that_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    Runs::of(folder.path()).write(&run("chat")).unwrap();
    for kept in ["", ".retake", ".retake/runs"] {
        let runs = Runs::of_other_jobs(&folder.path().join(kept)).unwrap();
        assert_eq!(runs.len(), 1, "{kept:?}");
    }
    assert!(Runs::of_other_jobs(&folder.path().join("none")).is_err());
}

#[test]
fn runs_of_deleted_scenarios_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::of(folder.path());
    runs.write(&run("chat")).unwrap();
    runs.write(&run("gone")).unwrap();
    runs.keep_only(|name| name == "chat");
    assert_eq!(runs.all().unwrap().len(), 1);
}
