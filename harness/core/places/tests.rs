use super::{Places, Within};
use crate::json::{Json, Layout};

fn places(root: &str) -> Places {
    Places::new([("root", root.to_owned()), ("work", format!("{root}/work")), ("model", "127.0.0.1:4567".to_owned())])
}

#[test]
fn a_place_is_whole_components_longest_first() {
    let here = places("/home/me/my project");
    for (text, named) in [
        ("cd /home/me/my project && ls", "cd <retake:root> && ls"),
        ("/home/me/my project/a.txt", "<retake:root>/a.txt"),
        ("in /home/me/my project.", "in <retake:root>."),
        ("/home/me/my project/work/x", "<retake:work>/x"),
        ("/home/me/my project/working", "<retake:root>/working"),
        ("\"file:///home/me/my%20project/a\"", "\"file://<retake:root>/a\""),
        (r#"{"a": "\/home\/me\/my project\/b"}"#, r#"{"a": "<retake:root>\/b"}"#),
        ("a\\n/home/me/my project/c", "a\\n<retake:root>/c"),
        ("http://127.0.0.1:4567/v1", "http://<retake:model>/v1"),
        ("<retake:root> is a name", "<retake:lt>retake:root> is a name"),
    ] {
        assert_eq!(here.named(text, &|_| false), named);
        assert_eq!(here.resolved(named), text);
        let there = places("/app/of/them");
        assert_eq!(there.named(&there.resolved(named), &|_| false), named);
    }
    for text in
        ["/home/me/my project2", "/home/me/my project-old", "/mnt/home/me/my project", "127.0.0.1:45678", "<b>", ""]
    {
        assert_eq!(here.named(text, &|_| false), text);
        assert_eq!(here.resolved(text), text);
    }
}

#[test]
fn a_path_of_one_component_is_named_where_a_path_follows_that_exists() {
    let places = Places::new([("root", "/app".to_owned()), ("home", "/".to_owned()), ("work", String::new())]);
    let named = |text: &str| places.named(text, &|path| path == "/app/x").into_owned();
    assert_eq!(
        named("/app/x in / and /app and /app/y, /app/x."),
        "<retake:root>/x in / and /app and /app/y, <retake:root>/x."
    );
    assert_eq!(named("/apps/x, /my/app/x"), "/apps/x, /my/app/x");
    assert_eq!(places.bare_in("cd /app; ls").collect::<Vec<_>>(), [("root", "/app")]);
    assert_eq!(places.bare_in("/app/y /apps").count(), 0);
    assert_eq!(places.bare_named("in /app, not /app/y"), "in <retake:root>, not /app/y");
}

#[test]
fn paths_below_a_place_are_paths_as_those_below_tmp() {
    let places = Places::new([("tmp", "/data/t".to_owned())]);
    assert_eq!(places.as_paths("at /data/t/a-1/b 'c /data/t' /data/th"), "at <PATH> 'c <PATH>' /data/th");
}

/// Each text of a stream is cut again after as many characters as before.
#[test]
fn a_stream_is_joined_changed_and_cut_again() {
    let places = places("/srv/long/name");
    let piece = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}}}}]}}\n\n",
            Json::from(text).print(Layout::Compact)
        )
    };
    let mut frames: Vec<String> = ["Look in /srv/lo", "ng/na", "me/a.txt, ", "then ", ""].map(piece).into();
    frames.push("data: [DONE]\n\n".into());
    assert!(Within(&|text| places.named(text, &|_| false)).frames(&mut frames));
    assert_eq!(frames[..5], ["Look in <retake", ":root", ">/a.txt, t", "hen ", ""].map(piece));
    let there = Places::new([("root", "/x/y".to_owned())]);
    assert!(Within(&|text| there.resolved(text)).frames(&mut frames));
    assert_eq!(frames[..5], ["Look in /x/y/a.", "txt, ", "then", " ", ""].map(piece));
    assert_eq!(frames[5], "data: [DONE]\n\n");
}

#[test]
fn arguments_that_come_whole_are_no_pieces() {
    let places = places("/srv/long/name");
    let call = |path: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"name\":\"read\",\"args\":{{\"path\":\"{path}\"}}}}}}]}}}}]}}\n\n"
        )
    };
    let mut frames: Vec<String> = ["/srv/long/name/a", "/srv/long/name/b"].map(call).into();
    assert!(Within(&|text| places.named(text, &|_| false)).frames(&mut frames));
    assert_eq!(frames, ["<retake:root>/a", "<retake:root>/b"].map(call));
}
