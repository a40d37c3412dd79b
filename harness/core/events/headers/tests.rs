use super::*;
use crate::events::Event;

fn capture(headers: &[(&str, &str)]) -> Captured {
    let mut capture = Captured::stream("GET /run", vec![Event::body(b"{}")]);
    capture.delivery.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    capture
}

fn normalize(text: &str) -> String {
    let text = text.replace("k-123456", "<csrf>").replace("4f1c2d3e", "<thread>").replace("127.0.0.1:4001", "<agent>");
    crate::key::Normalizer::default().apply(&text).into_owned()
}

fn golden(headers: &[(&str, &str)]) -> Golden {
    crate::events::golden(&[capture(headers)], &ShapeOptions::default(), &normalize)
}

fn lines(golden: &Golden) -> Vec<String> {
    golden.blocks[0].headers.iter().map(ToString::to_string).collect()
}

fn of(name: &str, values: &[&str]) -> Vec<String> {
    lines(&golden(&values.iter().map(|value| (name, *value)).collect::<Vec<_>>()))
}

/// Returns the golden of a run that is compared with a committed one.
fn compared(committed: &Golden, headers: &[(&str, &str)]) -> Golden {
    let known = crate::events::Known { committed: Some(committed), ..crate::events::Known::default() };
    crate::events::Shaped::of(&[capture(headers)], &ShapeOptions::default(), &known, &normalize).golden
}

#[test]
fn all_headers_but_those_of_transport_are_held() {
    let headers = [
        ("date", "Thu, 26 Nov 2026 10:00:00 GMT"),
        ("x-request-id", "r1"),
        ("traceparent", "00-1-2"),
        ("etag", "W/\"x1\""),
        ("content-type", "text/event-stream; charset=UTF-8"),
        ("x-vercel-ai-ui-message-stream", "v1"),
        ("access-control-allow-origin", "*"),
    ];
    let all = [
        "access-control-allow-origin: *",
        "content-type: text/event-stream; charset=utf-8",
        "x-vercel-ai-ui-message-stream: v1",
    ];
    assert_eq!(lines(&golden(&headers)), all);
    assert_eq!(of("content-type", &["application/json"]), Vec::<String>::new());
}

