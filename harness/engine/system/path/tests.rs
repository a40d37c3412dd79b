use super::{is_of_this_command, without};

#[test]
fn an_environment_that_is_not_the_active_one_belongs_to_this_command() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    assert!(!is_of_this_command(&bin, None), "a folder of programs, such as /usr/bin");
    std::fs::write(folder.path().join("pyvenv.cfg"), "").unwrap();
    assert!(is_of_this_command(&bin, None));
    assert!(is_of_this_command(&bin, Some("/another".as_ref())));
    assert!(!is_of_this_command(&bin, Some(folder.path().as_ref())), "the project's own");
}

#[test]
fn only_the_given_folder_is_removed() {
    assert_eq!(without("/tool/bin:/usr/bin:/tool/bin2", "/tool/bin".as_ref()), "/usr/bin:/tool/bin2");
}
