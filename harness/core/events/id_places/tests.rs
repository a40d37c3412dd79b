use crate::conversation::{Answer, Block, ToolCall};
use crate::events::{Capture, Captured, Foreign, Golden, IdPlaces, Known, Recorded, ShapeOptions, Shaped};
use crate::json::Json;

fn captured(lines: &[String]) -> Vec<Captured> {
    let events: Vec<String> = lines.iter().map(|line| format!("event: task\ndata: {line}\n\n")).collect();
    vec![Captured::stream("POST /", Capture::new().push(events.concat().as_bytes()))]
}

/// A run in which a part begins and ends, in the list of a message.
fn run(part: &str, ended: &str, message: &str) -> Vec<Captured> {
    captured(&[
        format!(
            r#"{{"at": {{"part": "{part}"}}, "word": "{message}", "uuid": "0b5e0a6e-6b1c-4f0f-9d7a-1f0c2d3e4f5a"}}"#
        ),
        format!(r#"{{"ended": {{"part": "{ended}"}}, "list": [{{"id": "{message}"}}], "tag": "fast"}}"#),
    ])
}

fn golden(run: &[Captured], short: Option<&IdPlaces>, committed: Option<&Golden>) -> Golden {
    let known = Known { id_places: short, committed, ..Known::default() };
    Shaped::of(run, &ShapeOptions::default(), &known, &str::to_owned).golden
}

fn of(runs: [&[Captured]; 2]) -> IdPlaces {
    of_calls(runs, &[])
}

/// A recording in which the model calls tools.
fn calls(ids: &[&str]) -> Recorded {
    let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "find".to_owned(), args: Json::Null };
    let blocks = ids.iter().map(|id| Block::ToolCall(call(id))).collect();
    Recorded::of([&Answer { blocks, ..Answer::default() }])
}

fn of_calls(runs: [&[Captured]; 2], ids: &[&str]) -> IdPlaces {
    // As the rules of the key do.
    let normalize = |text: &str| text.replace("0b5e0a6e-6b1c-4f0f-9d7a-1f0c2d3e4f5a", "<UUID>");
    let runs = runs.map(|run| (run, &normalize as &dyn Fn(&str) -> String));
    IdPlaces::of(&runs, &ShapeOptions::default(), &calls(ids), &|_| false)
}

#[test]
fn a_text_that_each_run_has_otherwise_is_an_id_if_it_is_no_word() {
    let (one, other) = (run("4f1c09ab", "4f1c09ab", "V1StGXR8"), run("90aa1b7c", "90aa1b7c", "x9LmPq_2"));
    let short = of([&one, &other]);
    let [written, again] = [&one, &other].map(|run| golden(run, Some(&short), None));
    assert_eq!(written, again);
    let text = written.to_string();
    let lines: Vec<String> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in ["part short id 1", "list? [{id: short id 2}]", "word? short id 2", "tag? string", "uuid? id"] {
        assert!(lines.iter().any(|of| of == line), "{line}\n{text}");
    }
    let read = Golden::parse(&text).unwrap();
    assert_eq!(read, written);
    assert!(IdPlaces::named(&read).has_all(&short));
    assert_eq!(golden(&other, None, Some(&read)), read, "the committed golden says where they are");
    let crossed = golden(&run("90aa1b7c", "11fe22dc", "x9LmPq_2"), None, Some(&read));
    assert_ne!(crossed, read, "an end without its beginning");
    let lost = golden(&run("90aa1b7c", "90aa1b7c", "none"), None, Some(&read));
    assert_ne!(lost, read, "too short for an id");
}

#[test]
fn ids_of_tool_calls_are_ids_whatever_their_form() {
    let same = |run: &[Captured]| of_calls([run, run], &["u5b5hwhr1", "functions.find:15", "call"]);
    let (one, other) = (run("u5b5hwhr1", "u5b5hwhr1", "functions.find:15"), run("vs9omq8bt", "vs9omq8bt", "find:2"));
    let written = golden(&one, Some(&same(&one)), None);
    assert!(written.to_string().contains("short id 1"), "{written}");
    let committed = Golden::parse(&written.to_string()).unwrap();
    assert_eq!(golden(&other, None, Some(&committed)), committed, "another recording has others");
    let crossed = golden(&run("vs9omq8bt", "u5b5hwhr1", "find:2"), None, Some(&committed));
    assert_ne!(crossed, committed, "a result of another call");
    // Too few characters may be the same by chance, and a word is none.
    for (run, count) in [(run("call", "call", "call"), 0), (run("u5b5hwhr1", "u5b5hwhr1", "Rome"), 2)] {
        let golden = golden(&run, Some(&same(&run)), None).to_string();
        assert_eq!(golden.matches("short id 1").count(), count, "{golden}");
    }
}

