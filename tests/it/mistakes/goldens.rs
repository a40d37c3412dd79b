//! Mistakes that a person can make in a golden: each is an error that names the command that fixes it, and the other scenarios
//! run.

use crate::mistakes::spoilt::{Mistake, copies, only_these_fail, write_bytes};
#[cfg(unix)]
use crate::mistakes::spoilt::{link, pipe, without_permissions};
use crate::support::tree::undated;

tests! { each_mistake_in_a_golden_is_reported_and_the_command_fixes_it,
    an_entry_that_is_not_a_file_in_place_of_a_golden_is_named_and_never_overwritten,
    a_golden_saved_by_another_editor_is_the_same,
    a_golden_that_cannot_be_written_is_reported,
}

/// The mistakes. Each is one change of a good golden.
const GOLDENS: &[Mistake] = &[
    ("empty", |_| Vec::new(), ": the file is empty, expected `---` as the first line of a golden"),
    (
        "no-utf8",
        |good| good.as_bytes().split(|byte| *byte == b'{').collect::<Vec<_>>().join(&b"\xff"[..]),
        ":10:11: the byte 0xff is not UTF-8",
    ),
    (
        "mark",
        |good| format!("\u{feff}{good}").into(),
        ":1:1: expected `---` as the first line of a golden, found a byte-order mark before it",
    ),
    (
        "no-header",
        |good| good.split("---\n").nth(2).unwrap().into(),
        ":1:1: expected `---` as the first line of a golden, found `POST /ask`",
    ),
    (
        "foreign",
        |_| b"# My snapshot\n\nhello\n".to_vec(),
        ":1:1: expected `---` as the first line of a golden, found `# My snapshot`",
    ),
    (
        "header-of-another",
        |good| good.replace("input_file: ", "input_file: [").into(),
        ": its header is not that of a snapshot: expected the field `input_file` between two lines `---`",
    ),
    (
        "header-of-a-list",
        |_| b"---\n- a\n---\nPOST /ask\n".to_vec(),
        ": its header is not that of a snapshot: expected the field `input_file` between two lines `---`",
    ),
    (
        "binary",
        |_| b"---\nsource: x\nextension: bin\nsnapshot_kind: binary\n---\n".to_vec(),
        ": a binary snapshot, expected text",
    ),
    (
        "of-another",
        // The other mistakes are made in this golden, too, but they come first.
        |good| good.into(),
        ":2:1: `input_file` says that it is the golden of greeting/scenario.toml, expected of-another/scenario.toml\n  \
         to get the one back that was committed: git checkout goldens/of-another.snap",
    ),
    (
        "conflict",
        |good| {
            good.replace("answer    {text}", "<<<<<<< HEAD\nanswer    {text}\n=======\nanswer    {}\n>>>>>>> topic")
                .into()
        },
        ":10:1: a merge conflict is left in this file: the line begins with `<<<<<<<`\n  \
         keep one of its sides, and remove the markers down to line 14",
    ),
    (
        "conflict-in-the-header",
        |good| good.replace("input_file: ", "<<<<<<< HEAD\ninput_file: a\n=======\n>>>>>>> topic\ninput_file: ").into(),
        ":5:1: a merge conflict is left in this file: the line begins with `<<<<<<<`\n  \
         keep one of its sides, and remove the markers down to line 8",
    ),
];

fn each_mistake_in_a_golden_is_reported_and_the_command_fixes_it() {
    let names: Vec<&str> = GOLDENS.iter().map(|(name, ..)| *name).collect();
    let tree = copies(&names);
    let good = tree.read("goldens/greeting.snap");
    for (name, spoil, _) in GOLDENS {
        write_bytes(&tree, &format!("goldens/{name}.snap"), &spoil(&good));
    }
    let run = tree.runner("oddities").run().exits(101);
    for (name, _, says) in GOLDENS {
        let command = format!("to rewrite it:\n    UPDATE_GOLDEN=1 cargo test --test scenarios {name}");
        assert_eq!(run.failure(name), format!("goldens/{name}.snap{says}\n\n{command}"), "{name}");
    }
    only_these_fail(&run, &names);
    // insta would print its own messages for some of these, with paths of this machine.
    let (count, told) = (names.len(), run.stderr.lines().filter(|line| line.starts_with("  ")).count());
    assert!(run.stderr.starts_with("slowest: ") && told == count, "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), count + 2, "{}", run.stderr);
    only_these_fail(&tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0), &[]);
    only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
    for (name, ..) in GOLDENS {
        assert_eq!(undated(&tree.read(&format!("goldens/{name}.snap"))), undated(&good.replace("greeting", name)));
    }
}

#[cfg(not(unix))]
fn an_entry_that_is_not_a_file_in_place_of_a_golden_is_named_and_never_overwritten() {}

#[cfg(unix)]
fn an_entry_that_is_not_a_file_in_place_of_a_golden_is_named_and_never_overwritten() {
    let names = ["folder", "nowhere", "cycle", "linked", "pipe"];
    let tree = copies(&names);
    for name in names {
        tree.remove(&format!("goldens/{name}.snap"));
    }
    std::fs::create_dir(tree.path("goldens/folder.snap")).unwrap();
    link(&tree, "goldens/nowhere.snap", "gone.snap");
    link(&tree, "goldens/cycle.snap", "cycle.snap");
    link(&tree, "goldens/linked.snap", "greeting.snap");
    pipe(&tree.path("goldens/pipe.snap"));
    for update in ["0", "1"] {
        let run = tree.runner("oddities").env("UPDATE_GOLDEN", update).run().exits(101);
        for (name, why) in [
            ("folder", "it is a folder, expected a file"),
            ("nowhere", "it is a broken link to `gone.snap`"),
            ("cycle", "it is a broken link to `cycle.snap`"),
            ("pipe", "it is a named pipe, expected a file"),
        ] {
            let command = format!("after removing it:\n    UPDATE_GOLDEN=1 cargo test --test scenarios {name}");
            assert_eq!(run.failure(name), format!("goldens/{name}.snap: failed to read it: {why}\n\n{command}"));
        }
        only_these_fail(&run, &["folder", "nowhere", "cycle", "pipe"]);
    }
    assert!(!tree.has("goldens/gone.snap"));
}

fn a_golden_saved_by_another_editor_is_the_same() {
    let tree = copies(&["line-ends", "no-line-end", "blank-lines"]);
    let good = |name: &str| tree.read(&format!("goldens/{name}.snap"));
    tree.write("goldens/line-ends.snap", &good("line-ends").replace('\n', "\r\n"));
    tree.write("goldens/no-line-end.snap", good("no-line-end").trim_end());
    tree.write("goldens/blank-lines.snap", &format!("{}\n\n", good("blank-lines")));
    only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
}

#[cfg(not(unix))]
fn a_golden_that_cannot_be_written_is_reported() {}

#[cfg(unix)]
fn a_golden_that_cannot_be_written_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = copies(&["held"]);
    let differing = tree.read("goldens/held.snap").replace("{text}", "{}");
    tree.write("goldens/held.snap", &differing);
    let (file, folder) = (tree.path("goldens/held.snap"), tree.path("goldens"));
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&file, mode(0o444)).unwrap();
    std::fs::set_permissions(&folder, mode(0o555)).unwrap();
    if let Some(runner) = without_permissions(&tree) {
        let run = runner.env("UPDATE_GOLDEN", "1").run().exits(101);
        run.says(&["goldens/held.snap: failed to write it: no permission", "is there permission to write it"]);
        assert_eq!(tree.read("goldens/held.snap"), differing);
    }
    std::fs::set_permissions(&folder, mode(0o755)).unwrap();
}
