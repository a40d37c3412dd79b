use std::path::Path as File;

use proptest::prelude::*;

use super::*;
use crate::events::golden::EventIds;
use crate::events::held::Lane;
use crate::events::notation;
use crate::events::path::Path;
use crate::events::recorded::Source;
use crate::events::times;
use crate::events::told::{How, Told};

/// Returns the texts of all goldens in the repository, without their headers.
fn of_the_repository() -> Vec<(String, String)> {
    let root = File::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("goldens"), root.join("tests"), root.join("packages")];
    let mut goldens = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = entry.to_string_lossy().into_owned();
            if entry.is_dir() && !name.ends_with("worlds") && !name.contains("node_modules") {
                folders.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "snap") {
                let text = std::fs::read_to_string(&entry).unwrap();
                let text = text.splitn(3, "---\n").nth(2).unwrap_or_default().to_owned();
                goldens.push((name, text));
            }
        }
    }
    goldens
}

#[test]
fn every_golden_of_the_repository_is_read_and_written_again() {
    let goldens = of_the_repository();
    assert!(goldens.len() > 40, "{}", goldens.len());
    for (file, text) in goldens {
        let golden = Golden::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let again = golden.to_string();
        // Before 0.2, the columns of a golden had other places, and values stood on the line of their event.
        if !file.contains("/carried/0.1/") {
            assert_eq!(again.trim_end(), text.trim_end(), "{file}");
        }
        assert_eq!(Golden::parse(&again).unwrap(), golden, "{file}");
    }
}

#[test]
fn a_damaged_golden_is_an_error_with_a_place_and_never_a_panic() {
    let (mut errors, mut tried) = (0, 0);
    for (_, text) in of_the_repository() {
        let step = (text.len() / 12).max(1);
        for at in (0..text.len()).step_by(step) {
            let mut damaged = vec![text.as_bytes()[..at].to_vec()];
            for flip in [1, 2, 4, 8, 16, 32, 64, 0x80] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= flip;
                damaged.push(bytes);
            }
            for bytes in damaged {
                tried += 1;
                let text = String::from_utf8_lossy(&bytes);
                match Golden::parse(&text) {
                    Ok(golden) => drop(golden.to_string()),
                    Err(error) => {
                        errors += 1;
                        let named = error.clone().in_file(File::new("goldens/x.snap")).to_string();
                        let place = named.trim_start_matches("goldens/x.snap:").splitn(3, ':').collect::<Vec<_>>();
                        let number = |nth: usize| place[nth].trim().parse::<usize>().unwrap_or(0);
                        assert!((1..=text.lines().count()).contains(&number(0)), "{named}");
                        assert!(named.starts_with("goldens/x.snap:") && error.first_line().len() < 300, "{named}");
                    }
                }
            }
        }
    }
    assert!(errors * 20 > tried, "{errors} of {tried}");
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (text, expected) in [
        ("POST /\nhello\n", "2:1: expected a status, found `hello`"),
        ("POST /\n200\n\na  {b\n", "4:6: expected `, `, found the end of the line"),
        ("POST /\n200\n\n  a\n", "4:3: expected an event, found `a`"),
        ("POST /\n200\n\nm  …  words\n", "4:7: expected a text in quotes, found `words`"),
        ("POST /\n200\n\na  {}\n\na\n    b  string\n", "7:5: this line is indented by 4 spaces, expected 2"),
        ("POST /\n200\n\na  {}\n\na\n  b  [string\n", "7:13: expected `]`, found the end of the line"),
        ("POST /\n200\n\na  {}\n\na  as in b.c\n", "6:1: as in `b.c`, which does not stand above with lines below it"),
        (
            "POST /\n200\n\na  {}\n\na\n\nPOST /\n",
            "8:1: expected two blank lines before the next answer, found `POST /`",
        ),
    ] {
        let error = Golden::parse(text).unwrap_err().in_file(File::new("x"));
        assert_eq!(error.to_string(), format!("x:{expected}"), "{text}");
    }
    let deep = format!("POST /\n200\n\na  {{}}\n\na\n  b  {}", "[".repeat(100_000));
    assert!(Golden::parse(&deep).is_err());
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z_]{1,6}", 1 => "[ -~é×…]{0,8}"].prop_map(|name| notation::name(&name).into_owned())
}

