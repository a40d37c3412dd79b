use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_program_that_shows_no_page_is_no_browser() {
    let said = is_browser(Path::new("/bin/true")).unwrap_err().to_string();
    assert!(said.starts_with("/bin/true is no Chromium: ") && said.contains("RETAKE_CHROMIUM"), "{said}");
    assert!(is_browser(Path::new("/nowhere/chromium")).unwrap_err().to_string().contains("cannot be started"));
    let folder = tempfile::tempdir().unwrap();
    let shows = folder.path().join("shows");
    std::fs::write(&shows, "#!/bin/sh\necho '<html><head></head><body></body></html>'\n").unwrap();
    std::fs::set_permissions(&shows, std::fs::Permissions::from_mode(0o755)).unwrap();
    is_browser(&shows).unwrap();
}
