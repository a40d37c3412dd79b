use super::*;

#[test]
fn changed_lines_are_next_to_each_other_and_distant_ones_are_folded() {
    let old: Vec<String> = (0..20).map(|i| format!("line {i}")).collect();
    let new: Vec<String> = old.iter().map(|line| line.replace("line 10", "another")).chain(["more".into()]).collect();
    let rows = side_by_side(&old.join("\n"), &new.join("\n"));
    let of = |kind| rows.iter().filter(|row| row.kind == kind).count();
    assert_eq!((of(RowKind::Changed), of(RowKind::Added), of(RowKind::Removed), of(RowKind::Fold)), (1, 1, 0, 2));
    assert_eq!(rows[0].old, "… 7 unchanged lines");
    assert!(rows.contains(&Row { kind: RowKind::Changed, old: "line 10".into(), new: "another".into(), folded: 0 }));
}

#[test]
fn each_side_stays_in_its_half() {
    let rows = side_by_side(&"a word and ".repeat(20), "b");
    let lines = in_columns(&rows, 80);
    assert!(lines.iter().all(|(_, line)| line.chars().count() <= 80), "{lines:?}");
    assert!(lines[0].1.starts_with("- a word") && lines[0].1.contains("│ + b"), "{}", lines[0].1);
}

#[test]
fn equal_texts_have_no_rows() {
    assert_eq!(side_by_side("a\nb", "a\nb\n"), []);
}
