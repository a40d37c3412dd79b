//! Tests the check on small made-up libraries: it finds each fault, names its place, and reports nothing else.

use super::check::all;
use super::library::Files;
use super::public::LIST;
use super::walks::PAGE;

tests!(
    a_library_in_order_has_no_faults,
    a_module_without_a_row_and_a_row_without_a_module_are_faults,
    an_import_against_the_order_is_a_fault,
    a_path_against_the_order_is_a_fault,
    a_re_exported_name_counts_for_the_file_that_defines_it,
    a_re_export_against_the_order_is_a_fault,
    two_files_that_use_each_other_are_a_cycle,
    a_longer_cycle_is_shown_arrow_by_arrow,
    a_module_that_re_exports_what_its_files_define_is_not_a_cycle,
    a_module_and_a_file_in_it_that_use_each_other_are_a_cycle,
    unit_tests_may_use_everything,
    comments_strings_and_attributes_are_not_paths,
    a_public_name_that_is_not_listed_is_a_fault,
    a_listed_name_that_is_gone_is_a_fault,
    a_path_that_cannot_be_followed_is_a_fault,
    a_walk_through_a_missing_file_is_a_fault,
    a_walk_that_returns_to_a_module_is_a_fault,
);

const MAP: &str = "//! # The modules\n//!\n//! | module | contains |\n//! |---|---|\n//! | `low` | a |\n//! | `high` | b |\n//!\n//! # Invariants\n";

const WALKS: &str = "## Walks\n### A\n1. `harness/low.rs`: a\n2. `harness/high.rs`: b\n### B\n### C\n### D\n";

/// Returns the faults of a library with the modules `low` and, after it, `high`. The given files are added, or replace files
/// of the same name.
fn faults(more: &[(&str, &str)]) -> Vec<String> {
    let mut files = Files::new();
    files.insert("harness/lib.rs".to_owned(), format!("{MAP}mod high;\nmod low;\npub use low::Low;\n"));
    files.insert("harness/low.rs".to_owned(), "pub struct Low;\n".to_owned());
    files.insert("harness/high.rs".to_owned(), "use crate::low::Low;\npub struct High(Low);\n".to_owned());
    files.insert(LIST.to_owned(), "# a note\nretake::Low\n".to_owned());
    files.insert(PAGE.to_owned(), WALKS.to_owned());
    for (file, text) in more {
        files.insert((*file).to_owned(), (*text).to_owned());
    }
    all(&files)
}

/// Asserts that there is exactly one fault, and that it contains these texts in this order.
#[track_caller]
fn one(faults: &[String], says: &[&str]) {
    assert_eq!(faults.len(), 1, "{faults:#?}");
    let mut rest = faults[0].as_str();
    for said in says {
        rest = rest
            .split_once(said)
            .unwrap_or_else(|| panic!("{said:?} is missing, or not in this order, in: {}", faults[0]))
            .1;
    }
}

#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{faults:#?}");
}

fn a_library_in_order_has_no_faults() {
    none(&faults(&[]));
}

fn a_module_without_a_row_and_a_row_without_a_module_are_faults() {
    let extra = faults(&[("harness/attic/mod.rs", "")]);
    one(&extra, &["harness/attic: ", "no row for this module: add one"]);
    let lib =
        format!("{MAP}mod high;\nmod low;\npub use low::Low;\n").replace("| `high`", "| `cellar` | c |\n//! | `high`");
    one(&faults(&[("harness/lib.rs", &lib)]), &["harness/lib.rs:6: ", "`cellar`", "remove the row"]);
}

fn an_import_against_the_order_is_a_fault() {
    let low = "pub struct Low;\nuse crate::{high::High as Other};\nfn f(_: Other) {}\n";
    let high = "pub struct High;\n";
    let told = ["harness/low.rs:2 → harness/high.rs (`crate::high::High`)", "`low` comes before `high`", "move"];
    one(&faults(&[("harness/low.rs", low), ("harness/high.rs", high)]), &told);
}

fn a_path_against_the_order_is_a_fault() {
    let high = ("harness/high.rs", "pub struct High;\n");
    for (low, line, path) in [
        ("pub struct Low;\nfn f() -> crate::high::High { todo!() }\n", 2, "crate::high::High"),
        ("pub struct Low;\n\nfn f() { super::high::High::new() }\n", 3, "super::high::High::new"),
        ("use crate::high;\npub struct Low(high::High);\n", 2, "high::High"),
        ("use crate::high::{self as other};\npub struct Low(other::High);\n", 2, "other::High"),
    ] {
        one(
            &faults(&[("harness/low.rs", low), high]),
            &[&format!("harness/low.rs:{line} → harness/high.rs (`{path}`)")],
        );
    }
}

fn a_re_exported_name_counts_for_the_file_that_defines_it() {
    let passed_on = [
        ("harness/high/mod.rs", "mod deep;\npub use deep::Deep;\n"),
        ("harness/high/deep.rs", "pub struct Deep;\n"),
        ("harness/low.rs", "pub struct Low;\nuse crate::high::Deep;\nfn f(_: Deep) {}\n"),
    ];
    let mut files = Files::new();
    files.extend(passed_on.map(|(file, text)| (file.to_owned(), text.to_owned())));
    files.insert("harness/lib.rs".to_owned(), format!("{MAP}mod high;\nmod low;\n"));
    files.insert(PAGE.to_owned(), WALKS.replace("harness/high.rs", "harness/high/mod.rs"));
    one(&all(&files), &["harness/low.rs:2 → harness/high/deep.rs"]);
    // The same with a glob import.
    files.insert("harness/high/mod.rs".to_owned(), "mod deep;\npub use deep::*;\n".to_owned());
    one(&all(&files), &["harness/low.rs:2 → harness/high/deep.rs"]);
}

