use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::copy;

#[test]
fn a_copy_holds_the_files_and_links_to_what_is_large() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |path: &str| {
        let path = from.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    };
    for path in
        ["app.py", "src/deep/x.py", "src/__pycache__/x.pyc", ".git/HEAD", "node_modules/a/index.js", "web/.venv/bin/p"]
    {
        write(path);
    }
    fs::set_permissions(from.path().join("app.py"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("app.py", from.path().join("main")).unwrap();
    symlink("../app.py", from.path().join("src/up")).unwrap();
    symlink("nowhere", from.path().join("broken")).unwrap();
    // A stage in the folder that is copied must not be copied into itself.
    let stage = from.path().join("tmp/stage");
    fs::create_dir_all(&stage).unwrap();

    copy(from.path(), to.path(), Some(&stage)).unwrap();

    let copied = |path: &str| to.path().join(path);
    assert_eq!(fs::read_to_string(copied("src/deep/x.py")).unwrap(), "text");
    assert_eq!(fs::metadata(copied("app.py")).unwrap().permissions().mode() & 0o777, 0o755);
    for gone in [".git", "src/__pycache__", "tmp/stage"] {
        assert!(!copied(gone).exists(), "{gone}");
    }
    let leads_to = |path: &str| fs::read_link(copied(path)).unwrap();
    assert_eq!(leads_to("node_modules"), from.path().join("node_modules"));
    assert_eq!(leads_to("web/.venv"), from.path().join("web/.venv"));
    assert_eq!((leads_to("main"), leads_to("broken")), (Path::new("app.py").into(), Path::new("nowhere").into()));
    assert_eq!(leads_to("src/up"), from.path().join("app.py").canonicalize().unwrap());
}
