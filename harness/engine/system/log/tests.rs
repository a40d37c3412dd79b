use super::*;

#[test]
fn the_last_lines_are_kept_however_the_output_is_cut_into_chunks() {
    let log = Log::new(None);
    for n in 0..30 {
        log.push(b"li");
        log.push(format!("ne {n}\r\n").as_bytes());
    }
    log.push(b"no end");
    let tail = log.tail();
    assert_eq!((tail.len(), tail[0].as_str(), tail[19].as_str()), (20, "line 11", "no end"));
}

#[test]
fn waiting_ends_with_the_awaited_line() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let log = Log::new(Some(Regex::new("^ready on \\d+$").unwrap()));
    let other = log.clone();
    let printing = std::thread::spawn(move || {
        for text in ["not ready\nrea", "dy on 4", "2\n"] {
            other.push(text.as_bytes());
        }
    });
    runtime.block_on(log.awaited());
    printing.join().unwrap();
}

#[test]
fn colours_are_not_part_of_a_line() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let log = Log::new(Some(Regex::new("^INFO: running on http://localhost$").unwrap()));
    log.push(b"\x1b[32mINFO\x1b[0m: running on \x1b[1mhttp://localhost\x1b[0m\r\n\x1b[31mno end\x1b[");
    runtime.block_on(log.awaited());
    assert_eq!(log.tail(), ["INFO: running on http://localhost", "no end\u{1b}["]);
}

#[test]
fn output_from_before_the_file_existed_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::new(None);
    log.push(b"early\n");
    log.write_to(&folder.path().join("log"));
    log.push(b"late\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("log")).unwrap(), "early\nlate\n");
}

#[test]
fn frames_of_a_stack_do_not_hide_what_failed() {
    let log = Log::new(None);
    let frames = |of: &str| (0..30).map(|n| format!("\tat {of}{n}")).collect::<Vec<_>>().join("\n") + "\n";
    log.push(format!("Exception: first\n{}Caused by: second\n{}ready\n", frames("a"), frames("b")).as_bytes());
    let tail = log.tail();
    assert_eq!(tail.first().unwrap(), "Exception: first");
    assert_eq!(tail[3..6], ["\tat a2", "    … 24 more lines", "\tat a27"]);
    assert!(tail.contains(&"Caused by: second".to_owned()) && tail.ends_with(&["\tat b29".into(), "ready".into()]));
}
