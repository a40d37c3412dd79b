use super::*;

#[test]
fn each_form_is_a_valid_pattern() {
    assert_eq!(FORMS.len(), 27);
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
