use regex::Regex;

use super::*;

#[test]
fn the_other_day_is_an_iso_date_in_another_year() {
    let other = Today::of_run(Pacing::Shaken, false, None).date;
    assert!(Regex::new(r"^\d{4}-\d{2}-\d{2}$").unwrap().is_match(&other), "{other}");
    assert_ne!(other[..4], OffsetDateTime::now_utc().date().to_string()[..4]);
}
