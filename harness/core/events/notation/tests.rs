use super::*;
use crate::events::ids::Ids;
use crate::events::value::value;

#[test]
fn a_name_that_could_be_misread_is_quoted() {
    for plain in ["run_id", "é", "on-chain.end", "<UUID>", "a:b", "/x/-1", "…"] {
        assert_eq!(name(plain), plain);
    }
    let odd = [
        ("", "\"\""),
        ("a b", "\"a b\""),
        ("a\n", "\"a\\n\""),
        ("a\u{7f}\u{a0}\u{200b}", "\"a\\u007f\\u00a0\\u200b\""),
        ("a?", "\"a?\""),
        ("a\"", "\"a\\\"\""),
    ];
    for (text, spelled) in odd {
        assert_eq!(name(text), spelled);
    }
}

#[test]
fn prose_with_invisible_parts_is_quoted() {
    assert_eq!(prose("still here, wait"), "still here, wait");
    for (text, spelled) in [("a ", "\"a \""), ("a\u{2028}", "\"a\\u2028\""), ("ping ×2", "\"ping ×2\"")] {
        assert_eq!(prose(text), spelled);
    }
}

#[test]
fn numbers_that_are_points_in_time_are_replaced() {
    let plain = |json: &str| value(&Json::parse(json.as_bytes()).unwrap(), &Ids::default(), &str::to_owned);
    let times = "[1795310937, 1795310937.2082062, 1795310951851, 1795310951851.5, 1795310951851000, \
                     1600000000, 2099999999000000000]";
    assert_eq!(plain(times), "[time in s, time in s, time in ms, time in ms, time in µs, time in s, time in ns]");
    for number in ["0", "1599999999", "2100000000", "-1795310937", "179531093", "17953109371", "0.1795310937"] {
        assert_eq!(plain(number), number);
    }
    assert_eq!(plain("\"1795310937\""), "\"1795310937\"");
}

#[test]
fn values_are_normalized_part_by_part() {
    let json = Json::parse(br#"{"b9": [1.0, null, "9\n"], "a9": 19, "c": "\u2028"}"#).unwrap();
    let normalize = |text: &str| text.replace('9', "#");
    assert_eq!(value(&json, &Ids::default(), &normalize), r##"{"a#": 1#, "b#": [1.0, null, "#\n"], "c": "\u2028"}"##);
}
