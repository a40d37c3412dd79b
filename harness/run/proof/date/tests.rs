use super::*;

#[test]
fn a_day_is_found_in_many_forms() {
    let day = Date::from_calendar_date(2026, time::Month::November, 2).unwrap();
    let texts = [
        "on 2 November 2026",
        "Mon, 02 Nov 2026 10:00:00 GMT",
        "November 2nd, 2026",
        "Nov 2, 2026",
        "02.11.2026",
        "2/11/26",
        "11/2/2026",
        "2026/11/02",
        "log-20261102.txt",
        "le 2 novembre 2026",
        "2. November 2026",
        "2026年11月2日",
        "Mon Nov  2 10:00:00 2026",
        "Mon Nov  2 10:00:00 UTC 2026",
    ];
    let forms = forms(day);
    assert_eq!(forms.len(), 7);
    let holds = |text: &str| forms.iter().any(|form| form.is_match(text));
    for text in texts {
        assert!(holds(text), "{text}");
    }
    for text in ["", "2026", "12 November 2026", "2 November 2025", "3/11/2026", "120261102"] {
        assert!(!holds(text), "{text}");
    }
}
