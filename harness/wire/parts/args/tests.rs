use super::*;

#[test]
fn unparsed_text_arguments_parse_to_the_same_value() {
    for (args, sent) in [("no json", "no json"), ("{\"a\":", "{\"a\":"), ("1", "\"1\""), ("", "\"\"")] {
        assert_eq!(unparsed(&args.into()), sent);
        assert_eq!(parsed(sent), args.into());
    }
}
