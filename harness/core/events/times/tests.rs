use super::*;

#[test]
fn a_form_says_all_that_a_client_parses() {
    let form = |text| of_text(text).unwrap();
    assert_eq!(form("2026-11-22"), "yyyy-mm-dd");
    assert_eq!(form("2026-11-22T10:00:00"), "yyyy-mm-ddThh:mm:ss");
    assert_eq!(form("2026-11-22 10:00:00.5"), "yyyy-mm-dd hh:mm:ss.f");
    assert_eq!(form("2026-11-22T10:00:00.123456Z"), "yyyy-mm-ddThh:mm:ss.fZ");
    assert_eq!(form("2026-11-22T10:00:00-03:30"), "yyyy-mm-ddThh:mm:ss+hh:mm");
    assert_eq!(form("2026-11-22T10:00:00+0100"), "yyyy-mm-ddThh:mm:ss+hhmm");
    for text in ["", "2026-11-2", "2026-11-22T", "2026-11-22T10:00:00.", "2026-11-22T10:00:00Z!", "at 2026-11-22"] {
        assert_eq!(of_text(text), None, "{text}");
    }
}

#[test]
fn digits_that_a_clock_drops_do_not_count() {
    assert_eq!(of_text("2026-11-22T10:00:00.12Z"), of_text("2026-11-22T10:00:00.123456789Z"));
    assert_eq!(of_number(&Json::Float(1_790_000_000.25)), of_number(&Json::Int(1_790_000_000)));
}

#[test]
fn a_number_says_its_unit() {
    let units: Vec<_> =
        [1, 1_000, 1_000_000, 1_000_000_000].map(|unit| of_number(&Json::Int(1_790_000_000 * unit))).into();
    assert_eq!(units, ["time in s", "time in ms", "time in µs", "time in ns"].map(Some));
    assert_eq!(of_number(&Json::Int(12)), None);
}

#[test]
fn how_far_away_a_time_is_counts_from_when_it_was_told() {
    let told = OffsetDateTime::parse("Thu, 26 Nov 2026 16:30:10 GMT", &Rfc2822).unwrap();
    let of = |value: &str| away(&Json::parse(value.as_bytes()).unwrap(), told, false);
    for (value, far) in [
        (r#""2026-12-10T16:30:10.5Z""#, Some(" + 14 d")),
        (r#""2026-11-26 18:30:12+01:00""#, Some(" + 1 h")),
        (r#""2026-11-26T15:00:09Z""#, Some(" - 90 min")),
        ("1795728610", Some(" + 5 h")),
        ("1795728610123", Some(" + 5 h")),
        // Now, perhaps now, without a zone, and no time.
        (r#""2026-11-26T16:31:10Z""#, Some(NOW)),
        ("1795710609", Some(NOW)),
        (r#""2026-11-26T16:32:10Z""#, None),
        (r#""2026-12-10T16:30:10""#, None),
        ("12", None),
        // A date, where it is the same day in the zone of the system.
        (r#""2026-12-10""#, Some(" + 14 d")),
        (r#""2026-11-25""#, Some(" - 1 d")),
        (r#""2026-11-26""#, Some(NOW)),
    ] {
        assert_eq!(of(value).as_deref(), far, "{value}");
    }
    let tomorrow = told.to_offset(UtcOffset::from_hms(10, 0, 0).unwrap());
    assert_eq!(away(&Json::from("2026-12-10"), tomorrow, false).as_deref(), Some(IN_SOME_ZONE));
    // A machine may be slow.
    let compared = |time: &str| away(&Json::from(time), told, true);
    assert_eq!(compared("2026-11-26T16:39:10Z").as_deref(), Some(NOW));
    assert_eq!(compared("1970-01-01T00:00:00Z").as_deref(), Some(" - 29928510 min"));
    assert_eq!(parts("yyyy-mm-ddThh:mm:ss+hh:mm + 14 d"), ("yyyy-mm-ddThh:mm:ss+hh:mm", " + 14 d"));
    assert_eq!(parts("time in ms"), ("time in ms", ""));
    assert_eq!(parts("time in ms now"), ("time in ms", NOW));
}

#[test]
fn a_time_is_later_than_one_beside_it_as_far_as_its_digits_tell() {
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    let of = |first: &str, other: &str| {
        let both = [json(first), json(other)];
        let earliest = both.iter().filter_map(instant).min();
        [false, true].map(|compared| earliest.is_some_and(|at| is_later(&both[1], at, compared)))
    };
    for (first, other, [written, compared]) in [
        (r#""2026-11-26T16:30:10.123456Z""#, r#""2026-11-26T16:30:10.133456Z""#, [true, true]),
        (r#""2026-11-26 16:30:10.123""#, r#""2026-11-26 16:30:10.124""#, [false, true]),
        (r#""2026-11-26T16:30:10.123Z""#, r#""2026-11-26T16:30:10.123Z""#, [false, false]),
        (r#""2026-11-26T16:30:10.5+01:00""#, r#""2026-11-26T16:30:11.5+01:00""#, [false, false]),
        (r#""2026-11-26T16:30:10Z""#, r#""2026-11-26T16:30:12Z""#, [false, false]),
        ("1795728610123", "1795728610124", [false, true]),
        ("1795728610.123", "1795728610.623", [true, true]),
        ("1795728610", "1795728612", [false, false]),
    ] {
        assert_eq!(of(first, other), [written, compared], "{first} and {other}");
        assert_eq!(of(other, first), [false; 2], "{other} and {first}");
    }
    assert_eq!(parts("time in ms later than one beside it"), ("time in ms", LATER));
}
