use super::*;

#[test]
fn a_query_counts_in_any_order_and_without_keys_except_in_posts() {
    let stored = |method, path| Target { method, path }.stored();
    assert_eq!(stored("GET", "/v1/files?limit=2&after=a&key=k&api_key=k"), "/v1/files?after=a&limit=2");
    assert_eq!(stored("GET", "/v1/files?after=a&limit=2#x"), stored("GET", "/v1/files?limit=2&&after=a"));
    assert_eq!(stored("DELETE", "/v1/files/f?key=k"), "/v1/files/f");
    assert_eq!(stored("POST", "/v1/embeddings?api-version=1"), "/v1/embeddings");
    assert_eq!(Target { method: "GET", path: "/v1/chat/completions" }.api(), None);
    assert_eq!(Target::from("/v1/chat/completions?x").api(), Some(Api::OpenAiChat));
}