#[test]
fn an_id_of_a_tool_call_without_digits_is_one_beside_those_with_digits() {
    let run = |ids: [&str; 3]| captured(&ids.map(|id| format!(r#"{{"call": "{id}", "ended": {{"call": "{id}"}}}}"#)));
    let shaped = |[ids, of_calls]: [[&str; 3]; 2], short: Option<&IdPlaces>, committed: Option<&Golden>| {
        let (recorded, foreign) = (calls(&of_calls), Some(Foreign::default()));
        let known = Known { recorded, foreign, has_others: true, id_places: short, committed, ..Known::default() };
        Shaped::of(&run(ids), &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let with_digits = ["call_9iwggguyxxpsbdihkak1", "call_8iwggguyxxpsbdihkak1", "call_7iwggguyxxpsbdihkak1"];
    let one_without = ["call_9iwggguyxxpsbdihkakb", "call_xkiwggguyxxpsbdihkak", "call_2tggguyxxpsbdihkakbc"];
    let all_without = ["call_tfiwggguyxxpsbdihkak", "call_wkiwggguyxxpsbdihkak", "call_zziwggguyxxpsbdihkak"];
    for first in [with_digits, one_without] {
        let short = of_calls([&run(first), &run(first)], &first);
        let written = shaped([first; 2], Some(&short), None).to_string();
        assert!(written.contains("id 1..3"), "{written}");
        let committed = Golden::parse(&written).unwrap();
        for ids in [with_digits, one_without, all_without] {
            assert_eq!(shaped([ids; 2], None, Some(&committed)), committed, "{ids:?}");
        }
        let unknown = [first[0], "call_undefined", first[2]];
        assert_ne!(shaped([unknown, first], None, Some(&committed)), committed, "no id of a call");
    }
    // As a golden has it that was written before, where the same event of another answer has only ids.
    let answers = [run(one_without), run(with_digits)].concat();
    let shaped = |committed: Option<&Golden>| {
        let recorded = calls(&[&one_without[..], &with_digits].concat());
        let known =
            Known { recorded, foreign: Some(Foreign::default()), has_others: true, committed, ..Known::default() };
        Shaped::of(&answers, &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let before = Golden::parse(&shaped(None).to_string()).unwrap();
    assert!(before.to_string().contains("\"call_xkiwggguyxxpsbdihkak\" | id 1..2"), "{before}");
    assert_eq!(shaped(Some(&before)), before);
}

#[test]
fn words_of_which_one_is_chosen_are_no_ids() {
    let (one, other) = (run("welcome", "welcome", "Sunshine"), run("farewell", "farewell", "Moonlight"));
    assert_eq!(of([&one, &other]), IdPlaces::default());
    // Nor is what both runs have.
    let (one, other) = (run("4f1c09ab", "4f1c09ab", "a1"), run("4f1c09ab", "4f1c09ab", "b2"));
    assert_eq!(of([&one, &other]), IdPlaces::default());
}

#[test]
fn an_id_without_a_form_is_no_part_of_the_order_of_a_list_and_no_word() {
    let run = |ids: [&str; 3]| {
        let [a, b, c] = ids.map(|id| format!(r#""id": "{id}""#));
        captured(&[format!(
            r#"{{"stops": [{{{a}, "city": "Bern"}}, {{{b}, "city": "Chur"}}, {{{c}, "city": "Thun"}}]}}"#
        )])
    };
    // One has no digit.
    let (one, other) = (run(["kQxRtYbW", "x9LmPq_2", "f00dBabe"]), run(["V1StGXR8", "4f1c09ab", "Zz91kkQp"]));
    let short = of([&one, &other]);
    let shaped = |run: &[Captured], committed: Option<&Golden>| {
        let (foreign, short) = (Some(Foreign::default()), committed.is_none().then_some(&short));
        let known = Known { foreign, has_others: true, id_places: short, committed, ..Known::default() };
        Shaped::of(run, &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let written = shaped(&one, None);
    let text = written.to_string();
    assert!(text.contains("[].id      3 short ids"), "{text}");
    assert!(text.contains(", in order "), "{text}");
    let read = Golden::parse(&text).unwrap();
    assert_eq!(shaped(&other, Some(&read)), read);
}

#[test]
fn a_checksum_that_each_run_has_is_no_id() {
    let run = |sum: &str, id: &str| captured(&[format!(r#"{{"sum": "{sum}", "id": "{id}", "call": "call_{sum}"}}"#)]);
    let sums = ["873d2d89776cbe925268", "3bb456cb2f450701d08f"];
    let runs = [run(sums[0], "a1b2c3d4e5f60718"), run(sums[0], "0918273645f0e1d2")];
    let of = |came: &dyn Fn(&str) -> bool| {
        let runs = runs.each_ref().map(|run| (&run[..], &str::to_owned as &dyn Fn(&str) -> String));
        IdPlaces::of(&runs, &ShapeOptions::default(), &calls(&[&format!("call_{}", sums[0])]), came)
    };
    assert_eq!(of(&|text| text == sums[0]), IdPlaces::default(), "it came from a tool");
    let short = of(&|_| false);
    let shaped = |run: &[Captured], committed: Option<&Golden>| {
        let short = committed.is_none().then_some(&short);
        let foreign = Some(Foreign::default());
        let known = Known { foreign, has_others: true, id_places: short, committed, ..Known::default() };
        Shaped::of(run, &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let written = shaped(&runs[0], None);
    let text = written.to_string();
    assert!(text.contains(&format!("sum        \"{}\"", sums[0])) && text.contains("id         id\n"), "{text}");
    let committed = Golden::parse(&text).unwrap();
    assert!(IdPlaces::named(&committed).has_all(&short));
    assert_eq!(shaped(&runs[1], Some(&committed)), committed);
    assert_ne!(shaped(&run(sums[1], "a1b2c3d4e5f60718"), Some(&committed)), committed, "of something else");
}

#[test]
fn a_value_of_the_run_may_get_another_form() {
    let part = "0b5e0a6e-6b1c-4f0f-9d7a-1f0c2d3e4f5a";
    let shaped = |value: &str, shown: &str, committed: Option<&Golden>| {
        let named = |text: &str| text.replace(value, "<part>");
        let known = Known { committed, ..Known::default() };
        Shaped::of(&run(shown, shown, "fast"), &ShapeOptions::default(), &known, &named).golden
    };
    let written = shaped("4f1c09ab77e2", "4f1c09ab77e2", None);
    assert!(written.to_string().contains("<part>"), "{written}");
    let committed = Golden::parse(&written.to_string()).unwrap();
    for value in ["zX0_La-QM7BwDWNc", &format!("part_{part}")] {
        assert_eq!(shaped(value, value, Some(&committed)), committed, "{value}");
    }
    assert_ne!(shaped("zX0_La-QM7BwDWNc", "zX0_La-QM7BwDWNd", Some(&committed)), committed, "another one");
}

#[test]
fn an_id_with_a_form_may_get_another_one() {
    let run = |ids: [&str; 3]| {
        let [of, again, alone] = ids;
        captured(&[
            format!(r#"{{"thread": {{"id": "{of}"}}, "order": "{alone}"}}"#),
            format!(r#"{{"closed": "{again}", "order": null}}"#),
        ])
    };
    let shaped = |run: &[Captured], committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        // With the thread, which the scenario sends back.
        foreign.add_text(r#"["customer-4711", "m_kx3zq81w", "m_0918273645f0e1d2a3b4"]"#);
        let known = Known { foreign: Some(foreign), has_others: true, committed, ..Known::default() };
        // The scenario has captured the thread: of an id with a form only that counts.
        let names = |text: &str| {
            text.replace("m_5f0c2d3e4f5a6b7c", "m_<ID>")
                .replace("m_kx3zq81w", "<thread>")
                .replace("m_0918273645f0e1d2a3b4", "<thread>")
        };
        Shaped::of(run, &ShapeOptions::default(), &known, &names).golden
    };
    let committed = shaped(&run(["m_5f0c2d3e4f5a6b7c", "m_5f0c2d3e4f5a6b7c", "a1b2c3d4e5f60718"]), None);
    let committed = Golden::parse(&committed.to_string()).unwrap();
    assert_eq!(shaped(&run(["m_kx3zq81w", "m_kx3zq81w", "01JDZW7Q8"]), Some(&committed)), committed);
    // With a form, too, it is named as a whole.
    let hex = "m_0918273645f0e1d2a3b4";
    assert_eq!(shaped(&run([hex, hex, "a1b2c3d4e5f60718"]), Some(&committed)), committed);
    for (ids, why) in [
        (["m_kx3zq81w", "m_kx3zq81v", "01JDZW7Q8"], "another thread is closed"),
        (["m_kx3zq81w", "m_kx3zq81w", "m_kx3zq81w"], "the order has the id of the thread"),
        (["unknown_thread", "unknown_thread", "01JDZW7Q8"], "a word"),
        (["m_kx3zq81w", "m_kx3zq81w", "customer-4711"], "what somebody else said"),
        (["m_kx3zq81w", "m_kx3zq81w", "order 7 of May"], "a text"),
    ] {
        assert_ne!(shaped(&run(ids), Some(&committed)), committed, "{why}");
    }
}
