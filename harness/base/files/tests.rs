use super::*;

#[test]
fn a_writer_removes_the_temporary_file_of_a_killed_writer_but_not_that_of_a_living_one() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".retake-killed");
    std::fs::write(&left, "half").unwrap();
    let living = folder.path().join(".retake-living");
    let writing = File::create(&living).unwrap();
    writing.lock().unwrap();
    std::fs::write(folder.path().join(".retake"), "another's").unwrap();
    write_whole(&folder.path().join("a.json"), b"{}").unwrap();
    assert_eq!(
        names_of_all(folder.path()),
        [".retake", ".retake-living", "a.json"],
        "and nothing else was made or removed"
    );
}

fn names_of_all(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
