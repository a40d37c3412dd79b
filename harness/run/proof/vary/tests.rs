use super::*;

/// The rules that make two texts equal, and whether they do.
fn mended(a: &str, b: &str) -> (Vec<(String, String)>, bool) {
    let found = compare(a, b, true, &|_| true);
    let rules: Vec<&Rule> =
        found.iter().filter_map(|v| if let Mend::Rule(rule) = &v.mend { Some(rule) } else { None }).collect();
    let apply = |text: &str| rules.iter().fold(text.to_owned(), |text, rule| rule.apply(&text));
    let equal = apply(a) == apply(b);
    (rules.iter().map(|rule| (rule.regex.as_str().to_owned(), rule.replace.clone())).collect(), equal)
}

/// Each case has two runs, from which the rules are made, and a third one.
#[test]
fn rules_made_from_two_runs_also_fit_a_third() {
    let runs = [
        ["at 12:03:44 done", "at 12:03:51 done", "at 09:59:02 done"],
        ["12:03:44", "12:03:45", "1:00:09"],
        ["12:03:44 INFO a\n12:03:44 INFO b", "12:03:51 INFO a\n12:03:52 INFO b", "09:00:00 INFO a\n09:00:01 INFO b"],
        ["took 0.0033s.", "took 0.0121s.", "took 1.2s."],
        ["took 999µs", "took 1.2ms", "took 3s"],
        ["Wall time: 0.1313 seconds", "Wall time: 0.2 seconds", "Wall time: 11 seconds"],
        ["1763720000", "1763720003", "1800000000"],
        [
            r#"{"created": 1763720000.123, "n": 1}"#,
            r#"{"created": 1763720003.5, "n": 1}"#,
            r#"{"created": 1800000000.1, "n": 1}"#,
        ],
        [
            r#"{"m": "{\"ts\": 1763720000123}"}"#,
            r#"{"m": "{\"ts\": 1763720009456}"}"#,
            r#"{"m": "{\"ts\": 1800000000000}"}"#,
        ],
        ["ns 1763720000123456789", "ns 1763720009923456789", "ns 1800000000000000000"],
        ["Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 10:00:02 GMT", "Mon, 01 Feb 2027 23:59:59 GMT"],
        ["Sat Nov 21 10:00:00 2026", "Sat Nov 21 10:00:02 2026", "Mon Feb  1 23:59:59 2027"],
        ["November 21, 2026 at 10:00:00 AM", "November 21, 2026 at 10:00:09 AM", "May 1, 2027 at 1:07:09 PM"],
        ["le 21 novembre 2026 à 10:03:04", "le 21 novembre 2026 à 10:03:09", "le 1 mai 2027 à 09:00:00"],
        ["21.11.2026 10:03:04", "21.11.2026 10:03:09", "01.05.2027 23:00:00"],
        ["11/21/2026, 10:03:04 AM", "11/21/2026, 10:03:09 AM", "5/1/2027, 1:03:09 PM"],
        ["2026年11月21日 10時03分04秒", "2026年11月21日 10時03分09秒", "2027年1月2日 1時13分59秒"],
        ["<DATE>T10:03", "<DATE>T10:04", "<DATE>T23:59"],
        ["<TS>,123 started", "<TS>,456 started", "<TS>,7 started"],
        ["20261121T100304Z", "20261121T100309Z", "20270203T235959Z"],
        ["backup-20261121_100304.tar", "backup-20261121_100309.tar", "backup-20270203_235959.tar"],
        ["opened T-8f3a2b1c", "opened T-1b2c3d4e", "opened T-00000000"],
        ["ticket 8f3a2b1c is open", "ticket 1b2c3d4e is open", "ticket deadbeef is open"],
        ["8f3a2b1c", "1b2c3d4e", "0000ffff"],
        ["order-12345", "order-99", "order-1"],
        ["order12345", "order99123", "order1"],
        [
            "id=f0494dc01392e4527ea2fb2b42eb80dc;",
            "id=a0494dc01392e4527ea2fb2b42eb80d1;",
            "id=00000000000000000000000000000000;",
        ],
        ["key V1StGXR8_Z5jdHi6B-myT ok", "key Uakgb_J5m9g-0JDMbcJqL ok", "key aaaaaaaaaaaaaaaaaaaa- ok"],
        ["req_8f3a2b1c4d", "req_1b2c3d4e5f", "req_ffffffffff"],
        ["id 8f3a-1b2c", "id 9d4e-7f60", "id 1234-5678"],
        ["token aGk+1/2aGk1b2aG=", "token bHl+3/4aGk+b2aG=", "token AAAAAAAAAAAAAA+="],
        ["listening on 127.0.0.1:43111", "listening on 127.0.0.1:39002", "listening on 127.0.0.1:1024"],
        ["http://localhost:43111/v1", "http://localhost:39002/v1", "http://localhost:5000/v1"],
        ["port 43111", "port 39002", "port 80"],
        ["/run/app-1234.sock", "/run/app-99.sock", "/run/app-7.sock"],
        ["pid 1234 (python)", "pid 1301 (python)", "pid 7 (python)"],
        ["used 12.3MB of 64MB", "used 12.7MB of 64MB", "used 9.15MB of 64MB"],
        ["<Tool object at 0x7f8a1c2b3d40>", "<Tool object at 0x7fe0a1b2c3d0>", "<Tool object at 0x7f0000000000>"],
        ["host web-7d4b9c6f5-x2x8z up", "host web-6f5c8b7d9-q8k2p up", "host web-aaaaaaaaa-11111 up"],
        ["n=-0.7364829", "n=0.12", "n=-3"],
        ["9 files", "10 files", "123 files"],
        ["it's 12:03:44", "it's 12:03:45", "it's 00:00:00"],
        ["load 0.52, 1.20", "load 0.61, 1.20", "load 10.0, 1.20"],
        ["a 8f3a2b1c, b 12:03:44, c 17", "a 1b2c3d4e, b 12:03:45, c 18", "a 00000000, b 00:00:00, c 2"],
    ];
    for [a, b, third] in runs {
        let (rules, equal) = mended(a, b);
        assert!(equal, "{a:?} and {b:?} stay different: {rules:?}");
        let compiled: Vec<Rule> = rules.iter().map(|(p, r)| Rule::new(p, r.clone()).unwrap()).collect();
        let apply = |text: &str| compiled.iter().fold(text.to_owned(), |text, rule| rule.apply(&text));
        assert_eq!(apply(a), apply(third), "{rules:?}");
        assert!(rules.iter().all(|(pattern, _)| !pattern.contains("ann")), "a path of this machine: {rules:?}");
    }
}

