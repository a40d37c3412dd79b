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
