use super::*;

#[test]
fn changed_lines_stand_beside_each_other_and_what_is_far_from_them_is_folded() {
    let old: Vec<String> = (0..20).map(|i| format!("line {i}")).collect();
    let new: Vec<String> = old.iter().map(|line| line.replace("line 10", "another")).chain(["more".into()]).collect();
    let rows = beside(&old.join("\n"), &new.join("\n"));
    let of = |kind| rows.iter().filter(|row| row.kind == kind).count();
    assert_eq!((of(RowKind::Changed), of(RowKind::Come), of(RowKind::Gone), of(RowKind::Fold)), (1, 1, 0, 2));
    assert_eq!(rows[0].old, "… 7 lines that are the same");
    assert!(rows.contains(&Row { kind: RowKind::Changed, old: "line 10".into(), new: "another".into(), folded: 0 }));
}

#[test]
fn columns_keep_to_their_halves() {
    let rows = beside(&"a word and ".repeat(20), "b");
    let lines = in_columns(&rows, 80);
    assert!(lines.iter().all(|(_, line)| line.chars().count() <= 80), "{lines:?}");
    assert!(lines[0].1.starts_with("- a word") && lines[0].1.contains("│ + b"), "{}", lines[0].1);
}

#[test]
fn equal_texts_have_no_row() {
    assert_eq!(beside("a\nb", "a\nb\n"), []);
}
