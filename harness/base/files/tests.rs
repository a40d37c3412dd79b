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

#[cfg(unix)]
#[test]
fn a_link_that_takes_the_place_of_a_folder_between_check_and_use_leads_nowhere() {
    use std::os::unix::fs::symlink;
    let (home, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, outside) = (home.path().canonicalize().unwrap(), outside.path().canonicalize().unwrap());
    std::fs::create_dir_all(home.join("a/b")).unwrap();
    std::fs::write(home.join("a/b/c"), "own").unwrap();
    std::fs::create_dir_all(outside.join("b")).unwrap();
    std::fs::write(outside.join("b/c"), "private").unwrap();
    let read = || open_below(&home, Path::new("a/b/c")).and_then(std::io::read_to_string);
    assert_eq!(read().unwrap(), "own");
    // What was resolved before is replaced now, at each place of the path.
    std::fs::remove_file(home.join("a/b/c")).unwrap();
    symlink(outside.join("b/c"), home.join("a/b/c")).unwrap();
    read().unwrap_err();
    std::fs::remove_dir_all(home.join("a/b")).unwrap();
    symlink(outside.join("b"), home.join("a/b")).unwrap();
    read().unwrap_err();
    std::fs::remove_dir_all(home.join("a")).unwrap();
    symlink(&outside, home.join("a")).unwrap();
    read().unwrap_err();
}

#[cfg(unix)]
#[test]
fn a_file_is_read_through_links_that_stay_in_the_folder() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("a")).unwrap();
    std::fs::write(home.path().join("a/b"), "own").unwrap();
    symlink("a", home.path().join("c")).unwrap();
    let read = |file: &str, most| read_inside(home.path(), Path::new(file), most);
    assert_eq!(read("c/b", 3).unwrap().as_deref(), Some(&b"own"[..]));
    assert_eq!(read("c/none", 3).unwrap(), None);
    for (file, most) in [("c/b", 2), ("c", 9), ("../b", 9), ("a/../a/b", 9), ("/etc/hostname", 9), ("a\0b", 9)] {
        read(file, most).unwrap_err();
    }
}
