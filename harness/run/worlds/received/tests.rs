use super::*;
use retake_core::events::Capture;

/// The name of an event, its id or nothing, and its payload.
type Sent = (&'static str, &'static str, &'static str);

/// The events of a stream, each with its name, its id if it has one, and its payload.
fn stream(events: &[Sent]) -> Vec<Event> {
    let event = |(name, id, data): &Sent| {
        let id = if id.is_empty() { String::new() } else { format!("id: {id}\n") };
        format!("event: {name}\n{id}data: {data}\n\n")
    };
    Capture::new().push(events.iter().map(event).collect::<String>().as_bytes())
}

const PLAIN: [Sent; 5] = [
    ("begin", "", r#"{"run": 7}"#),
    ("text", "", r#"{"text": "Roses "}"#),
    ("text", "", r#"{"text": "are "}"#),
    ("text", "", r#"{"text": "red."}"#),
    ("end", "", "{}"),
];

fn received<'a>(recorded: &'a [Event], first: &'a [Event], again: Option<&'a (u16, Vec<Event>)>) -> Received<'a> {
    let noise: &'static Noise = Box::leak(Box::default());
    let options: &'static ShapeOptions = Box::leak(Box::default());
    let (normalize, normalize_recorded, failure) = (&str::to_owned, &str::to_owned, None);
    Received { recorded, first, again, noise, options, normalize, normalize_recorded, anew: false, failure }
}

fn verdict(does: FaultKind, first: &[Sent], again: Option<(u16, &[Sent])>) -> (Did, String) {
    let again = again.map(|(status, again)| (status, stream(again)));
    let Verdict { did, why } = received(&stream(&PLAIN), &stream(first), again.as_ref()).verdict(does);
    (did, why)
}

fn leaves(at: usize, again: (u16, &[Sent])) -> (Did, String) {
    verdict(FaultKind::Leave, &PLAIN[..at], Some(again))
}

#[test]
fn what_came_before_and_after_is_the_recorded_whole_once() {
    assert_eq!(leaves(2, (200, &PLAIN[2..])).0, Did::Recovered);
    // In other pieces, and after the event with which each stream begins.
    let rest = [PLAIN[0], ("text", "", r#"{"text": "are red."}"#), PLAIN[4]];
    assert_eq!(leaves(2, (200, &rest)).0, Did::Recovered);
    assert_eq!(leaves(5, (204, &[])).0, Did::Recovered);
    let hole = leaves(2, (200, &PLAIN[3..]));
    assert_eq!(hole, (Did::Lost, "\"Roses red.\" of 14 characters".to_owned()));
    assert_eq!(leaves(4, (200, &[])), (Did::Lost, "event `end`".to_owned()));
    assert_eq!(leaves(3, (200, &PLAIN[1..])), (Did::Doubled, "event `text` comes twice".to_owned()));
    let more = [("text", "", r#"{"text": "Roses are red."}"#), PLAIN[4]];
    assert_eq!(leaves(2, (200, &more)), (Did::Doubled, "20 characters of 14".to_owned()));
}

#[test]
fn a_service_that_cannot_resume_may_say_so() {
    assert_eq!(leaves(2, (404, &[])), (Did::Reported, "status 404".to_owned()));
    assert_eq!(leaves(2, (204, &[])), (Did::Reported, "status 204".to_owned()));
    let failed = [PLAIN[0], ("failed", "", r#"{"error": "timed out"}"#), PLAIN[4]];
    let has_all = |first: &[Sent]| verdict(FaultKind::Leave, first, Some((204, &[])));
    assert_eq!(has_all(&failed), (Did::Reported, "event `failed`: \"timed out\"".to_owned()));
    // Who had the last event is owed nothing, whatever else differs.
    let other = [PLAIN[0], ("text", "", r#"{"text": "Roses are blue."}"#), PLAIN[4]];
    assert_eq!(has_all(&other).0, Did::Recovered);
    assert_eq!(has_all(&other[..2]), (Did::Reported, "status 204".to_owned()));
    let gap = [("gap", "", r#"{"message": "what came meanwhile is gone"}"#), PLAIN[3], PLAIN[4]];
    assert_eq!(leaves(2, (200, &gap)), (Did::Reported, "event `gap`: \"what came meanwhile is gone\"".to_owned()));
    assert_eq!(verdict(FaultKind::Leave, &PLAIN[..2], None).0, Did::Lost);
}

#[test]
fn the_id_of_another_run_is_no_lost_text() {
    let (one, other) = ("5e3f0a9c-6d5b-4f7e-9a51-0c6f3f1f2b11", "0b9b6c1e-2f64-4a8e-8a8c-5d0f6e7a9c22");
    let sent = |id: &str| format!("event: begin\ndata: {{\"run\": \"{id}\"}}\n\nevent: end\ndata: {{}}\n\n");
    let of = |id: &str| Capture::new().push(sent(id).as_bytes());
    let named = |text: &str| text.replace(one, "<run_id>");
    let (recorded, again) = (of(one), (200, of(other)));
    let received = received(&recorded, &recorded[..1], Some(&again));
    let received = Received { normalize: &named, normalize_recorded: &named, anew: true, ..received };
    assert_eq!(received.verdict(FaultKind::Leave).did, Did::Recovered);
}

#[test]
fn each_of_two_clients_has_all_of_it() {
    let two = |first: &[Sent], second| verdict(FaultKind::Viewers, first, Some((200, second)));
    assert_eq!(two(&PLAIN, &PLAIN).0, Did::Recovered);
    let half = two(&PLAIN, &PLAIN[2..]);
    assert_eq!(half, (Did::Lost, "the second client: \"are red.\" of 14 characters".to_owned()));
    assert!(two(&PLAIN[..2], &PLAIN).1.starts_with("the first client: "));
    // Who is refused knows it.
    assert_eq!(verdict(FaultKind::Twice, &PLAIN, Some((409, &[]))), (Did::Reported, "status 409".to_owned()));
}

#[test]
fn ids_say_what_comes_twice() {
    let with_ids: Vec<Sent> =
        PLAIN.iter().zip(["1", "2", "3", "4", "5"]).map(|((name, _, data), id)| (*name, id, *data)).collect();
    let comes = |from: usize| verdict(FaultKind::Leave, &with_ids[..3], Some((200, &with_ids[from..])));
    assert_eq!(comes(2), (Did::Doubled, "event `text` with the id 3 comes twice".to_owned()));
    assert_eq!(comes(3).0, Did::Recovered);
}
