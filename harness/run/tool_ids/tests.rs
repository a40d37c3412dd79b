use super::*;

/// Ids as `hash at`, or `hash at = event pointer` if the client was told it.
fn ids(all: &[&str]) -> Vec<ToolId> {
    let id = |text: &&str| {
        let (hash, at) = text.split_once(' ').unwrap();
        let (at, told) = at.split_once(" = ").map_or((at, None), |(at, told)| (at, told.split_once(' ')));
        let told = told.map(|(event, pointer)| (event.to_owned(), pointer.to_owned()));
        ToolId { hash: hash.to_owned(), at: at.to_owned(), told }
    };
    all.iter().map(id).collect()
}

/// What is told of the ids of now in the place of recorded ones. Requests with the same first letter count as the same.
fn said(requests: &[(&str, &[&str], &[&str])], told: &[((&str, &str), &[&str])]) -> Vec<String> {
    let exchange = |(_, of, _): &(&str, &[&str], &[&str])| ToolExchange { ids: ids(of), ..ToolExchange::default() };
    let tools = ToolExchanges::from([("shop".to_owned(), requests.iter().map(exchange).collect())]);
    let call = |index| ("shop".to_owned(), index);
    let asked = requests.iter().enumerate().map(|(index, (key, _, now))| (call(index), (*key).to_owned(), ids(now)));
    let hashes = |all: &[&str]| all.iter().map(|hash| (*hash).to_owned()).collect();
    let told = told.iter().map(|((event, at), of)| (((*event).to_owned(), (*at).to_owned()), hashes(of))).collect();
    let found = others(&tools, &asked.collect::<Vec<_>>(), &told);
    let words = |((_, index), lack): (CallOfTool, Lack)| {
        let Lack::Id(id) = lack else { panic!("{lack:?} is no id") };
        in_words(&index.to_string(), &id, &tools["shop"][..index])
    };
    found.into_iter().map(words).collect()
}

#[test]
fn ids_that_were_the_same_are_the_same_and_others_are_others() {
    let (one, two) = (&["a key"][..], &["b key"][..]);
    assert_eq!(said(&[("P", one, &["x key"]), ("P", one, &["x key"]), ("Q", two, &["y key"])], &[]), [""; 0]);
    let again = "1 has another id in `key` than recorded: it was that of `` of `` before it";
    assert_eq!(said(&[("P", one, &["x key"]), ("P", one, &["y key"])], &[]), [again]);
    let own = "1 has another id in `key` than recorded: it was one that no request before it had";
    assert_eq!(said(&[("P", one, &["x key"]), ("P", two, &["x key"])], &[]), [own]);
    // One at another place, and several in one text.
    let both = &["a key", "b /path", "a /path"][..];
    assert_eq!(said(&[("P", both, &["x key", "y /path", "x /path"])], &[]), [""; 0]);
    assert_eq!(said(&[("P", both, &["x key", "y /path", "z /path"])], &[]).len(), 1);
    // Nothing is known of those of which a fixture or a request says nothing.
    assert_eq!(said(&[("P", &[], &["x key"]), ("P", one, &[]), ("P", one, &["x key"])], &[]), [""; 0]);
}

#[test]
fn equal_requests_may_come_in_another_order() {
    let (one, two) = (&["a key"][..], &["b key"][..]);
    let first = ("P", &["a /chat"][..], &["x /chat"][..]);
    assert_eq!(said(&[first, ("Q", one, &["y key"]), ("Q", two, &["x key"])], &[]), [""; 0]);
    assert_eq!(said(&[first, ("Q", one, &["y key"]), ("R", two, &["x key"])], &[]).len(), 2);
}

#[test]
fn an_id_that_the_client_was_told_is_one_that_it_was_told_there() {
    let recorded = &["a key = run /runId"][..];
    let told = |ids| said(&[("P", recorded, &["x key"])], ids);
    assert_eq!(told(&[(("run", "/runId"), &["w", "x"]), (("chat", "/id"), &["v"])]), [""; 0]);
    // Another client may not be told.
    assert_eq!(told(&[(("chat", "/id"), &["v"])]), [""; 0]);
    let words = "0 has another id in `key` than recorded: it was the one at `/runId` of `run`";
    assert_eq!(told(&[(("run", "/runId"), &["w"])]), [words]);
}
