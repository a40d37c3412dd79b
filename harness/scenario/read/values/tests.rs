use super::*;

#[test]
fn durations_have_a_unit() {
    assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
    assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
    assert_eq!(parse_duration("0s"), Ok(Duration::ZERO));
    assert_eq!(parse_duration("1440m"), Ok(LONGEST));
    for wrong in ["", "60", "s", "1.5s", "-1s", "1 s", "1h", "\u{ff16}s"] {
        assert!(parse_duration(wrong).is_err_and(|why| why.contains("is not a duration")), "{wrong}");
    }
    for long in ["1441m", "99999999999999999999s", "18446744073709551615m", "18446744073709551615s"] {
        assert_eq!(parse_duration(long), Err(format!("`{long}` is more than a day")));
    }
}