fn kind() -> impl Strategy<Value = Kind> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["string", "number", "null", "boolean", "object", "ai"]).prop_map(Kind::plain),
        "[ -~é|…×]{0,8}".prop_map(|text| Kind::Quoted(notation::json_quoted(&text))),
        (1..30_usize).prop_map(Kind::More),
        (
            prop::sample::select(vec!["yyyy-mm-dd hh:mm:ss.fZ", "time in ms"]),
            prop::sample::select(vec!["", " - 14 d", times::NOW, times::LATER])
        )
            .prop_map(|(form, away)| Kind::Time(form.to_owned(), away.to_owned())),
        prop::sample::select(vec![Kind::plain("0.25"), Kind::Quoted(r#""a | b = c of this recording""#.to_owned())])
            .prop_map(|kind| Kind::Derived(Box::new(kind))),
        ["[ -~é|…×]{0,8}"; 2].prop_map(|both| {
            let [own, whole] = both.map(|text| Box::new(Kind::Quoted(notation::json_quoted(&text))));
            Kind::Whole(own, whole)
        }),
        prop_oneof![
            Just(Id::One),
            (2..9_usize).prop_map(Id::Several),
            (1..9_usize, 0..9_usize).prop_map(|(first, more)| Id::Numbered(first, first + more)),
            (5..9_usize).prop_map(Id::Known),
            "[a-z ,|]{1,6}".prop_map(|name| Id::Named(format!("<{name}>"))),
        ]
        .prop_map(Kind::Id),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let kinds = || prop::collection::vec(inner.clone(), 1..4);
        let field = (name(), any::<bool>(), kinds());
        let field = field.prop_map(|(name, optional, kinds)| Field { name, optional, kinds });
        let order = prop::sample::select(vec![None, Some(Order::Any), Some(Order::Is(vec!["4f1c".to_owned()]))]);
        let range = prop::option::of((0..9_usize, 1..9_usize));
        let list = (range, prop::option::of(1..99_usize), any::<bool>(), kinds(), order);
        prop_oneof![
            prop::collection::vec(field, 1..4).prop_map(Kind::Object),
            Just(Kind::List(List::default())),
            list.prop_map(|(range, total, reordered, elements, order)| {
                Kind::List(List { range, elements, total, reordered, order })
            }),
        ]
    })
}

fn node() -> impl Strategy<Value = Node> {
    let kinds = || prop::collection::vec(kind(), 1..3);
    let part = || prop_oneof![3 => name(), 1 => name().prop_map(|name| format!("[].{name}"))];
    let node = (part(), any::<bool>(), kinds());
    let leaf = node.prop_map(|(name, optional, kinds)| Node { name, optional, kinds, ..Node::default() });
    leaf.prop_recursive(4, 24, 6, move |inner| {
        (part(), any::<bool>(), kinds(), prop::collection::vec(inner, 0..7)).prop_map(
            |(name, optional, kinds, mut below)| {
                below.sort_by(|a, b| a.name.cmp(&b.name));
                below.dedup_by(|a, b| a.name == b.name);
                Node { name, optional, kinds, below, ..Node::default() }
            },
        )
    })
}

fn label() -> impl Strategy<Value = String> {
    name().prop_filter("a note", |name| !name.starts_with('(') && name != ":")
}

fn shown() -> impl Strategy<Value = Shown> {
    prop_oneof![
        (name(), "[!-~]([ -~]{0,7}[!-~])?").prop_map(|(pointer, value)| Shown::Value(pointer, value)),
        "[ -~]{0,8}".prop_map(|line| Shown::Line(notation::json_quoted(&line))),
    ]
}

