use super::*;

#[expect(clippy::unnecessary_wraps, reason = "what a gate takes")]
fn rate(text: &str) -> Option<Rate> {
    Some(text.parse().unwrap())
}

#[test]
fn a_rate_holds_for_each_such_time_whenever_it_begins() {
    let (gate, start) = (Gate::new(None, rate("2/s")), Instant::now());
    let at = |millis| gate.enter(start + Duration::from_millis(millis));
    assert_eq!(at(0).unwrap().unwrap().used, 1);
    assert_eq!(at(900).unwrap().unwrap().used, 2);
    let refused = at(950).unwrap_err();
    assert_eq!((refused.of, refused.used), (Limited::Within(Duration::from_secs(1)), 2));
    assert_eq!((refused.free_in, refused.whole_in), (Duration::from_millis(50), Duration::from_millis(950)));
    // A client that waits as long as it is told gets in, and then the next one has to wait for the second call's time.
    assert!(at(1_000).is_ok());
    assert_eq!(at(1_001).unwrap_err().free_in, Duration::from_millis(899));
}

#[test]
fn calls_at_once_are_counted_until_they_end() {
    let (gate, now) = (Gate::new(Some(2), None), Instant::now());
    assert_eq!([gate.enter(now), gate.enter(now)], [Ok(None), Ok(None)]);
    let refused = gate.enter(now).unwrap_err();
    assert_eq!((refused.of, refused.limit, refused.used), (Limited::AtOnce, 2, 2));
    gate.leave();
    assert_eq!(gate.enter(now), Ok(None));
}

#[test]
fn a_call_that_is_refused_uses_up_neither_limit() {
    let (gate, now) = (Gate::new(Some(1), rate("1/h")), Instant::now());
    assert!(gate.enter(now).is_ok());
    assert_eq!(gate.enter(now).unwrap_err().of, Limited::AtOnce);
    gate.leave();
    assert_eq!(gate.enter(now).unwrap_err().of, Limited::Within(Duration::from_secs(3600)));
    assert_eq!(gate.in_flight(), 0);
    gate.reset();
    assert!(gate.enter(now).is_ok());
}

#[test]
fn a_rate_has_a_unit() {
    let of = |calls, seconds| Rate { calls, within: Duration::from_secs(seconds) };
    for (text, is) in [("100/s", of(100, 1)), ("600/min", of(600, 60)), ("6/m", of(6, 60)), ("5/h", of(5, 3600))] {
        assert_eq!(text.parse(), Ok(is));
    }
    for text in ["", "100", "0/s", "-1/s", "1.5/s", "5/d", "9999999/s", "/s"] {
        assert!(text.parse::<Rate>().unwrap_err().contains("as in 100/s, 600/min or 1000/h"), "{text}");
    }
}
