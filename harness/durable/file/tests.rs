use super::*;

#[test]
fn a_line_that_could_not_be_written_is_written_with_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.jsonl");
    let asked = Asked { kind: Kind::Tool, name: "ls".to_owned(), fingerprint: None, parts: BTreeMap::new() };
    let append = |file: &mut StepFile, number: &str| {
        let value = RawValue::from_string(format!("\"{number}\"")).unwrap();
        file.append(&number.parse().unwrap(), &asked, &value)
    };
    let mut opened = StepFile::open(&path).unwrap().file;
    append(&mut opened, "0.0").unwrap();
    let whole = std::mem::replace(&mut opened.file, File::open(&path).unwrap()); // cannot be written to
    let error = append(&mut opened, "0.1").unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: failed to append to it: ", path.display())), "{error}");
    opened.diverged(&"0.2".parse().unwrap(), [("0".to_owned(), 2)].into()).unwrap();
    opened.file = whole;
    append(&mut opened, "0.2").unwrap();
    drop(opened);

    let entries = StepFile::open(&path).unwrap().steps;
    let mut numbers: Vec<String> = entries.keys().map(ToString::to_string).collect();
    numbers.sort();
    assert_eq!(numbers, ["0.0", "0.1", "0.2"]);
}

/// A process that another thread is starting has all files of this process until it executes its program.
#[test]
fn a_file_is_unlocked_when_its_writer_ends_although_another_process_still_has_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.jsonl");
    let opened = StepFile::open(&path).unwrap().file;
    let inherited = opened.file.try_clone().unwrap();
    drop(opened);
    assert!(StepFile::open(&path).is_ok());
    drop(inherited);
}