#[test]
fn a_rule_keeps_the_text_around_it() {
    let rule = |a, b| mended(a, b).0.remove(0);
    let as_text = |(pattern, replace): (String, String)| format!("{pattern} → {replace}");
    assert_eq!(as_text(rule("ticket 8f3a2b1c.", "ticket 1b2c3d4e.")), "ticket [0-9a-f]{8} → ticket <ID>");
    assert_eq!(as_text(rule("opened T-8f3a", "opened T-1b2c")), "opened T-[0-9a-f]{4} → opened T-<ID>");
    assert_eq!(as_text(rule("order-12345", "order-99")), r"order-\d+ → order-<NUMBER>");
    assert_eq!(as_text(rule("8f3a2b1c", "1b2c3d4e")), "^[0-9a-f]{8}$ → <ID>");
    assert_eq!(as_text(rule("costs $ 12", "costs $ 13")), r"costs \$ \d+ → costs $$ <NUMBER>");
}

#[test]
fn differences_that_no_rule_can_make_equal_are_named() {
    let causes = |a, b| compare(a, b, true, &|_| true).iter().map(|v| v.cause.clone()).collect::<Vec<_>>();
    assert_eq!(causes("{'b', 'a'}", "{'a', 'b'}"), ["the same items in a different order"]);
    assert_eq!(causes("all well", "all lost"), ["different text"]);
    assert_eq!(
        causes("{'b', 'a'} 12:03:44", "{'a', 'b'} 12:03:45"),
        ["the same items in a different order", "a time of day"]
    );
    assert!(!mended("status: success", "status: failure").1);
}

#[test]
fn many_places_of_one_form_get_one_rule() {
    let text = |n: u32| {
        let lines = ["a", "bcd", "efg", "hij", "klm", "nop"].map(|word| format!("{word} {n:02}:00:{n:02}"));
        lines.join("\n")
    };
    let (rules, equal) = mended(&text(1), &text(2));
    assert!(equal);
    let mut patterns: Vec<_> = rules.into_iter().map(|(pattern, _)| pattern).collect();
    patterns.dedup();
    assert_eq!(patterns.len(), 1, "{patterns:?}");
}

#[test]
fn a_rule_is_printed_as_toml_reads_it() {
    for pattern in ["it's \\d+", "\"\\d\"", "a\tb\\d", "x\\\\\\d"] {
        let rule = Rule::new(pattern, "$1\"\\".to_owned()).unwrap();
        let table: toml::Table = rule.toml().parse().unwrap();
        let read = &table["normalize"][0];
        assert_eq!((read["pattern"].as_str(), read["replace"].as_str()), (Some(pattern), Some("$1\"\\")));
    }
}