fn a_re_export_against_the_order_is_a_fault() {
    let low = "pub struct Low;\npub use crate::high::High;\n";
    one(&faults(&[("harness/low.rs", low), ("harness/high.rs", "pub struct High;\n")]), &["harness/low.rs:2 →"]);
}

fn two_files_that_use_each_other_are_a_cycle() {
    let cycle = faults(&[
        ("harness/high.rs", "mod a;\nmod b;\n"),
        ("harness/high/a.rs", "use super::b::B;\npub struct A(B);\n"),
        ("harness/high/b.rs", "pub struct B;\nfn f() { super::a::A }\n"),
    ]);
    one(
        &cycle,
        &["a cycle of 2 files", "high/a.rs:1 → harness/high/b.rs", "high/b.rs:2 → harness/high/a.rs", "of its own"],
    );
}

fn a_longer_cycle_is_shown_arrow_by_arrow() {
    let cycle = faults(&[
        ("harness/high.rs", "mod a;\nmod b;\nmod c;\n"),
        ("harness/high/a.rs", "use super::b::B;\npub struct A(B);\n"),
        ("harness/high/b.rs", "use super::c::C;\npub struct B(C);\n"),
        ("harness/high/c.rs", "use crate::high::a::A;\npub struct C(A);\n"),
    ]);
    one(&cycle, &["a cycle of 3 files", "a.rs:1 →", "b.rs:1 →", "c.rs:1 → harness/high/a.rs"]);
}

fn a_module_that_re_exports_what_its_files_define_is_not_a_cycle() {
    none(&faults(&[
        ("harness/high.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"),
        ("harness/high/a.rs", "pub struct A;\n"),
        ("harness/high/b.rs", "use super::A;\npub struct B(A);\n"),
    ]));
}

fn a_module_and_a_file_in_it_that_use_each_other_are_a_cycle() {
    let cycle = faults(&[
        ("harness/high.rs", "mod a;\npub use a::A;\npub struct Own;\nfn f() -> A { A }\n"),
        ("harness/high/a.rs", "pub struct A(super::Own);\n"),
    ]);
    one(
        &cycle,
        &["a cycle of 2 files", "harness/high.rs:2 → harness/high/a.rs", "a.rs:1 → harness/high.rs (`super::Own`)"],
    );
}

fn unit_tests_may_use_everything() {
    none(&faults(&[
        ("harness/low.rs", "pub struct Low;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse crate::high::{High};\n"),
        ("harness/low/tests.rs", "use crate::high::High;\n"),
    ]));
}

fn comments_strings_and_attributes_are_not_paths() {
    none(&faults(&[(
        "harness/low.rs",
        "//! [`crate::high::High`]\n/* use crate::high::High; /* nested */ */\n#[doc = \"crate::high\"]\npub struct Low;\n\
         const A: &str = \"use crate::high::High;\\\"\"; const B: &str = r#\"\"crate::high::High\"#; const C: char = '\"';\n\
         fn f<'a>(x: &'a str) { let _ = b'\\''; x.high::<u8>() }\n",
    )]));
}

fn a_public_name_that_is_not_listed_is_a_fault() {
    let lib = format!("{MAP}mod high;\nmod low;\npub use low::Low;\npub use high::High;\n");
    one(&faults(&[("harness/lib.rs", &lib)]), &["harness/lib.rs:12: `retake::High` is public", LIST, "CHANGELOG.md"]);
    let lib = format!("{MAP}pub mod high;\n#[doc(hidden)]\npub mod low;\npub use low::Low;\n");
    let listed = (LIST, "retake::Low\nretake::high\n");
    let more = [("harness/lib.rs", lib.as_str()), listed];
    one(&faults(&more), &["harness/high.rs:2: `retake::high::High` is public"]);
    let low = ("harness/low.rs", "pub struct Low;\n#[macro_export]\nmacro_rules! low { () => {} }\n");
    one(&faults(&[low]), &["harness/low.rs:3: `retake::low!` is public"]);
}

fn a_listed_name_that_is_gone_is_a_fault() {
    let listed = (LIST, "retake::Low\nretake::Gone\n");
    one(&faults(&[listed]), &[&format!("{LIST}:2: `retake::Gone` is listed, and no longer public")]);
}

fn a_path_that_cannot_be_followed_is_a_fault() {
    let low = "pub struct Low;\nfn f() { crate::internal::high::High }\n";
    one(&faults(&[("harness/low.rs", low)]), &["harness/low.rs:2: `crate::internal::high::High` leads nowhere"]);
}

fn a_walk_through_a_missing_file_is_a_fault() {
    let walks = WALKS.replace("high.rs", "gone.rs");
    one(&faults(&[(PAGE, &walks)]), &[&format!("{PAGE}:4: there is no harness/gone.rs")]);
}

fn a_walk_that_returns_to_a_module_is_a_fault() {
    let walks = WALKS.replace("### B", "3. `harness/low.rs`: again\n### B");
    one(&faults(&[(PAGE, &walks)]), &[&format!("{PAGE}:5: harness/low.rs leads back to `low`")]);
    one(&faults(&[(PAGE, "## Walks\n### A\n")]), &["expected 4 walks, each under a heading of its own, found 1"]);
}
