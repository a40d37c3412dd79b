//! If cargo built a runner with libtest's harness, the runner would run no scenario and pass.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { a_runner_without_harness_false_does_not_compile_and_the_error_names_the_line_to_add }

/// Returns the library file that this test program was built with.
fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let built = |path: &PathBuf| -> SystemTime { path.metadata().unwrap().modified().unwrap() };
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libretake-") && name.ends_with(".rlib")
    };
    files.filter(is_library).max_by_key(built).unwrap()
}

/// Compiles a runner as cargo does, with libtest's harness (`--test`) or without it.
fn compile(tree: &Tree, how: &[&str]) -> Ran {
    let library = library();
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let program = Program::new(rustc.as_ref()).args(&["--edition", "2024", "--emit", "metadata"]).args(how);
    let program = program.arg("--extern").arg(format!("retake={}", library.display()));
    let program = program.arg("-L").arg(format!("dependency={}", library.parent().unwrap().display()));
    program.env("CARGO_MANIFEST_DIR", tree.root()).arg("scenarios.rs").in_folder(tree.root()).run()
}

fn a_runner_without_harness_false_does_not_compile_and_the_error_names_the_line_to_add() {
    let tree = Tree::empty();
    tree.write("scenarios.rs", "retake::suite! { router \"agent\" => |_| async { retake::axum::Router::new() } }\n");
    compile(&tree, &["--cfg", "test"]).exits(0);
    let run = compile(&tree, &["--test"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    run.tells(&["error: retake::suite! has a `main` of its own", "harness = false"]);
}
