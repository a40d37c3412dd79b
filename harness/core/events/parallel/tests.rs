use proptest::prelude::*;

use super::*;
use crate::conversation::{Block, ToolCall};
use crate::events::Payload;
use crate::events::captured::{AfterLast, Delivery, Status};
use crate::events::{Detail, Event, Known, Shaped};

/// An event with this data.
fn event(name: &str, data: &str) -> Event {
    Event { name: Some(name.into()), id: None, payload: Payload::Data(data.into()) }
}

fn captured(events: Vec<Event>) -> Vec<Captured> {
    let request = "GET /".to_owned();
    let content_type = "text/event-stream".to_owned();
    vec![Captured {
        request,
        status: Status::Http(200),
        content_type,
        events,
        after: AfterLast::default(),
        delivery: Delivery::default(),
        tree: None,
    }]
}

/// The calls of answers with these ids.
fn recorded(answers: &[&[&str]]) -> Calls {
    let call = |id: &&str| Block::ToolCall(ToolCall { id: (*id).to_owned(), name: "t".to_owned(), args: Json::Null });
    let answer = |ids: &&[&str]| Answer { blocks: ids.iter().map(call).collect(), ..Answer::default() };
    Calls::of(&answers.iter().map(answer).collect::<Vec<_>>())
}