#[test]
fn a_cookie_has_its_attributes_and_the_shape_of_its_value() {
    let id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    assert_eq!(
        of(
            "set-cookie",
            &[&format!("session={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600"), "csrf=k-123456; Secure"]
        ),
        ["set-cookie: csrf=<csrf>; secure", "set-cookie: session=id; httponly; max-age=3600; path=/; samesite=Lax"]
    );
    let value = |cookie: &str| of("set-cookie", &[cookie])[0].clone();
    assert_eq!(value("a=lettersonly"), value("a=digits123"));
    assert_eq!(
        value("a=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
        "set-cookie: a=\"\"; expires=1970; max-age=0"
    );
    assert_eq!(value("a=b; Expires=Thu, 26 Nov 2026 10:00:00 GMT"), "set-cookie: a=string; expires");
}

#[test]
fn what_differs_from_run_to_run_has_its_name() {
    for (value, expected) in [
        ("/threads/4f1c2d3e/runs/7c9e6679-7425-40de-944b-e07fc1f90ae7", "/threads/<thread>/runs/<UUID>"),
        ("http://127.0.0.1:4001/files/0123456789abcdef?at=1764150000", "http://<agent>/files/id?at=time in s"),
        ("Thu, 26 Nov 2026 10:00:00 GMT", "time"),
        ("attachment; filename=\"report.pdf\"", "attachment; filename=\"report.pdf\""),
        ("max-age=60,no-store", "max-age=60, no-store"),
        ("no-store, max-age=60", "max-age=60, no-store"),
    ] {
        assert_eq!(of("x-header", &[value]), [format!("x-header: {expected}")]);
    }
    assert_eq!(of("cache-control", &["no-store", "max-age=60"]), ["cache-control: max-age=60, no-store"]);
    // Two replays may measure the same by chance.
    assert_eq!(of("x-process-time", &["0.003"]), ["x-process-time: (varies)"]);
}

#[test]
fn a_header_that_runs_show_to_vary_has_to_be_there() {
    let run = |flavor: &'static str| golden(&[("x-flavor", flavor), ("x-cache", "miss")]);
    let (mut one, mut two, mut three) = (run("a"), run("b"), golden(&[("x-flavor", "a")]));
    Golden::agree_on_what_varies(&mut [&mut one, &mut two], Detail::Types);
    assert_eq!(one, two);
    assert_eq!(lines(&one), ["x-cache: miss", "x-flavor: (varies)"]);
    // What comes only sometimes is not held.
    Golden::agree_on_what_varies(&mut [&mut one, &mut three], Detail::Types);
    assert_eq!(
        (lines(&one), lines(&three)),
        (vec!["x-flavor: (varies)".to_owned()], vec!["x-flavor: (varies)".into()])
    );
    // What varied once may be equal later by chance.
    let mut later = run("a");
    later.keep_varying(&two);
    assert_eq!(later, two);
    assert_eq!(compared(&two, &[("x-flavor", "c"), ("x-cache", "miss")]), two);
    assert_ne!(compared(&two, &[("x-cache", "miss")]), two);
}

#[test]
fn a_new_header_is_not_compared() {
    let committed = golden(&[("x-a", "1"), ("set-cookie", "a=b")]);
    let more = [("x-a", "1"), ("x-new", "1"), ("set-cookie", "a=b"), ("set-cookie", "c=d"), ("date", "now")];
    assert_eq!(compared(&committed, &more), committed);
    assert_eq!(
        new_headers(&[capture(&more)], &committed, &ShapeOptions::default(), &normalize),
        [("GET /run".to_owned(), vec!["set-cookie: c".to_owned(), "x-new".to_owned()])]
    );
    // Another media type is compared where it stands.
    let new = |value: String| {
        let capture = capture(&[("content-type", &value)]);
        !new_headers(&[capture], &committed, &ShapeOptions::default(), &normalize).is_empty()
    };
    let media = committed.blocks[0].head.as_ref().unwrap().media.clone();
    assert!(new(format!("{media}; charset=utf-8")) && !new("x/other; charset=utf-8".to_owned()), "{media}");
}

#[test]
fn older_formats_have_the_shape_of_a_value() {
    let shape = |value: &str| Header::new("x", Some(value)).into_shape().value.unwrap();
    assert_eq!(shape("max-age=60, no-store"), "max-age=number, no-store");
    assert_eq!(shape("max-age=number, no-store"), "max-age=number, no-store");
    assert_eq!(shape("max-age=0"), "max-age=0");
    assert_eq!(shape("<UUID:1>"), "id");
    assert_eq!(shape("W/\"x1\""), "string");
    assert_eq!(shape("time"), "time");
    assert_eq!(shape("<thread>"), "<thread>");
}

#[test]
fn ids_that_repeat_in_some_runs_may_repeat() {
    let of = |body: &str, committed: Option<&Golden>| {
        let events = crate::events::Capture::new().push(body.as_bytes());
        let known = crate::events::Known { committed, ..crate::events::Known::default() };
        let capture = Captured::stream("GET /", events);
        crate::events::Shaped::of(&[capture], &ShapeOptions::default(), &known, &normalize).golden
    };
    let (once, twice) = ("id: 1\ndata: 1\n\nid: 2\ndata: 1\n\n", "id: 1\ndata: 1\n\nid: 1\ndata: 1\n\n");
    let (mut single, mut again) = (of(once, None), of(twice, None));
    assert_ne!(single, again);
    Golden::agree_on_what_varies(&mut [&mut single, &mut again], Detail::Types);
    assert!(single == again && single.to_string().contains(", with ids, which may repeat\n"), "{single}");
    assert!(of(once, Some(&single)) == single && of(twice, Some(&single)) == single);
    let mut later = of(once, None);
    later.keep_varying(&single);
    assert_eq!(later, single);
}

#[test]
fn the_age_of_a_cookie_is_held_unless_it_varies() {
    let run = |age: &str| golden(&[("set-cookie", &format!("a=b; Max-Age={age}"))]);
    let (mut one, mut two) = (run("60"), run("59"));
    assert_eq!(lines(&one), ["set-cookie: a=string; max-age=60"]);
    Golden::agree_on_what_varies(&mut [&mut one, &mut two], Detail::Types);
    assert_eq!((lines(&one), &one), (vec!["set-cookie: a=string; max-age".to_owned()], &two));
    assert_eq!(compared(&one, &[("set-cookie", "a=b; Max-Age=5")]), one);
    assert_ne!(compared(&one, &[("set-cookie", "a=b; Max-Age=0")]), one);
}

#[test]
fn what_is_the_same_around_what_varies_is_held() {
    let name = |name: &str| golden(&[("content-disposition", &format!("attachment; filename={name}"))]);
    let agreed = |values: [&str; 2]| {
        let mut both = values.map(name);
        Golden::agree_on_what_varies(&mut both.each_mut(), Detail::Types);
        assert_eq!(both[0], both[1]);
        both[0].clone()
    };
    let held = agreed([r#""chat-1a2b3c4d.html""#, r#""chat-1fe0c5d1.html""#]);
    let line = r#"content-disposition: attachment; filename="chat-….html""#;
    assert_eq!(lines(&held), [line]);
    let held = Golden::parse(&held.to_string()).unwrap();
    let now =
        |value: &str| lines(&compared(&held, &[("content-disposition", &format!("attachment; filename={value}"))]));
    assert_eq!(now(r#""chat-d5e6f7a8.html""#), [line]);
    for other in [r#""chat-.html""#, "chat-d5e6f7a8.html", r#""talk-d5e6f7a8.html""#] {
        assert_ne!(now(other), [line], "{other}");
    }
    // Digits beside it may be equal by chance, and so may signs.
    let around =
        |values: [&str; 2]| lines(&agreed(values))[0].split_once("filename=").map(|(_, value)| value.to_owned());
    assert_eq!(around(["4 of 17 seats", "3 of 17 seats"]).as_deref(), Some("… seats"));
    assert_eq!(around(["kQxRtYbW==", "V1StGXR8=="]).as_deref(), Some("…"));
    // Where all of it varies, or a committed golden says so, it is open.
    let open = |values: [&str; 2]| {
        let mut both = values.map(|value| golden(&[("x-one", value)]));
        Golden::agree_on_what_varies(&mut both.each_mut(), Detail::Types);
        both[0].clone()
    };
    let varies = open(["kQxRtYbW==", "V1StGXR8=="]);
    assert_eq!(lines(&varies), ["x-one: (varies)"]);
    let mut anew = open(["of kQxRtYbW", "of V1StGXR8"]);
    assert_eq!(lines(&anew), ["x-one: of …"]);
    anew.keep_varying(&varies);
    assert_eq!(lines(&anew), ["x-one: (varies)"]);
}
