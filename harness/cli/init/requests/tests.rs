use serde_json::json;

use super::*;

#[test]
fn the_first_of_what_a_path_lists_has_a_name() {
    for (listed, first) in [
        (json!(["echo", "b"]), Some("echo")),
        (json!([{ "id": 7, "name": "b" }]), Some("7")),
        (json!({ "weatherAgent": { "name": "Weather" }, "zoo": {} }), Some("weatherAgent")),
        (json!({ "data": [{ "name": "a" }] }), Some("a")),
        (json!({ "id": { "a": 1 } }), Some("id")),
        (json!([]), None),
        (json!(null), None),
    ] {
        assert_eq!(first_of(&listed).as_deref(), first, "{listed}");
    }
}
