use crate::conversation::{Answer, Block};
use crate::events::{Capture, Captured, Foreign, Golden, Known, Recorded, ShapeOptions, Shaped, changes};

fn answer(text: &str) -> Answer {
    Answer { blocks: vec![Block::Text(text.to_owned())], ..Answer::default() }
}

/// The golden of a run in which the model said these texts in its turns. Other runs show what varies.
fn golden(line: &str, said: &[&str], committed: Option<&Golden>) -> Golden {
    let recorded = Recorded::of(&said.iter().map(|text| answer(text)).collect::<Vec<_>>());
    let mut foreign = Foreign::default();
    foreign.add_recorded(&recorded);
    // What `date +%Z` says on the Midway Islands.
    foreign.add_machine("-11");
    let events = format!("event: task\ndata: {line}\n\n");
    let captured = Captured::stream("POST /", Capture::new().push(events.as_bytes()));
    let known = Known { recorded, foreign: Some(foreign), has_others: true, committed, ..Known::default() };
    let normalize = |text: &str| crate::key::Normalizer::default().apply(text).into_owned();
    Shaped::of(&[captured], &ShapeOptions::default(), &known, &normalize).golden
}

fn read_again(golden: &Golden) -> Golden {
    let read = Golden::parse(&golden.to_string()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.to_string(), golden.to_string());
    read
}

const WORDS: &str = r#"{"steps": ["think", "look", "write"], "two": ["a", "b"], "scores": [0.25, 0.5, 0.75], "rows": [{"doc": "One of them", "ms": 5}, {"doc": "Two", "ms": 7},
    {"doc": "Three", "ms": 9}], "tools": ["find", "get", "get", "find"], "id": "550e8400-e29b-41d4-a716-446655440000", "none": [[], [], []]}"#;

