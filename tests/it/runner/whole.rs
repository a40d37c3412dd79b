//! Goldens are written whole or not at all, and never by insta, whatever the environment contains and even if a write fails.

use crate::runner::discovery::asking;
use crate::support::fixtures::{self, turn};
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { no_variable_of_insta_makes_a_wrong_golden_pass_or_writes_it,
    no_variable_of_insta_makes_a_right_golden_fail,
    a_golden_stays_whole_if_the_disk_is_full_or_the_runner_is_killed_while_writing,
    a_pending_golden_stays_whole_if_the_disk_is_full_or_the_runner_is_killed_while_writing,
    a_read_only_checkout_passes_and_still_reports_a_different_golden,
}

/// All variables that insta reads, with the values that would have the greatest effect.
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

/// Returns a project with one scenario and its golden.
fn tree() -> Tree {
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    tree.scenario("hello", &asking("Hello"));
    fixtures::write(&tree, "hello", vec![turn(None, "\"Hello\"", "Hi")]);
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0);
    tree
}

const GOLDEN: &str = "goldens/hello.snap";
const PENDING: &str = "goldens/hello.snap.new";

fn no_variable_of_insta_makes_a_wrong_golden_pass_or_writes_it() {
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
    // A setting in insta's file has no effect either.
    tree.write("insta.yaml", "behavior:\n  update: force\n  force_update: true\n  force_pass: true\n");
    tree.runner("oddities").env("CI", "1").run().exits(101).says(&["golden: "]);
}

fn no_variable_of_insta_makes_a_right_golden_fail() {
    let tree = tree();
    // With other line ends and another header, the texts are no longer equal, so insta compares them. A full match would
    // also compare the header.
    tree.replace(GOLDEN, "input_file: ", "source: elsewhere.rs\ninput_file: elsewhere/");
    tree.write(GOLDEN, &tree.read(GOLDEN).replace('\n', "\r\n"));
    let before = tree.files();
    for (name, value) in VARIABLES {
        tree.runner("oddities").env(name, value).run().exits(0);
        assert_eq!(tree.files(), before, "{name}={value}");
    }
}

/// Runs a program that may not write a single byte to a file. A write kills it, or fails if it is to `survive`.
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

fn a_golden_stays_whole_if_the_disk_is_full_or_the_runner_is_killed_while_writing() {
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

fn a_pending_golden_stays_whole_if_the_disk_is_full_or_the_runner_is_killed_while_writing() {
    let tree = tree();
    tree.replace(GOLDEN, "text       string", "text       number");
    tree.runner("oddities").run().exits(101);
    // A pending golden that differs from this run's, so the run has to write it.
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

/// A read-only mount, such as the sources in a container. Passes without a check if this machine does not allow mounts.
fn a_read_only_checkout_passes_and_still_reports_a_different_golden() {
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
