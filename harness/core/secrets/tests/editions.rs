//! What a fixture lists is searched for as it was when the fixture was recorded.

use super::*;

fn of(names: &[&str], text: &str) -> String {
    let scrub = Scrub::of_names(names.iter().copied(), |_| Some("g\u{e9}heim-\u{20ac}uro-zebraDeclared01".to_owned()));
    scrub.unwrap().text(text, &mut Fired::new()).into_owned()
}

#[test]
fn a_fixture_of_the_first_edition_is_searched_as_it_was_recorded() {
    let framed = "1\u{2192}-----BEGIN PRIVATE KEY-----\n2\u{2192}MIIEowIBAAKCAQEAx3vQq8Zkq1sY\n3\u{2192}-----END PRIVATE KEY-----";
    for (name, text, first, second) in [
        ("private-key", framed, framed, "1\u{2192}<PRIVATE_KEY>"),
        ("huggingface-token", "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", "<HUGGINGFACE_TOKEN>", ""),
        ("openai-key", "sk-SlovakRepublicBratislava2024", "<OPENAI_KEY>", ""),
        ("signed-url", "https://a?signature=required-for-all", "https://a?signature=<SIGNATURE>", ""),
        ("url-password", "http://localhost:3000?email=a@b", "http://localhost:<URL_PASSWORD>@b", ""),
        ("suspected-cookie", "cookie: visitor_id=Zq81kLm02nXp47RtvB6", "cookie: <SUSPECTED_COOKIE>", ""),
    ] {
        assert_eq!(of(&[name], text), first, "{name}");
        let second = if second.is_empty() { text } else { second };
        assert_eq!(of(&[SECOND, name], text), second, "{name}");
    }
    let broken = to_base64("the value is g\u{e9}heim-\u{20ac}uro-zebraDeclared01, and it is used".as_bytes());
    let broken = format!("{}\n{}", &broken[..40], &broken[40..]);
    assert_eq!(of(&["env:CORP"], &broken), broken);
    assert_ne!(of(&[SECOND, "env:CORP"], &broken), broken);
}

#[test]
fn what_fires_is_listed_with_its_edition() {
    let mut fired = Fired::new();
    Scrub::known().text("it is sk-proj-abcdefghijklmnop1234", &mut fired);
    assert_eq!(fired.iter().collect::<Vec<_>>(), [SECOND, "openai-key"]);
    let read = Scrub::of_names(fired.iter().map(String::as_str), |_| None).unwrap();
    assert_eq!(read.names(), &fired);
}