#[test]
fn the_order_of_a_list_is_held_where_chance_would_not_repeat_it() {
    let line = WORDS.replace('\n', " ");
    let held = read_again(&golden(&line, &[], None));
    let swapped = |was: &str, is: &str| {
        assert!(line.contains(was), "{was}");
        golden(&line.replacen(was, is, 1), &[], Some(&held))
    };
    for (was, is, place) in [
        (r#""look", "write""#, r#""write", "look""#, "/steps"),
        (r#""find", "get", "get", "find""#, r#""find", "find", "get", "get""#, "/tools"),
        ("[0.25, 0.5, 0.75]", "[0.5, 0.25, 0.75]", "/scores"),
        (r#""a", "b""#, r#""b", "a""#, "/two"),
        (r#""One of them", "ms": 5}, {"doc": "Two""#, r#""Two", "ms": 5}, {"doc": "One of them""#, "/rows"),
    ] {
        let found = changes(&held, &swapped(was, is));
        let words = found.iter().map(crate::events::Change::words).collect::<Vec<_>>().join("\n");
        assert!(words.contains(&format!("the elements of `{place}` in another order")), "{words}");
    }
    let now = swapped(r#""ms": 5"#, r#""ms": 6"#).to_string();
    assert_eq!(now.replace("6 | 7 | 9", "5 | 7 | 9"), held.to_string());
    // Two may stand in either order: of them, more runs are asked.
    let mut of_few = held.clone();
    assert!(held.holds_order_of_two());
    of_few.leave_out_order_of_two();
    let text = of_few.to_string();
    assert!(!of_few.holds_order_of_two() && text.contains(r#"two        [2 × "a" | "b"]"#), "{text}");
    assert!(text.contains(", in order "), "{text}");
}

const A: &str = "550e8400-e29b-41d4-a716-446655440000";
const B: &str = "7d9f1c52-0c3b-4b9e-8c55-1d0a5b8e2f10";

#[test]
fn elements_with_ids_of_their_own_have_an_order_whatever_else_they_say() {
    let line = |titles: [&str; 2], ids: [&str; 2]| {
        let row = |at: usize| format!(r#"{{"id": "{}", "title": "{}"}}"#, ids[at], titles[at]);
        format!(r#"{{"had": ["{A}", "{B}"], "rows": [{}, {}]}}"#, row(0), row(1))
    };
    let mut held = golden(&line(["A trip to Rome", "Two seats, please"], [A, B]), &[], None);
    held.agree_on_values(&golden(&line(["A trip to Xome", "Two sXats, please"], [A, B]), &[], None));
    let held = read_again(&held);
    assert!(held.to_string().contains("rows       [2 × object, in order "), "{held}");
    let turned = golden(&line(["Two seats, please", "A trip to Rome"], [B, A]), &[], Some(&held));
    let found = changes(&held, &turned);
    let words = found.iter().map(crate::events::Change::words).collect::<Vec<_>>().join("\n");
    assert!(words.contains("the elements of `/rows` in another order"), "{words}");
}

#[test]
fn an_answer_that_is_joined_of_several_turns_has_its_place_in_any_words() {
    let line = |[first, then, last]: [&str; 3], asked: [&str; 2]| {
        let [one, other] = asked.map(|text| format!(r#"{{"who": "user", "text": "{text}"}}"#));
        let joined = format!(r#"{{"who": "desk", "text": "{first}\n\n{then}"}}"#);
        format!(r#"{{"rows": [{one}, {joined}, {other}, {{"who": "desk", "text": "{last}"}}]}}"#).replace('\n', "\\n")
    };
    let (words, others) =
        (["I look it up.", "It is here.", "Tomorrow."], ["Let me see.", "We have two.", "On Friday."]);
    let asked = ["How much is it?", "And when?"];
    let held = read_again(&golden(&line(words, asked), &words, None));
    assert!(held.to_string().contains(", in order "), "{held}");
    assert_eq!(golden(&line(others, asked), &others, Some(&held)), held);
    assert_ne!(golden(&line(words, [asked[0]; 2]), &words, Some(&held)), held, "each asks the same");
}

#[test]
fn an_order_that_a_run_has_otherwise_is_open_from_then_on() {
    let line = WORDS.replace('\n', " ");
    let other = line.replace(r#""look", "write""#, r#""write", "look""#);
    let mut first = golden(&line, &[], None);
    first.agree_on_values(&golden(&other, &[], Some(&first)));
    let held = read_again(&first);
    assert!(held.to_string().contains(", in any order]"), "{held}");
    assert_eq!(golden(&other, &[], Some(&held)), held);
    let mut anew = golden(&line, &[], None);
    anew.keep_open(&held);
    assert_eq!(anew, held);
}

#[test]
fn a_golden_whose_only_order_is_open_holds_in_each_run() {
    let line = r#"{"tools": [{"name": "look"}, {"name": "think"}, {"name": "write"}]}"#;
    let other = r#"{"tools": [{"name": "write"}, {"name": "look"}, {"name": "think"}]}"#;
    let mut first = golden(line, &[], None);
    first.agree_on_values(&golden(other, &[], Some(&first)));
    let held = read_again(&first);
    assert!(held.to_string().contains(", in any order]") && !held.to_string().contains(", in order "), "{held}");
    for run in [line, other] {
        assert_eq!(golden(run, &[], Some(&held)), held);
    }
}

#[test]
fn an_order_is_the_same_in_the_month_that_the_machines_zone_is_called() {
    let line = r#"{"threads": [{"at": "2026-10-28T00:20:00Z", "title": "The new one"}, {"at": "2026-10-27T08:00:00Z", "title": null}]}"#;
    let held = read_again(&golden(line, &[], None));
    assert!(held.to_string().contains(", in order "), "{held}");
    assert_eq!(golden(&line.replace("-10-", "-11-"), &[], Some(&held)), held);
}

/// Two tickets, and a list of four, two of which have the same subject. Each is an id, as a digit.
fn tickets(ids: [u8; 4], committed: Option<&Golden>) -> Golden {
    let id = |digit: u8| format!("{digit}50e8400-e29b-41d4-a716-446655440000");
    let [one, two, three, four] = ids.map(|digit| format!(r#"{{"ticket": {{"id": "{}"}}, "subject": "#, id(digit)));
    let rows = format!(r#"{one}"Rain"}}, {two}"Snow"}}, {three}"Wind"}}, {four}"Wind"}}"#);
    let made = [1, 2, 3, 4].map(id);
    golden(&format!(r#"{{"made": {made:?}, "rows": [{rows}]}}"#), &[], committed)
}

#[test]
fn the_ids_of_elements_belong_to_what_these_say() {
    let held = read_again(&tickets([1, 2, 3, 4], None));
    let swapped = tickets([2, 1, 3, 4], Some(&held));
    let found: Vec<String> = changes(&held, &swapped).iter().map(crate::events::Change::words).collect();
    assert!(found.len() == 1 && found[0].contains("the elements of `/rows` in another order"), "{found:?}");
    // Which of two that say the same comes first is not told: both may be sorted by their ids.
    assert_eq!(tickets([1, 2, 4, 3], Some(&held)), held);
}

/// Runs that began in an order, and are listed in another one: each is an id, as a digit.
fn done(ids: [u8; 3], committed: Option<&Golden>) -> Golden {
    let id = |digit: u8| format!("{digit}50e8400-e29b-41d4-a716-446655440000");
    let rows = ids.map(|digit| format!(r#"{{"run": "{}", "state": "done"}}"#, id(digit))).join(", ");
    let began = [1, 2, 3].map(id);
    golden(&format!(r#"{{"began": {began:?}, "rows": [{rows}]}}"#), &[], committed)
}

#[test]
fn of_three_elements_that_say_the_same_their_ids_tell_the_order() {
    let held = read_again(&done([1, 2, 3], None));
    let found: Vec<String> =
        changes(&held, &done([3, 2, 1], Some(&held))).iter().map(crate::events::Change::words).collect();
    assert!(found.len() == 1 && found[0].contains("the elements of `/rows` in another order"), "{found:?}");
    // They may be sorted by their ids, which are others in each run.
    let mut varied = done([1, 2, 3], None);
    varied.agree_on_values(&done([2, 1, 3], Some(&varied)));
    let varied = read_again(&varied);
    assert!(varied.to_string().contains(", in any order]"), "{varied}");
    assert_eq!(done([3, 1, 2], Some(&varied)), varied);
    // Older goldens have no such order.
    let older = regex::Regex::new(", in order [0-9a-f]{4}").unwrap().replace_all(&held.to_string(), "").into_owned();
    let older = Golden::parse(&older).unwrap();
    assert_eq!(done([3, 1, 2], Some(&older)), older);
}

#[test]
fn a_text_that_is_cut_counts_by_the_turn_that_it_begins() {
    let line = |said: [&str; 3]| {
        let [one, two, three] = said.map(|text| text.chars().take(16).collect::<String>());
        format!(r#"{{"rows": [{{"said": "{one}…"}}, {{"said": "{two}…"}}, {{"said": "{three}…"}}]}}"#)
    };
    let said = ["The rain goes on for days", "A dog may come with you", "No deposit is needed here"];
    let others = ["Es regnet noch ein paar Tage", "Ein Hund darf gerne mit", "Eine Kaution braucht es nicht"];
    let mut held = golden(&line(said), &said, None);
    let marked = ["Thx rain goes on for days", "A dxg may come with you", "No dexposit is needed here"];
    held.agree_on_values(&golden(&line(marked), &marked, None));
    let held = read_again(&held);
    assert!(held.to_string().contains(", in order "), "{held}");
    assert_eq!(golden(&line(others), &others, Some(&held)), held);
    let [one, two, three] = others;
    assert_ne!(golden(&line([two, one, three]), &others, Some(&held)), held);
    // Older goldens have the order of the texts as they are.
    let hash = |golden: &Golden| golden.to_string().split(", in order ").nth(1).unwrap()[..4].to_owned();
    let (now, before) = (hash(&held), hash(&golden(&line(said), &[], None)));
    assert_ne!(now, before);
    let older = Golden::parse(&held.to_string().replace(&now, &before)).unwrap();
    assert_eq!(golden(&line(said), &said, Some(&older)), older);
}

#[test]
fn elements_in_another_order_are_told_as_that_though_they_are_counted() {
    let line = r#"{"rows": [{"id": 1, "name": "Chair"}, {"id": 2, "name": "Table"}, {"id": 3, "name": "Lamp"}]}"#;
    let swapped = r#"{"rows": [{"id": 2, "name": "Table"}, {"id": 1, "name": "Chair"}, {"id": 3, "name": "Lamp"}]}"#;
    let held = read_again(&golden(line, &[], None));
    assert!(held.to_string().contains("from 1"), "{held}");
    let first = |line: &str| {
        let run = golden(line, &[], Some(&held)).with_order_if_alone(&held);
        changes(&held, &run).first().map(crate::events::Change::words).unwrap_or_default()
    };
    assert!(first(swapped).contains("the elements of `/rows` in another order"), "{}", first(swapped));
    // What they say otherwise tells more.
    let renamed = swapped.replace("Chair", "Stool");
    assert!(first(&renamed).contains("`/rows/[].name`"), "{}", first(&renamed));
}

#[test]
fn the_numbers_of_elements_belong_to_what_these_say_if_they_are_the_same_in_each_run() {
    let line = r#"{"rows": [{"name": "one", "hits": 5, "took_ms": 3}, {"name": "two", "hits": 7, "took_ms": 4}]}"#;
    let swapped = line.replace('5', "6").replace('7', "5").replace('6', "7");
    let held = read_again(&golden(line, &[], None));
    assert_eq!(golden(&line.replace(": 3", ": 9"), &[], Some(&held)), held);
    let found: Vec<String> =
        changes(&held, &golden(&swapped, &[], Some(&held))).iter().map(crate::events::Change::words).collect();
    assert!(
        found.len() == 1 && found[0].contains("the elements of `/rows` in another order, or their values mixed up"),
        "{found:?}"
    );
    let rows = |line: &str| line.replace(r#"{"rows": "#, "").replace("}]}", "}]");
    let list = read_again(&golden(&rows(line), &[], None));
    let of_list = changes(&list, &golden(&rows(&swapped), &[], Some(&list)));
    assert_eq!(of_list[0].words(), "the event `task` has its elements in another order, or their values mixed up");
    // Where they vary, what the texts say has an order all the same.
    let (mut first, varies) = (golden(line, &[], None), line.replace(": 5", ": 8"));
    first.agree_on_values(&golden(&varies, &[], Some(&first)));
    let held = read_again(&first);
    assert!(held.to_string().contains(", in order "), "{held}");
    assert_eq!(golden(&swapped, &[], Some(&held)), held);
    let other = line.replace("one", "three").replace("two", "one").replace("three", "two");
    assert_ne!(golden(&other, &[], Some(&held)), held);
}

#[test]
fn a_golden_without_orders_is_compared_without_them() {
    let line = WORDS.replace('\n', " ");
    let text = golden(&line, &[], None).to_string();
    let without = regex::Regex::new(", in order [0-9a-f]{4}").unwrap().replace_all(&text, "").into_owned();
    assert_ne!(without, text);
    let older = Golden::parse(&without).unwrap();
    let other = line.replace(r#""look", "write""#, r#""write", "look""#);
    assert_eq!(golden(&other, &[], Some(&older)).to_string(), without);
}

#[test]
fn the_words_of_the_model_count_by_their_turns() {
    let line = |said: [&str; 3]| {
        format!(r#"{{"talk": [{{"text": {:?}}}, {{"text": {:?}}}, {{"text": {:?}}}]}}"#, said[0], said[1], said[2])
    };
    let (said, others) = (["One thing", "Another thing", "The last"], ["Was es ist", "Ein anderes", "Ein letztes"]);
    let held = read_again(&golden(&line(said), &said, None));
    assert!(held.to_string().contains(", in order "), "{held}");
    assert_eq!(golden(&line(others), &others, Some(&held)), held);
    assert_ne!(golden(&line([others[1], others[0], others[2]]), &others, Some(&held)), held);
}

#[test]
fn a_list_that_grows_has_one_order_whichever_of_its_states_are_sent() {
    let hash = |lists: &[&[u64]]| {
        let mut neighbours = super::Neighbours::default();
        for list in lists {
            neighbours.add(&list.iter().map(|says| [*says, 0, 0, *says]).collect::<Vec<_>>());
        }
        neighbours.order()
    };
    assert_eq!(hash(&[&[1], &[1, 2], &[1, 2, 3]]), hash(&[&[1, 2, 3]]));
    assert_ne!(hash(&[&[1, 2, 3]]), hash(&[&[2, 1, 3]]));
    for few in [&[1, 1, 1][..], &[1, 2, 2, 2, 2], &[]] {
        assert_eq!(hash(&[few]), None, "{few:?}");
    }
    assert!(hash(&[&[1, 2, 2, 1]]).is_some() && hash(&[&[1, 2, 2, 2, 2, 2]]).is_some());
}

#[test]
fn a_code_that_somebody_named_belongs_to_its_row() {
    let of = |codes: [&str; 3], committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        foreign.add_text(r#"{"courses": ["bio-8", "bio-9", "math-7"], "one": "B-1"}"#);
        foreign.add_model("gpt-4.1");
        let known = Known { foreign: Some(foreign), has_others: true, committed, ..Known::default() };
        let [a, b, c] = codes;
        let line = format!(r#"{{"rows": [{{"of": "{a}"}}, {{"of": "{b}"}}, {{"of": "{c}"}}]}}"#);
        let captured = Captured::stream("POST /", Capture::new().push(format!("data: {line}\n\n").as_bytes()));
        Shaped::of(&[captured], &ShapeOptions::default(), &known, &|text: &str| text.to_owned()).golden
    };
    let held = read_again(&of(["bio-9", "math-7", "bio-8"], None));
    assert!(held.to_string().contains(", in order "), "{held}");
    assert_ne!(of(["bio-8", "math-7", "bio-9"], Some(&held)), held);
    // Versions that nobody named may be others tomorrow.
    let open = of(["v-1", "v-2", "v-3"], None).to_string();
    assert!(!open.contains(", in order "), "{open}");
}

#[test]
fn what_each_event_of_a_kind_says_is_held_as_one() {
    let events = |of: [&str; 2]| of.join("\n\nevent: task\ndata: ");
    let lines = [r#"{"name": "find", "ok": false, "took_ms": 5}"#, r#"{"name": "book", "ok": true, "took_ms": 7}"#];
    let swapped = [r#"{"name": "find", "ok": true, "took_ms": 5}"#, r#"{"name": "book", "ok": false, "took_ms": 7}"#];
    let mut held = golden(&events(lines), &["Done."], None);
    held.tell_derived(&held.clone(), &Recorded::of(&[answer("Done.")]));
    let (general, values) = held.apart();
    let (general, mut held) = (read_again(&general), read_again(&general));
    held.add_values(&read_again(&values.unwrap()));
    assert!(held.to_string().contains("\ntask  as a whole "), "{held}");
    // In either order, and however long it took.
    let slower = lines[0].replace('5', "6");
    assert_eq!(golden(&events([lines[1], lines[0]]), &["Done."], Some(&held)), held);
    assert_eq!(golden(&events([&slower, lines[1]]), &["Done."], Some(&held)).to_string(), held.to_string());
    let now = golden(&events(swapped), &["Done."], Some(&held));
    let found: Vec<String> = changes(&held, &now).iter().map(crate::events::Change::words).collect();
    assert_eq!(found, ["the event `task` has the same values, but other ones stand together in one event"]);
    // That is true of one recording, and where a golden says it.
    assert_eq!(golden(&events(swapped), &["Gone."], Some(&held)), held);
    assert_eq!(golden(&events(swapped), &["Done."], Some(&general)), general);
    // What it says at one place varied once: then so did this, though it is the same now.
    let said = |note: &str| {
        golden(&events([&lines[0].replace('}', &format!(r#", "note": "{note}"}}"#)), lines[1]]), &["Done."], None)
    };
    let (mut varied, mut later) = (said("Two calls left"), said("Two calls left"));
    assert!(later.to_string().contains("as a whole"), "{later}");
    varied.agree_on_values(&said("One call left"));
    assert!(!varied.to_string().contains("as a whole"), "{varied}");
    later.keep_open(&varied);
    assert_eq!(later, varied);
    // Ids of their own do not tell what events say besides.
    let with_ids = |note: &str| {
        let line = |id: &str, note: &str| format!(r#"{{"id": "{id}", "note": "{note}", "again": "{id}"}}"#);
        golden(&events([&line(A, note), &line(B, "None are left")]), &["Done."], None)
    };
    let mut varied = with_ids("Two calls left");
    assert!(varied.to_string().contains("as a whole"), "{varied}");
    varied.agree_on_values(&with_ids("One call left"));
    assert!(!varied.to_string().contains("as a whole"), "{varied}");
}
