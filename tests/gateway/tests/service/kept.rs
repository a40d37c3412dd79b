//! What the service stores: the events of a run for clients that reconnect, threads until they are deleted, and facts about
//! the user.

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Client, last_answer, watched};

fn said(content: &str, remember: bool) -> Value {
    json!({ "input": { "messages": [{ "role": "user", "content": content }] }, "remember": remember })
}

#[tokio::test]
async fn a_client_that_reconnects_gets_the_events_after_the_last_one_it_saw() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    let run = client.post(&format!("{}/runs/stream", client.thread), &said("Hello there", false));
    let all = run.send().await.unwrap().text().await.unwrap();
    let run = client.json(Method::GET, "/runs", &Value::Null).await[0]["run_id"].as_str().unwrap().to_owned();
    let again = async |run: &str, seen: &str| {
        let path = format!("{}/runs/{run}/stream", client.thread);
        let request = client.bare(Method::GET, &path).header("cookie", &client.cookies).header("last-event-id", seen);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(again(&run, "").await, (200, all.clone()));
    let frames: Vec<&str> = all.split_inclusive("\n\n").collect();
    for (position, frame) in frames.iter().enumerate() {
        let id = frame.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
        assert_eq!(again(&run, id).await, (200, frames[position + 1..].concat()));
    }
    assert_eq!(again("none", "").await.0, 404);
}

#[tokio::test]
async fn deleting_a_thread_leaves_the_others_alone() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    client.run("Create note.txt, then read it.").await;
    let first = client.thread.clone();
    let other: Value = client.post("/api/threads", &json!({})).send().await.unwrap().json().await.unwrap();
    let other = format!("/api/threads/{}", other["thread_id"].as_str().unwrap());
    client
        .post(&format!("{other}/runs/stream"), &said("Hello there", false))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let status = async |method: Method, path: &str, csrf: &str| {
        let request = client.bare(method, path).header("cookie", &client.cookies).header("x-csrf-token", csrf);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(Method::DELETE, &first, "").await, 403);
    assert_eq!(status(Method::GET, &first, "").await, 200);
    assert_eq!(status(Method::DELETE, &first, &client.csrf).await, 204);
    for (method, path) in [(Method::DELETE, &first), (Method::GET, &first), (Method::GET, &format!("{first}/runs"))] {
        assert_eq!(status(method, path, &client.csrf).await, 404);
    }
    assert!(!client.data.join("threads").join(first.rsplit('/').next().unwrap()).exists());
    let left = client.bare(Method::GET, &other).header("cookie", &client.cookies).send().await.unwrap();
    assert_eq!(left.json::<Value>().await.unwrap()["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_fact_about_the_user_is_remembered_only_if_the_request_asks_for_it() {
    let (model, requests) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    let tell = async |content: &str, remember: bool| {
        let request = client.post(&format!("{}/runs/stream", client.thread), &said(content, remember));
        assert!(request.send().await.unwrap().text().await.unwrap().ends_with("event: end\ndata: null\n\n"));
    };
    let facts = async || {
        let request = client.bare(Method::GET, "/api/memory").header("cookie", &client.cookies);
        request.send().await.unwrap().json::<Value>().await.unwrap()["facts"].clone()
    };
    let asked = || requests.lock().unwrap().iter().filter(|(caller, _)| caller == "background:memory").count();
    tell("I live in Oslo.", false).await;
    tell("Hello there, I live elsewhere.", false).await;
    assert_eq!((asked(), facts().await), (0, json!([])));
    tell("How are you?", true).await;
    while facts().await == json!([]) {}
    // The fact comes from the first message: the model is asked about the whole thread.
    assert_eq!((asked(), facts().await), (1, json!(["Lives in Oslo."])));
    assert_eq!(last_answer(&client.run("Where do I live?").await), "You live in Oslo.");
}
