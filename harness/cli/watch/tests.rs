use super::*;

const SUITE: &str = "[systems.front]\ncommand = [\"a\"]\ncwd = \"services/front\"\nready = { port = true }\nneeds = [\"store\"]\n\
    [systems.back]\ncommand = [\"a\"]\ncwd = \"services/back\"\nready = { port = true }\n\
    [systems.store]\ncommand = [\"a\"]\ncwd = \"services/store\"\nready = { port = true }\n\
    [systems.anywhere]\ncommand = [\"a\"]\nready = { port = true }\n";
const STEP: &str = "[[step]]\nget = \"/\"\n";

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn four(broken: &str) -> tempfile::TempDir {
    let of = |system: &str| format!("system = \"{system}\"\n{STEP}");
    let cases = format!("{}fixture = \"shared\"\n{STEP}[case.one]\n[case.two]\n", "system = \"back\"\n");
    project(&[
        ("scenarios/suite.toml", SUITE),
        ("scenarios/front/scenario.toml", &of("front")),
        ("scenarios/back/scenario.toml", &cases),
        ("scenarios/anywhere/scenario.toml", &of("anywhere")),
        ("scenarios/broken/scenario.toml", broken),
        ("scenarios/_shared/body.json", "{}"),
        ("services/front/x", ""),
        ("services/back/x", ""),
        ("services/store/x", ""),
    ])
}

#[test]
fn a_file_concerns_the_scenarios_that_it_is_a_part_of() {
    let root = four(&format!("system = \"front\"\nfixture = \"shared\"\n{STEP}"));
    let all = "anywhere back.one back.two broken front";
    for (file, names) in [
        ("scenarios/front/notes.txt", "front"),
        ("scenarios/suite.toml", all),
        ("scenarios/_shared/body.json", all),
        ("goldens/front.snap", "front"),
        ("goldens/worlds/back.one.snap", "back.one"),
        ("goldens/front.snap.new", ""),
        ("goldens/none.snap", ""),
        ("fixtures/front.json", "front"),
        ("fixtures/shared.json", "back.one back.two broken"),
        ("services/back/app.py", "anywhere back.one back.two"),
        ("services/store/app.py", "anywhere broken front"),
        ("README.md", "anywhere"),
    ] {
        let concerned = concerned(root.path(), &[PathBuf::from(file)]).unwrap();
        assert_eq!(concerned.into_iter().collect::<Vec<_>>().join(" "), names, "{file}");
    }
}

#[test]
fn what_cannot_be_read_is_run_so_that_its_mistake_is_told() {
    let root = four("[[step]]\nget = 1\n");
    let told = concerned(root.path(), &["scenarios/front/scenario.toml".into()]).unwrap();
    assert_eq!(told.into_iter().collect::<Vec<_>>(), ["broken", "front"]);
    std::fs::write(root.path().join("scenarios/suite.toml"), "x = 1").unwrap();
    assert_eq!(concerned(root.path(), &["scenarios/front/scenario.toml".into()]), None);
}

#[test]
fn saved_new_and_removed_files_are_told_once_and_what_git_ignores_is_not() {
    let root = project(&[("a/x.py", "1"), ("old.txt", ""), (".gitignore", "*.db\n"), ("node_modules/m/i.js", "")]);
    let mut watched = Watched::new(root.path()).unwrap();
    assert_eq!(watched.files.len(), 2);
    let write = |path: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "2").unwrap();
        // Whatever the clock's steps are, the file is newer.
        let later = SystemTime::now() + Duration::from_secs(1);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
    };
    ["a/x.py", "b/new/y.py", "a/state.db", "node_modules/m/i.js", ".env"].into_iter().for_each(write);
    std::fs::remove_file(root.path().join("old.txt")).unwrap();
    let mut told = watched.look().unwrap();
    told.sort();
    assert_eq!(told, ["a/x.py", "b/new/y.py", "old.txt"].map(PathBuf::from));
    assert!(watched.folders.contains(&root.path().join("b/new")));
    assert_eq!(watched.look().unwrap(), Vec::<PathBuf>::new());
}
