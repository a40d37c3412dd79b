//! Benchmark of computing the key of a conversation from its JSON text, including parsing.

use std::hint::black_box;

use retake_core::json::Json;
use retake_core::key::{Hash, Rules, message_from_langchain};

use crate::conversations;
use crate::table::{Paired, Table, fastest, rate};

pub fn measure(table: &mut Table) {
    let rules = Rules::default();
    for (name, text) in [("long conversation", conversations::long()), ("hard conversation", conversations::hard())] {
        let key = || {
            let json = Json::parse(text.as_bytes()).unwrap();
            let Json::Array(messages) = json else { panic!("the conversation is not a list") };
            let messages: Vec<_> = messages.into_iter().map(|m| message_from_langchain(m).unwrap()).collect();
            black_box(rules.key(&rules.canonical(messages), Some("lead_agent")));
        };
        let parse = fastest(15, || drop(black_box(Json::parse(text.as_bytes()).unwrap())));
        let sha = || _ = black_box(Hash::of(text.as_bytes()));
        let paired = Paired::of(25, || fastest(1, key), || fastest(1, sha));
        let what = format!("key of a {name}, {} KB", text.len() / 1000);
        let figure =
            format!("{:.0} MB/s (parsing alone {:.0})", rate(text.len(), paired.ours), rate(text.len(), parse));
        let against = format!("SHA-256 alone, {:.0} MB/s", rate(text.len(), paired.theirs));
        table.row(&what, figure, &against, format!("{:.2} times its time", paired.ratio));
    }
}
