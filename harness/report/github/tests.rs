use super::*;

#[test]
fn the_text_of_a_failure_cannot_end_its_annotation_or_its_block() {
    assert_eq!(message("100%\r\nof it"), "100%25%0Aof it");
    assert_eq!(message("a\r::stop-commands::x\u{9b}"), "a\\u000d::stop-commands::x\\u009b");
    assert_eq!(property("retake::no_orphans, all"), "retake%3A%3Ano_orphans%2C all");
    assert_eq!(fenced("diff", "a\n```\nb"), "\n````diff\na\n```\nb\n````\n");
    assert_eq!(fenced("", "retake review"), "\n```\nretake review\n```\n");
    let of = |side, text: &str| in_diff(&Line::of(side, 4, text));
    assert_eq!([of(Side::Gone, "a"), of(Side::Come, "b"), of(Side::Both, "c")], ["-     a", "+     b", "    c"]);
    assert_eq!(cell("a | <b>\nc"), "a \\| &lt;b&gt;<br>c");
}
