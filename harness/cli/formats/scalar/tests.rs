use super::*;

#[test]
fn scalars_are_read_as_pyyaml_reads_them() {
    for (text, value) in [
        ("", Json::Null),
        ("~", Json::Null),
        ("NULL", Json::Null),
        ("nULL", "nULL".into()),
        ("yes", Json::Bool(true)),
        ("On", Json::Bool(true)),
        ("off", Json::Bool(false)),
        ("y", "y".into()),
        ("n", "n".into()),
        ("0", Json::Int(0)),
        ("-0", Json::Int(0)),
        ("+12", Json::Int(12)),
        ("1_000", Json::Int(1000)),
        ("017", Json::Int(15)),
        ("08", "08".into()),
        ("0o17", "0o17".into()),
        ("0x1F", Json::Int(31)),
        ("-0b101", Json::Int(-5)),
        ("190:20:30", Json::Int(685_230)),
        ("12:34", Json::Int(754)),
        ("12:64", "12:64".into()),
        ("123456789012345678901234567890", Json::BigInt("123456789012345678901234567890".into())),
        ("1.5", Json::Float(1.5)),
        ("1.", Json::Float(1.0)),
        (".5", Json::Float(0.5)),
        ("-.5", "-.5".into()),
        ("1.0e+05", Json::Float(100_000.0)),
        ("1.0e-05", Json::Float(0.00001)),
        ("1e5", "1e5".into()),
        ("1.0e5", "1.0e5".into()),
        ("1:30.5", Json::Float(90.5)),
        (".inf", Json::Float(f64::INFINITY)),
        ("-.INF", Json::Float(f64::NEG_INFINITY)),
        ("2024-01-02", "2024-01-02".into()),
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z".into()),
        ("1.2.3", "1.2.3".into()),
        ("-", "-".into()),
        ("...", "...".into()),
        ("_1", "_1".into()),
    ] {
        assert_eq!(resolved(text), value, "{text}");
    }
    assert!(matches!(resolved(".nan"), Json::Float(number) if number.is_nan()));
}
