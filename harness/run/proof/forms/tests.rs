use super::*;

#[test]
fn each_form_finds_its_own() {
    const TEXTS: [&str; 26] = [
        "Tue, 3 Feb 2026 08:09:10",
        "Tue Feb  3 08:09:10 CET 2026",
        "February 3rd, 2026 at 8:09 pm",
        "3 février 2026 à 08:09",
        "2026年2月3日 8時9分",
        "<DATE>T08:09",
        "20260203T080910",
        "03/02/26, 08:09",
        "3.2.2026",
        "8h9",
        "localhost:8080",
        "08:09:10.5",
        "8:09 pm",
        "08:09:10",
        "08:09",
        "3h",
        "1.5 seconds",
        "12 KiB, 15 bytes",
        "1700000000.25",
        "1700000000",
        "1700000000000",
        "1700000000000000",
        "1700000000000000000",
        "-3.5",
        "٣٤",
        "1,000.5e3",
    ];
    assert_eq!(FORMS.len(), TEXTS.len());
    for (form, own) in FORMS.iter().zip(TEXTS) {
        assert!(form.regex.is_match(own), "{} in {own:?}", form.regex);
    }
}

#[test]
fn ids_are_recognized_by_their_letters() {
    let cases = [
        ("1234", "99", Some(r"\d+")),
        ("12345678", "87654321", Some(r"\d{8}")),
        ("8f3a2b1c", "1b2c3d4e", Some("[0-9a-f]{8}")),
        ("deadbeef", "1b2c3d4e", Some("[0-9a-f]{8}")),
        ("8F3A", "1B2C", Some("[0-9A-F]{4}")),
        ("01JD3ZQX", "01JD3ZQY", Some("[0-9A-Z]{8}")),
        ("V1StGXR8Z5", "Uakgb5J5m9", Some("[0-9A-Za-z_-]{10}")),
        ("8f3a-1b2c", "9d4e-7f60", Some("[0-9a-f-]{9}")),
        ("aGk+1/2=", "bHl+3/4=", Some("[0-9A-Za-z+/=]{8}")),
        ("xkqjzpwm", "bvnmqwer", Some("[0-9a-z]{8}")),
        ("success", "failure", None),
        ("yes", "no", None),
        ("", "1", None),
    ];
    for (a, b, pattern) in cases {
        assert_eq!(id_pattern(a, b).as_deref(), pattern, "{a} {b}");
    }
}
