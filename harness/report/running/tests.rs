use super::*;

#[test]
fn each_running_scenario_has_a_line_no_longer_than_that_of_its_result() {
    let now = Instant::now();
    let playing = vec![("slow".to_owned(), now), ("other".to_owned(), now + Duration::from_secs(2))];
    let drawn_lines = lines(&playing, now + Duration::from_secs(12));
    assert_eq!(drawn_lines, ["  slow 12 s", "  other 10 s"]);
    let result = |name: &str| format!("test {name} ... ok").len();
    assert!(drawn_lines.iter().zip(["slow", "other"]).all(|(line, name)| line.len() <= result(name)));
    let longest = lines(&[("slow".to_owned(), now)], now + Duration::from_secs(1_000_000));
    assert!(longest[0].len() <= result("slow"), "{longest:?}");
    // The cursor returns to where it was, so the next output overwrites the first line.
    assert_eq!(drawn(&drawn_lines), "\r\u{1b}[J  slow 12 s\r\n  other 10 s\r\n\u{1b}[2A\r");
    assert_eq!(drawn(&[]), "\r\u{1b}[J");
}

#[test]
fn of_many_running_scenarios_the_first_have_lines_and_the_rest_are_counted() {
    let now = Instant::now();
    let playing: Vec<_> = (0..20).map(|i| (format!("s{i}"), now)).collect();
    let drawn_lines = lines(&playing, now);
    assert_eq!((drawn_lines.len(), drawn_lines[8].as_str()), (9, "  … 12 more"));
}

#[test]
fn the_five_slowest_are_printed_if_more_than_ten_ran() {
    let took = |count: u64| (0..count).map(|i| (format!("s{i}"), Duration::from_millis(i * 100))).collect::<Vec<_>>();
    assert_eq!(slowest(&took(10)), None);
    assert_eq!(slowest(&took(12)).unwrap(), "slowest: s11 1.1 s, s10 1.0 s, s9 0.9 s, s8 0.8 s, s7 0.7 s");
}

#[test]
fn a_scenario_that_has_ended_is_no_longer_running_and_has_a_time() {
    let running = Running::default();
    let first = running.begin("a");
    let second = running.begin("b");
    drop(first);
    assert_eq!(running.state.lock().playing.len(), 1);
    assert_eq!(running.state.lock().took[0].0, "a");
    drop(second);
    running.end(true);
}