fn text() -> impl Strategy<Value = Shown> {
    let path = || "(/[a-z* ,]{1,4}){0,3}".prop_map(|path| Path::of(&path).unwrap());
    let lane = prop_oneof![Just(Lane::Position), path().prop_map(Lane::Value)];
    let held = (path(), prop::collection::vec(lane, 0..3)).prop_map(|(path, lanes)| Held { path, lanes });
    let manner = || {
        prop::option::of(prop::sample::select(crate::events::held::MANNERS.to_vec()))
            .prop_map(Option::unwrap_or_default)
    };
    let start = ("[ -~é]{0,8}", 0..99_usize, "[0-9a-f]{4}", manner());
    let source = (1..30_usize, prop::sample::select(vec!["", "reasoning", "text-2", "/a", "\"/a, b\""]));
    let source = source.prop_map(|(turn, part)| Source { turn, part: part.to_owned() });
    let how = prop::sample::select(How::ALL.to_vec());
    let told = (how, prop::collection::vec(source, 1..3)).prop_map(|(how, of)| Told { how, of });
    let said = prop_oneof![
        4 => start.prop_map(|(start, count, hash, manner)| Text::Start(notation::json_quoted(&start), count, hash, manner)),
        1 => (1..9_usize, "[0-9a-f]{4}").prop_map(|(count, hash)| Text::More(count, hash)),
    ];
    prop_oneof![
        4 => (prop::collection::vec(held.clone(), 1..3), told, manner())
            .prop_map(|(places, told, manner)| Shown::Text(places, Text::Turns(told, manner))),
        9 => (prop::collection::vec(held, 0..3), said).prop_map(|(places, text)| Shown::Text(places, text)),
        1 => Just(Shown::NotHeld),
    ]
}

fn event() -> impl Strategy<Value = EventLine> {
    let keys = prop::collection::vec((name(), prop::option::of("[1-9](\\.\\.[1-9])?(, [1-9])?")), 0..4);
    let word = prop_oneof![
        Just(String::new()),
        prop::sample::select(vec!["null", "text", "string"]).prop_map(str::to_owned),
        "[ -~×]{0,8}".prop_map(|text| notation::json_quoted(&text)),
    ];
    let top = prop_oneof![keys.prop_map(Top::Keys), "[0-9]{0,3}".prop_map(Top::List), word.prop_map(Top::Word),];
    let line = |label, top, times, shown| EventLine { label, top, times, shown, is_late: false };
    prop_oneof![
        3 => (label(), top, 1..4_usize, prop::collection::vec(shown(), 0..3))
            .prop_map(move |(label, top, times, shown)| line(label, top, times, shown)),
        1 => (label(), prop_oneof![prop::collection::vec(text(), 0..3), conversation()])
            .prop_map(move |(label, shown)| line(label, Top::Collapsed, 1, shown)),
    ]
}

/// Returns several turns at one place, as an event has them that repeats the conversation so far.
fn conversation() -> impl Strategy<Value = Vec<Shown>> {
    (text(), prop::collection::vec(1..9_usize, 1..6)).prop_map(|(text, turns)| match text {
        Shown::Text(places, Text::Turns(Told { how, .. }, manner)) => {
            let text = |turn| Text::Turns(Told { how, of: vec![Source { turn, part: String::new() }] }, manner);
            turns.into_iter().map(|turn| Shown::Text(places.clone(), text(turn))).collect()
        }
        other => vec![other],
    })
}

#[test]
fn a_line_names_all_turns_that_stand_at_one_place() {
    let golden = |lines: &str| format!("POST /\n200\n\nvalues    {{messages[9]}}\n{lines}\n");
    let line = |turn: usize| format!("          /messages/*/content = turn {turn}, trimmed");
    let each: Vec<String> = [2, 4, 5, 6, 7, 1].map(line).to_vec();
    let read = Golden::parse(&golden(&each.join("\n"))).unwrap();
    let listed = golden("          /messages/*/content = turns 2, 4..7, 1, trimmed");
    assert_eq!(read.to_string(), listed);
    assert_eq!(Golden::parse(&listed).unwrap(), read);
    for damaged in ["turns 2..1", "turns 1..4000000000", "turns", "turns 1,", "turns 1.."] {
        let read = Golden::parse(&golden(&format!("          /messages/*/content = {damaged}")));
        // A value can say anything.
        assert!(matches!(&read.unwrap().blocks[0].events[0].shown[..], [Shown::Value(..)]), "{damaged}");
    }
}

