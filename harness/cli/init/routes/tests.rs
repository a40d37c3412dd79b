use serde_json::json;

use super::*;

#[test]
fn the_route_that_streams_comes_first_with_a_body_that_fits_its_schema() {
    let api = json!({
        "paths": {
            "/health": { "get": {} },
            "/chatkit": { "post": {} },
            "/threads/delete": { "post": {} },
            "/projects": { "post": { "requestBody": { "content": { "application/json": { "schema": {
                "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } } } } } } },
            "/admin/users": { "post": { "requestBody": { "content": { "application/json": { "schema": {
                "type": "object", "required": ["age"], "properties": { "age": { "type": "integer", "minimum": 18 } } } } } } } },
            "/chat": { "post": {
                "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Chat" } } } },
                "responses": { "200": { "content": { "text/event-stream": {} } } } } },
            "/generate/title": { "post": { "requestBody": { "content": { "application/json": { "schema": {
                "properties": { "text": { "type": ["string", "null"] } } } } } } } },
        },
        "components": { "schemas": {
            "Chat": { "type": "object", "required": ["messages", "session_id", "mode", "options", "run", "at"], "properties": {
                "messages": { "type": "array", "items": { "$ref": "#/components/schemas/Message" } },
                "session_id": { "type": "string" },
                "mode": { "allOf": [{ "$ref": "#/components/schemas/Mode" }], "default": "fast" },
                "options": { "anyOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Options" }] },
                "run": { "type": "string", "format": "uuid" },
                "at": { "type": "number", "maximum": 9 },
                "stream": { "type": "boolean", "default": false },
                "user": { "type": "string" } } },
            "Message": { "type": "object", "required": ["role", "content"], "properties": {
                "role": { "type": "string" }, "content": { "type": "string" }, "name": { "type": "string" } } },
            "Mode": { "type": "string", "enum": ["fast", "deep"] },
            "Options": { "allOf": [
                { "type": "object", "required": ["top"], "properties": { "top": { "type": "integer", "examples": [5] } } },
                { "type": "object", "required": ["dry"], "properties": { "dry": { "type": "boolean" } } } ] },
        } },
    });
    let chat = json!({
        "messages": [{ "role": "user", "content": PROMPT }], "session_id": "hello", "mode": "fast", "stream": true,
        "options": { "top": 5, "dry": false }, "run": "00000000-0000-4000-8000-000000000001", "at": 9,
    });
    let route = |path: &str, body| Route { path: path.to_owned(), body: Some(body), form: false };
    // What may not be undone, or takes no text, is not tried; what no word tells comes last.
    let (title, project) =
        (route("/generate/title", json!({ "text": PROMPT })), route("/projects", json!({ "name": PROMPT })));
    let raw = Route { path: "/chatkit".to_owned(), body: None, form: false };
    assert_eq!(routes(&api), [route("/chat", chat), title, project, raw]);
}

#[test]
fn examples_and_parameters_of_the_document_are_used() {
    let body = json!({ "example": { "q": "What is {{ this }}", "none": null }, "schema": { "type": "object" } });
    let api = json!({ "paths": { "/{tenant}/agents/{id}/ask": {
        "parameters": [{ "name": "tenant", "in": "path", "schema": { "type": "string", "enum": ["acme", "b"] } }],
        "post": {
            "parameters": [
                { "name": "id", "in": "path", "schema": { "type": "string" } },
                { "name": "as user", "in": "query", "required": true, "example": "a b" },
                { "name": "page", "in": "query", "schema": { "type": "integer" } } ],
            "requestBody": { "content": { "application/json": body } } } } } });
    let path = "/acme/agents/{id}/ask?as+user=a+b".to_owned();
    assert_eq!(routes(&api), [Route { path, body: Some(json!({ "q": PROMPT })), form: false }]);
    let form = json!({ "paths": { "/runs": { "post": { "requestBody": { "content": { "multipart/form-data": { "schema": {
        "required": ["message"], "properties": { "message": { "type": "string" } } } } } } } } } });
    assert_eq!(
        routes(&form),
        [Route { path: "/runs".to_owned(), body: Some(json!({ "message": PROMPT })), form: true }]
    );
}

#[test]
fn of_objects_that_no_schema_tells_the_name_of_their_list_says_what_clients_send() {
    let schema = json!({ "properties": { "messages": { "type": "array", "items": { "type": "object" } },
        "tracks": { "type": "array", "items": { "type": "object" } } } });
    let api = json!({ "paths": { "/agents/generate": { "post": {
        "requestBody": { "content": { "application/json": { "schema": schema } } } } } } });
    let body = routes(&api)[0].body.clone().unwrap();
    assert_eq!(body["messages"][0]["content"], PROMPT);
    assert!(body.get("tracks").is_none(), "{body}");
}

#[test]
fn a_schema_that_holds_itself_comes_to_an_end() {
    let tree = json!({ "type": "object", "required": ["child", "text"], "properties": {
        "child": { "$ref": "#/components/schemas/Tree" }, "text": { "type": "string" } } });
    let api = json!({
        "paths": { "/run": { "post": { "requestBody": { "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/Tree" } } } } } } },
        "components": { "schemas": { "Tree": tree } } });
    assert_eq!(routes(&api).len(), 1);
    for broken in [json!(null), json!({ "paths": [] })] {
        assert_eq!(routes(&broken), [], "{broken}");
    }
}