/// The events in order, each as its data. The events are those of this text, by spaces: `a1` belongs to the call `a`, `ab` to `a`
/// and `b`, `-` to none.
fn sorted(events: &str, answers: &[&[&str]], options: &ShapeOptions) -> String {
    let ids = |token: &str| -> Vec<String> {
        token.chars().filter(char::is_ascii_lowercase).map(|id| format!("\"{id}\"")).collect()
    };
    let of = |token: &str| event("e", &format!(r#"{{"n": {token:?}, "of": {{"ids": [{}]}}}}"#, ids(token).join(", ")));
    let captures = captured(events.split(' ').map(of).collect());
    let calls = recorded(answers);
    let captures = calls.in_order(&captures, options, &str::to_owned);
    let name = |event: &Event| event.json().unwrap().str_of("n").unwrap().to_owned();
    captures[0].events.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn neighbouring_events_of_parallel_calls_stand_in_the_order_of_the_calls() {
    let sorted = |events: &str| sorted(events, &[&["a", "b", "c"]], &ShapeOptions::default());
    assert_eq!(sorted("- b1 a1 -"), "- a1 b1 -");
    // The events of a call keep their order.
    assert_eq!(sorted("a1 b1 a2 c1 b2 a3"), "a1 a2 a3 b1 b2 c1");
    assert_eq!(sorted("a2 b2 a1 b1"), "a2 a1 b2 b1");
    // Nothing is moved past an event of no call, or of several.
    assert_eq!(sorted("b1 - a1"), "b1 - a1");
    assert_eq!(sorted("b1 ab a1"), "b1 ab a1");
    assert_eq!(sorted("b1 a1 - b2 a2"), "a1 b1 - a2 b2");
}

#[test]
fn events_stay_as_they_came_if_the_calls_are_of_different_answers_or_the_order_counts() {
    let plain = ShapeOptions::default();
    assert_eq!(sorted("b1 a1", &[&["a"], &["b"]], &plain), "b1 a1");
    assert_eq!(sorted("b1 a1", &[], &plain), "b1 a1");
    assert_eq!(sorted("b1 a1", &[&["a", "b"]], &ShapeOptions { ordered: true, ..plain }), "b1 a1");
}

#[test]
fn events_of_agents_that_tools_run_are_put_together_first() {
    // `p` and `q` run agents; `a` and `b` are calls of the agent that `p` runs.
    let answers: &[&[&str]] = &[&["p", "q"], &["a", "b"]];
    assert_eq!(sorted("pb1 q1 pa1 p2 q2", answers, &ShapeOptions::default()), "pa1 pb1 p2 q1 q2");
    // The same ids in several answers.
    let answers: &[&[&str]] = &[&["a", "b"], &["a"], &["a", "b"], &["a", "b", "c"]];
    assert_eq!(sorted("b1 a1 - c1 b1 a1", answers, &ShapeOptions::default()), "a1 b1 - a1 b1 c1");
}

#[test]
fn what_a_golden_leaves_out_separates_nothing_and_stays_in_its_place() {
    let of = |id: &str| event("done", &format!(r#"{{"tool_call_id": "{id}"}}"#));
    let heartbeat = Event { name: None, id: None, payload: Payload::Comment("alive".into()) };
    let ping = event("ping", "{}");
    let captures = captured(vec![of("b"), heartbeat.clone(), ping.clone(), of("a")]);
    let calls = recorded(&[&["a", "b"]]);
    let sorted = |options: &ShapeOptions| calls.in_order(&captures, options, &str::to_owned)[0].events.clone();
    let ignoring = ShapeOptions { ignore: vec!["ping".to_owned()], ..ShapeOptions::default() };
    assert_eq!(sorted(&ignoring), [of("a"), heartbeat, ping, of("b")]);
    assert_eq!(sorted(&ShapeOptions::default()), captures[0].events);
    assert_eq!(sorted(&ShapeOptions { comments: true, ..ignoring }), captures[0].events);
}

/// The forms in which frameworks send the id of a call.
#[test]
fn the_id_is_found_at_any_depth_and_as_a_key() {
    let forms = [
        (r#"{"tools": {"messages": [{"type": "tool", "tool_call_id": "ID"}]}}"#, "updates"),
        (r#"[{"type": "tool", "tool_call_id": "ID"}, {"langgraph_node": "tools"}]"#, "messages"),
        (r#"{"type": "task_result", "payload": {"result": {"messages": [{"tool_call_id": "ID"}]}}}"#, "debug"),
        (r#"{"type": "TOOL_CALL_RESULT", "toolCallId": "ID", "messageId": "x"}"#, "agui"),
        (r#"{"type": "tool-output-available", "toolCallId": "ID", "output": {}}"#, "aisdk"),
        (r#"{"results": {"ID": 1}}"#, "keyed"),
    ];
    for (form, name) in forms {
        let of = |id: &str| event(name, &form.replace("ID", id));
        let captures = captured(vec![of("call_2"), of("call_1")]);
        let calls = recorded(&[&["call_1", "call_2"]]);
        let sorted = calls.in_order(&captures, &ShapeOptions::default(), &str::to_owned);
        assert_eq!(sorted[0].events, [of("call_1"), of("call_2")], "{name}");
    }
}

#[test]
fn ids_tell_the_order_if_each_call_has_events_and_nothing_stands_between_them() {
    let told = |events: &str, answers: &[&[&str]], options: &ShapeOptions| {
        let of = |token: &str| {
            event("e", &format!(r#"{{"of": {:?}}}"#, token.chars().map(String::from).collect::<Vec<_>>()))
        };
        let captures = captured(events.split(' ').map(of).collect());
        recorded(answers).are_told_apart(&captures, options, &str::to_owned)
    };
    let plain = ShapeOptions::default();
    let two: &[&[&str]] = &[&["a", "b"]];
    assert!(told("- ab b a -", two, &plain));
    assert!(told("-", &[&["a"]], &plain) && told("-", &[], &plain));
    for unknown in ["- -", "a -", "a - b", "ab", "a b - a"] {
        assert!(!told(unknown, two, &plain), "{unknown}");
    }
    assert!(!told("a b", &[&["a", ""]], &plain) && !told("a b", &[&["a", "a"]], &plain));
    assert!(!told("a b", two, &ShapeOptions { ordered: true, ..plain.clone() }));
    assert!(told("a", &[&["a"]], &ShapeOptions { ordered: true, ..plain }));
}

/// A sequence of events for each of three calls, and the order in which the calls take their turns.
fn interleaved() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<usize>, Vec<usize>)> {
    let sequences = prop::collection::vec(prop::collection::vec(0..4u8, 0..5), 3);
    let all = |sequences: &[Vec<u8>]| -> Vec<usize> {
        sequences.iter().enumerate().flat_map(|(call, events)| vec![call; events.len()]).collect()
    };
    sequences.prop_flat_map(move |sequences| {
        let turns = all(&sequences);
        (Just(sequences), Just(turns.clone()).prop_shuffle(), Just(turns).prop_shuffle())
    })
}

proptest! {
    /// Whatever the kinds of the events, their texts and their ids: the golden is the same for each interleaving.
    #[test]
    fn any_interleaving_gives_the_same_golden((sequences, one, other) in interleaved(), collapsed: bool, values: bool) {
        let calls = recorded(&[&["call_0", "call_1", "call_2"]]);
        let options = ShapeOptions {
            collapse: if collapsed { vec!["messages".to_owned()] } else { Vec::new() },
            detail: if values { Detail::Values } else { Detail::Types },
            show: vec!["/run".to_owned()],
            ..ShapeOptions::default()
        };
        let golden = |turns: &[usize]| {
            let mut next = [0; 3];
            let mut events = vec![event("start", r#"{"calls": ["call_0", "call_1", "call_2"]}"#)];
            for &call in turns {
                let run = format!("{call:04}{:08x}", next[call]);
                events.push(match sequences[call][next[call]] {
                    0 => event("updates", &format!(r#"{{"tools": [{{"tool_call_id": "call_{call}"}}], "run": "{run}"}}"#)),
                    1 => event("messages", &format!(r#"[{{"tool_call_id": "call_{call}", "content": "of {run}"}}]"#)),
                    2 => event("log", &format!(r#"{{"id": "call_{call}", "status": "s{call}", "l": [{call}]}}"#)),
                    _ => event("done", &format!(r#"{{"call_{call}": true}}"#)),
                });
                next[call] += 1;
            }
            events.push(event("end", "null"));
            let known = Known { calls: calls.clone(), ..Known::default() };
            Shaped::of(&captured(events), &options, &known, &str::to_owned).golden
        };
        prop_assert_eq!(golden(&one), golden(&other));
    }
}
