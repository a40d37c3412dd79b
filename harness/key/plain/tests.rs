use super::*;
use crate::json::Layout;

#[test]
fn only_what_an_api_cannot_carry_is_left_out() {
    let plain =
        |message: &str| plain_conversation(&[Json::parse(message.as_bytes()).unwrap()]).remove(0).print(Layout::Python);
    assert_eq!(plain(r#"{"type": "ai", "content": "a", "name": "b"}"#), r#"{"content": "a", "type": "ai"}"#);
    let tool = |content: &str| {
        format!(r#"{{"content": {}, "name": "f", "type": "tool"}}"#, Json::from(content).print(Layout::Python))
    };
    assert_eq!(plain(&tool(r#"{"result": "a"}"#)), tool("a"));
    for kept in ["a", "[1]", r#"{"result": 1}"#, r#"{"result": "a", "b": 1}"#, r#"{"text": "a"}"#] {
        assert_eq!(plain(&tool(kept)), tool(kept));
    }
}
