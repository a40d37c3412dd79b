//! What happens to goldens whatever the environment says and the disk does: written whole or not at all, and never by insta.

use crate::runner::discovery::asking;
use crate::support::fixtures::{self, turn};
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { no_variable_of_insta_turns_a_wrong_golden_green_or_writes_it,
    no_variable_of_insta_turns_a_right_golden_red,
    a_golden_is_whole_when_the_disk_is_full_or_the_runner_is_killed_at_the_write,
    a_proposal_is_whole_when_the_disk_is_full_or_the_runner_is_killed_at_the_write,
    a_checkout_that_cannot_be_written_is_green_and_tells_a_difference,
}

/// All that insta reads of the environment, with what would do most.
const VARIABLES: [(&str, &str); 13] = [
    ("INSTA_FORCE_UPDATE", "1"),
    ("INSTA_FORCE_UPDATE_SNAPSHOTS", "1"),
    ("INSTA_FORCE_PASS", "1"),
    ("INSTA_UPDATE", "always"),
    ("INSTA_UPDATE", "force"),
    ("INSTA_UPDATE", "nonsense"),
    ("INSTA_OUTPUT", "nonsense"),
    ("INSTA_REQUIRE_FULL_MATCH", "1"),
    ("INSTA_PENDING_DIR", "/nowhere"),
    ("INSTA_WORKSPACE_ROOT", "/nowhere"),
    ("INSTA_CARGO_INSTA", "1"),
    ("INSTA_DIFF_TOOL", "false"),
    ("INSTA_YAML_BLOCK_STYLE", "1"),
];

/// A scenario with a golden.
fn tree() -> Tree {
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    tree.scenario("hello", &asking("Hello"));
    fixtures::write(&tree, "hello", vec![turn(None, "\"Hello\"", "Hi")]);
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0);
    tree
}

const GOLDEN: &str = "goldens/hello.snap";
const PENDING: &str = "goldens/hello.snap.new";

fn no_variable_of_insta_turns_a_wrong_golden_green_or_writes_it() {
    let tree = tree();
    tree.replace(GOLDEN, "text       string", "text       number");
    let before = tree.files();
    for (name, value) in VARIABLES {
        tree.runner("oddities").env(name, value).env("CI", "1").run().exits(101).says(&["golden: "]);
        assert_eq!(tree.files(), before, "{name}={value}");
        tree.runner("oddities").env(name, value).run().exits(101).says(&["golden: "]);
        assert!(tree.has(PENDING), "{name}={value}");
        tree.remove(PENDING);
        assert_eq!(tree.files(), before, "{name}={value}");
    }
    // Nor a setting in its file.
    tree.write("insta.yaml", "behavior:\n  update: force\n  force_update: true\n  force_pass: true\n");
    tree.runner("oddities").env("CI", "1").run().exits(101).says(&["golden: "]);
}

fn no_variable_of_insta_turns_a_right_golden_red() {
    let tree = tree();
    // Of an editor that ends lines its own way, so that insta is asked; a full match would want the header equal as well.
    tree.replace(GOLDEN, "input_file: ", "source: elsewhere.rs\ninput_file: elsewhere/");
    tree.write(GOLDEN, &tree.read(GOLDEN).replace('\n', "\r\n"));
    let before = tree.files();
    for (name, value) in VARIABLES {
        tree.runner("oddities").env(name, value).run().exits(0);
        assert_eq!(tree.files(), before, "{name}={value}");
    }
}

/// With no room for a byte: a write fails, or kills the program where it does not `survive` that.
fn on_a_full_disk(program: Program, survive: bool) -> Ran {
    let command = program.into_command();
    let trap = if survive { "trap '' XFSZ; " } else { "" };
    let limited = format!("{trap}ulimit -c 0; ulimit -f 0; exec \"$0\" \"$@\"");
    let mut again = Program::new("sh".as_ref()).args(&["-c", &limited]).arg(command.get_program());
    for arg in command.get_args() {
        again = again.arg(arg);
    }
    for (name, value) in command.get_envs() {
        again = match value {
            Some(value) => again.env(&name.to_string_lossy(), value),
            None => again,
        };
    }
    again.run()
}

fn a_golden_is_whole_when_the_disk_is_full_or_the_runner_is_killed_at_the_write() {
    let tree = tree();
    tree.replace(GOLDEN, "text       string", "text       number");
    let before = tree.files();
    for survive in [true, false] {
        let run = on_a_full_disk(tree.runner("oddities").env("UPDATE_GOLDEN", "1"), survive);
        assert_ne!(run.code, Some(0), "{}", run.all());
        assert_eq!(tree.read(GOLDEN), before[GOLDEN], "{}", run.all());
        if survive {
            run.tells(&["goldens/hello.snap"]);
            assert_eq!(tree.files(), before);
        }
    }
}

fn a_proposal_is_whole_when_the_disk_is_full_or_the_runner_is_killed_at_the_write() {
    let tree = tree();
    tree.replace(GOLDEN, "text       string", "text       number");
    tree.runner("oddities").run().exits(101);
    // Of another run: it would be written anew.
    let before = tree.read(PENDING).replace("number", "of another run");
    tree.write(PENDING, &before);
    for survive in [true, false] {
        let run = on_a_full_disk(tree.runner("oddities"), survive);
        assert_eq!(tree.read(PENDING), before, "{}", run.all());
        if survive {
            run.exits(101).says(&["golden: "]);
        }
    }
}

/// A mount that is read-only, as a container has its sources. Where this machine lets nobody mount, there is nothing to see.
fn a_checkout_that_cannot_be_written_is_green_and_tells_a_difference() {
    if !Program::new("unshare".as_ref()).args(&["-rm", "true"]).starts() {
        return;
    }
    let tree = tree();
    let read_only = |tree: &Tree| {
        let command = tree.runner("oddities").into_command();
        let mount = "mount --bind \"$R\" \"$R\" && mount -o remount,ro,bind \"$R\" && exec \"$0\"";
        let run = Program::new("unshare".as_ref()).args(&["-rm", "sh", "-c", mount]).arg(command.get_program());
        let envs = command.get_envs().filter_map(|(name, value)| Some((name.to_string_lossy(), value?)));
        envs.fold(run.env("R", tree.root()), |run, (name, value)| run.env(&name, value)).run()
    };
    read_only(&tree).exits(0);
    tree.replace(GOLDEN, "text       string", "text       number");
    read_only(&tree).exits(101).says(&["golden: "]);
}