fn block() -> impl Strategy<Value = Block> {
    let ids = prop::sample::select(vec![EventIds::None, EventIds::Some, EventIds::All]);
    let repeat = prop::sample::select(vec![Repeat::No, Repeat::Yes, Repeat::Falls, Repeat::Varies]);
    let head =
        ("200|exit -?[0-9]", "([a-z]{1,4}/[a-z-]{1,4})?", (ids, repeat), prop::collection::vec(1..40_usize, 0..3))
            .prop_map(|(status, media, (ids, ids_repeat), early)| Head { status, media, ids, ids_repeat, early });
    let header = ("[a-z-]{1,5}", proptest::option::of("[a-z=;]{1,9}")).prop_map(|(name, value)| Header { name, value });
    let tree = (node(), label(), prop::option::of("[0-9a-f]{4}"));
    let tree = tree.prop_map(|(root, name, hash)| Tree {
        root: Node { name, optional: false, ..root },
        whole: hash.map(Order::of_hash),
    });
    let events = (prop::collection::vec(event(), 1..5), 0..5_usize, prop::collection::vec(tree, 0..4));
    let headers = prop::collection::vec(header, 0..3);
    let ending = prop::sample::select(vec![Ending::Ended, Ending::Open, Ending::BrokeOff, Ending::Closed(1011)]);
    let response = ("POST /[a-z]{0,4}", head, headers, events, ending).prop_map(
        |(request, head, headers, (mut events, late, trees), ending)| {
            events.iter_mut().skip(late).for_each(|event| event.is_late = true);
            Block { request, head: Some(head), headers, events, ending, trees, ..Block::default() }
        },
    );
    let page = ("aria [a-z]{1,4}", prop::collection::vec(" {0,4}- [a-z\"]{1,8}", 0..4));
    prop_oneof![
        4 => response,
        1 => page.prop_map(|(request, page)| Block { request, page, ..Block::default() }),
    ]
}

/// Returns goldens in which later trees are like earlier ones, so that they are written as differing from these.
fn golden() -> impl Strategy<Value = Golden> {
    (prop::collection::vec(block(), 0..4), any::<bool>()).prop_map(|(mut blocks, alike)| {
        let trees: Vec<Tree> = blocks.iter().flat_map(|block| block.trees.clone()).collect();
        if let (true, Some(first)) = (alike, trees.first()) {
            for block in blocks.iter_mut().filter(|block| !block.events.is_empty()) {
                let mut again = first.clone();
                again.root.below.retain(|node| node.name.len() % 4 != 1);
                block.trees.push(again);
                block.trees.push(first.clone());
            }
        }
        Golden { blocks, ..Golden::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_golden_that_was_written_is_read_as_it_was(golden in golden()) {
        let text = golden.to_string();
        let read = Golden::parse(&text);
        prop_assert!(read.is_ok(), "{}\n{}", read.unwrap_err(), text);
        prop_assert_eq!(&read.unwrap(), &golden, "{}", text);
        // As insta keeps it.
        prop_assert_eq!(&Golden::parse(text.trim_end()).unwrap(), &golden, "{}", text);
        // As it lies in two files.
        let (general, values) = golden.apart();
        let mut both = Golden::parse(&general.to_string()).unwrap();
        if let Some(values) = values {
            both.add_values(&Golden::parse(&values.to_string()).unwrap());
        }
        let labels = |block: &Block| block.trees.iter().map(|tree| tree.label().to_owned()).collect::<Vec<_>>();
        let is_unique = |labels: Vec<String>| labels.iter().collect::<std::collections::BTreeSet<_>>().len() == labels.len();
        if golden.blocks.iter().map(labels).all(is_unique) {
            prop_assert_eq!(both.to_string(), text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([POST /a-z\"{}\\[\\]|.,:=…×–()0-9 ]{0,12}\n?){0,12}") {
        if let Ok(golden) = Golden::parse(&text) {
            drop(golden.to_string());
        }
    }
}

#[test]
fn an_order_is_left_out_of_lists_alone() {
    let text = Kind::Quoted("\"in pieces, in order ab]\"".to_owned());
    let inner = List { order: Some(Order::Any), elements: vec![text.clone()], ..List::default() };
    let field = Field { name: "hits".to_owned(), optional: false, kinds: vec![Kind::List(inner)] };
    let of =
        |order| vec![Kind::List(List { order, elements: vec![Kind::Object(vec![field.clone()])], ..List::default() })];
    let left = super::without_orders(&of(Some(Order::Is(vec!["4f1c".to_owned()]))));
    assert_eq!(left, r#"[{hits: ["in pieces, in order ab]"]}]"#);
}
