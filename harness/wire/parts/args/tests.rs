use super::*;

#[test]
fn text_arguments_go_out_so_that_they_read_back() {
    for (args, sent) in [("no json", "no json"), ("{\"a\":", "{\"a\":"), ("1", "\"1\""), ("", "\"\"")] {
        assert_eq!(unparsed(&args.into()), sent);
        assert_eq!(parsed(sent), args.into());
    }
}
