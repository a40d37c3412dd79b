use super::*;

#[test]
fn a_missing_module_leads_to_the_environment_beside_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let log = ["Traceback".to_owned(), "ModuleNotFoundError: No module named 'fastapi'".to_owned()];
    assert_eq!(hint(&log, "python3", folder.path()), None);
    std::fs::create_dir_all(folder.path().join(".venv/bin")).unwrap();
    std::fs::write(folder.path().join(".venv/bin/python"), "").unwrap();
    let told = hint(&log, "python3", folder.path()).unwrap();
    assert!(told.contains("`fastapi`") && told.ends_with("command = [\".venv/bin/python\", …]"), "{told}");
    let told = hint(&log, ".venv/bin/python", folder.path()).unwrap();
    assert!(told.ends_with("not installed in its environment: .venv/bin/python -m pip install …"), "{told}");
    assert_eq!(hint(&log[..1], "python3", folder.path()), None);
}
