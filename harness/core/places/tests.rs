use super::Places;

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
        assert_eq!(here.named(text), named);
        assert_eq!(here.resolved(named), text);
        let there = places("/app/of/them");
        assert_eq!(there.named(&there.resolved(named)), named);
    }
    for text in
        ["/home/me/my project2", "/home/me/my project-old", "/mnt/home/me/my project", "127.0.0.1:45678", "<b>", ""]
    {
        assert_eq!(here.named(text), text);
        assert_eq!(here.resolved(text), text);
    }
}

#[test]
fn a_path_of_one_component_is_no_place() {
    let places = Places::new([("root", "/app".to_owned()), ("home", "/".to_owned()), ("work", String::new())]);
    assert_eq!(places.named("/app/x in / and /app"), "/app/x in / and /app");
}
