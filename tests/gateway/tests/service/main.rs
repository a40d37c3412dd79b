//! The service over real HTTP on loopback, against the scripted provider.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod client;
mod kept;

use axum::{Router, http::StatusCode};
use client::{Client, Events, Requests, keys, last_answer, sequence, watched};
use gateway::Config;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

#[tokio::test]
async fn a_run_writes_a_file_and_reads_it_back() {
    let (model, requests) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    let events = client.run("Create note.txt, then read it.").await;
    let expected = "metadata, values messages, \
        values messages, tool_result, values messages, \
        values messages, tool_result, values messages, \
        messages, values messages, values messages title, end";
    assert_eq!(sequence(&events).join(", "), expected);
    assert_eq!(last_answer(&events), "I wrote note.txt and read it back. It says: \"hi from replay.\"");
    let streamed: String =
        events.iter().filter_map(|(name, data)| data["content"].as_str().filter(|_| name == "messages")).collect();
    assert_eq!(streamed, last_answer(&events));

    let state = client.json(Method::GET, "", &Value::Null).await;
    assert_eq!(state["title"], "Writing and reading a note");
    assert_eq!(state["messages"][2]["status"], "success");
    assert!(state["messages"][5]["response_metadata"]["token_usage"]["prompt_tokens"].as_u64() > Some(0));
    let runs = client.json(Method::GET, "/runs", &Value::Null).await;
    assert_eq!(runs[0]["status"], "success");
    let suggestions = client.json(Method::POST, "/suggestions", &json!({})).await;
    assert_eq!(suggestions["suggestions"].as_array().unwrap().len(), 3);

    let callers: Vec<_> = requests.lock().unwrap().iter().map(|(caller, _)| caller.clone()).collect();
    assert_eq!(callers, ["lead_agent", "lead_agent", "lead_agent", "middleware:title", "suggest_agent"]);

    // Another service with another user and another folder sends the model exactly the same requests.
    let (model, again) = watched(gateway::provider::provider()).await;
    let other = Client::of(|data| Config { declare_callers: false, ..Config::new(data, model, "sk-test") }).await;
    other.run("Create note.txt, then read it.").await;
    other.json(Method::POST, "/suggestions", &json!({})).await;
    let bodies =
        |requests: &Requests| requests.lock().unwrap().iter().map(|(_, body)| body.clone()).collect::<Vec<_>>();
    assert_eq!(bodies(&requests), bodies(&again));
    assert!(again.lock().unwrap().iter().all(|(caller, _)| caller.is_empty()));
}

#[tokio::test]
async fn tools_of_one_answer_run_in_parallel_and_report_in_call_order() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    let events = client.run("Write three files, then list them.").await;
    let round = ["values messages", "tool_result", "tool_result", "tool_result", "values messages"];
    assert_eq!(sequence(&events)[2..7], round);
    assert_eq!(sequence(&events)[7..12], round);
    let state = client.json(Method::GET, "", &Value::Null).await;
    for (call, result) in [(1, 2), (5, 6)] {
        for position in 0..3 {
            let id = &state["messages"][call]["tool_calls"][position]["id"];
            assert_eq!(&state["messages"][result + position]["tool_call_id"], id);
        }
    }
    let said = "The folder holds one.txt, three.txt, two.txt. one.txt says \"first\", and three.txt says \"third\".";
    assert_eq!(last_answer(&events), said);
    let events = client.run("Read ../secret.txt").await;
    assert_eq!(last_answer(&events), "I could not read that file. Error: ../secret.txt: leaves the folder");
    let (_, result) = events.iter().find(|(name, _)| name == "tool_result").unwrap();
    assert_eq!(result["status"], "error");
}

#[tokio::test]
async fn a_thread_remembers_its_turns() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    client.run("What is the capital of France?").await;
    let events = client.run("And of Italy?").await;
    assert_eq!(sequence(&events).join(", "), "metadata, values messages title, messages, values messages title, end");
    assert_eq!(last_answer(&events), "The capital of Italy is Rome.");
    let events = client.run("Which of the two is larger?").await;
    assert_eq!(last_answer(&events), "Rome is larger than Paris: it has 2800000 inhabitants, and Paris has 2100000.");
    for number in ["1", "50"] {
        assert_eq!(last_answer(&client.run(&format!("Say number {number}")).await), number);
    }
    let review = client.json(Method::POST, "/review", &json!({ "question": "Shall we?" })).await;
    assert!(review["optimist"].as_str().unwrap().starts_with("Yes"), "{review}");
    assert!(review["critic"].as_str().unwrap().starts_with("I doubt"), "{review}");
}

#[tokio::test]
async fn a_failing_model_looks_like_an_ordinary_answer() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let good = Client::new(&model).await.run("Hello there").await;

    let (missing, requests) = watched(Router::new()).await;
    for (model, calls) in [(missing, 2), ("http://127.0.0.1:1/v1".to_owned(), 0)] {
        let client = Client::new(&model).await;
        let bad = client.run("Hello there").await;
        assert_eq!(last_answer(&bad), "I'm sorry, something went wrong on my side. Please try again.");
        assert_eq!(sequence(&bad), sequence(&good));
        let values = |events: &Events| keys(&events.iter().rfind(|(name, _)| name == "values").unwrap().1);
        assert_eq!(values(&bad), values(&good));
        assert_eq!(client.json(Method::GET, "", &Value::Null).await["title"], "Hello there");
        // A 404 is not retried: there is one call from the agent and one for the title.
        assert_eq!(requests.lock().unwrap().drain(..).count(), calls);
        assert_eq!(client.json(Method::POST, "/suggestions", &json!({})).await, json!({ "suggestions": [] }));
        requests.lock().unwrap().clear();
    }
}

#[tokio::test]
async fn a_call_to_a_model_that_is_busy_or_down_is_retried_three_times() {
    let (model, requests) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    let callers = || requests.lock().unwrap().drain(..).map(|(caller, _)| caller).collect::<Vec<_>>();
    let events = client.run("What is the capital of France? Answer when you are free.").await;
    assert_eq!(last_answer(&events), "The capital of France is Paris.");
    assert_eq!(callers(), ["lead_agent", "lead_agent", "middleware:title", "middleware:title"]);
    let events = client.run("And of Italy, while you are down?").await;
    assert_eq!(last_answer(&events), "I'm sorry, something went wrong on my side. Please try again.");
    assert_eq!(callers(), ["lead_agent"; 4]);
}

#[tokio::test]
async fn a_model_that_never_finishes_its_answer_is_stopped() {
    let call =
        json!({ "index": 0, "id": "call_1", "type": "function", "function": { "name": "ls", "arguments": "{" } });
    for (delta, finish_reason, calls, results, says) in [
        // Every answer is a tool call whose arguments are not JSON.
        (json!({ "tool_calls": [call] }), json!("tool_calls"), 25, 25, "I stopped"),
        // A stream that is cut in the middle of the text.
        (json!({ "content": "The answer" }), Value::Null, 1, 0, "I'm sorry"),
    ] {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        let chunk =
            json!({ "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice] });
        let stuck = Router::new()
            .fallback(async move || ([("content-type", "text/event-stream")], format!("data: {chunk}\n\n")));
        let (model, requests) = watched(stuck).await;
        let events = Client::new(&model).await.run("Hello there").await;
        assert!(last_answer(&events).starts_with(says), "{}", last_answer(&events));
        assert_eq!(requests.lock().unwrap().iter().filter(|(caller, _)| caller == "lead_agent").count(), calls);
        assert_eq!(sequence(&events).iter().filter(|name| *name == "tool_result").count(), results);
    }
}

#[tokio::test]
async fn only_the_owner_with_the_csrf_token_gets_in() {
    let mut client = Client::new("http://127.0.0.1:1/v1").await;
    let thread = client.thread.clone();
    let status = async |request: RequestBuilder| {
        let response = request.send().await.unwrap();
        let status = response.status();
        let body: Value = response.json().await.unwrap();
        assert!(status.is_success() || body["detail"].is_string(), "{body}");
        status
    };
    let health = client.bare(Method::GET, "/health");
    assert_eq!(status(health).await, StatusCode::OK);
    for (method, path) in [(Method::POST, "/api/threads"), (Method::GET, &*thread)] {
        assert_eq!(status(client.bare(method, path)).await, StatusCode::UNAUTHORIZED);
    }
    let no_token = client.bare(Method::POST, "/api/threads").header("cookie", &client.cookies);
    assert_eq!(status(no_token.try_clone().unwrap()).await, StatusCode::FORBIDDEN);
    assert_eq!(status(no_token.header("x-csrf-token", "wrong")).await, StatusCode::FORBIDDEN);
    for (body, code) in [(json!({ "email": "ADA@example.com" }), 409), (json!({ "email": "x" }), 422), (json!(1), 422)]
    {
        assert_eq!(status(client.post("/api/auth/register", &body)).await, code);
    }
    assert_eq!(status(client.post(&format!("{thread}/runs/stream"), &json!({ "input": {} }))).await, 422);
    client.register("bob@example.com").await;
    assert_eq!(status(client.post(&format!("{thread}/suggestions"), &json!({}))).await, 404);
    assert_eq!(status(client.bare(Method::GET, "/nowhere")).await, 404);
}

#[tokio::test]
async fn a_run_ends_normally_even_if_the_data_folder_is_gone() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    std::fs::remove_dir_all(&client.data).unwrap();
    let events = client.run("Create note.txt, then read it.").await;
    assert_eq!(events.last().unwrap().0, "end");
    assert_eq!(client.post("/api/threads", &json!({})).send().await.unwrap().status(), 500);
    assert!(!client.data.exists());
}

#[tokio::test]
async fn the_history_of_a_thread_lists_its_runs_newest_first() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::new(&model).await;
    client.run("What is the capital of France?").await;
    client.run("And of Italy?").await;
    let runs = client.json(Method::GET, "/runs", &Value::Null).await;
    let mut said = Vec::new();
    for run in runs.as_array().unwrap() {
        let path = format!("/runs/{}/messages", run["run_id"].as_str().unwrap());
        let messages = client.json(Method::GET, &path, &Value::Null).await;
        said.extend(messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned()));
    }
    let expected = [
        "And of Italy?",
        "The capital of Italy is Rome.",
        "What is the capital of France?",
        "The capital of France is Paris.",
    ];
    assert_eq!(said, expected);
    let threads = client.bare(Method::GET, "/api/threads").header("cookie", &client.cookies).send().await.unwrap();
    assert_eq!(threads.json::<Value>().await.unwrap()[0]["title"], "Capitals of Europe");
}

#[tokio::test]
async fn seeded_runs_are_in_the_history_but_the_agent_does_not_see_them() {
    let (model, requests) = watched(gateway::provider::provider()).await;
    let seed =
        json!({ "runs": [{ "question": "First?", "answer": "One." }, { "question": "Second?", "answer": "Two." }] });
    let refused = Client::new(&model).await;
    let path = format!("{}/runs", refused.thread.replace("/api/", "/api/test/"));
    assert_eq!(refused.post(&path, &seed).send().await.unwrap().status(), 404);

    let client = Client::of(|data| Config { seeding: true, ..Config::new(data, &model, "sk-test") }).await;
    let path = format!("{}/runs", client.thread.replace("/api/", "/api/test/"));
    assert_eq!(client.bare(Method::POST, &path).json(&seed).send().await.unwrap().status(), 401);
    assert_eq!(client.post(&path, &seed).send().await.unwrap().status(), 201);
    assert_eq!(client.json(Method::GET, "/runs", &Value::Null).await.as_array().unwrap().len(), 2);
    assert_eq!(client.json(Method::GET, "", &Value::Null).await["messages"], json!([]));
    client.run("Hello there").await;
    let (_, asked) = &requests.lock().unwrap()[0];
    assert!(!asked.to_string().contains("First?"), "{asked}");
}

#[tokio::test]
async fn a_stream_that_is_told_to_break_does_so_once_and_its_run_continues() {
    let (model, _) = watched(gateway::provider::provider()).await;
    let client = Client::of(|data| Config { seeding: true, ..Config::new(data, &model, "sk-test") }).await;
    let path = format!("{}/break", client.thread.replace("/api/", "/api/test/"));
    assert_eq!(client.post(&path, &json!({ "after": 2 })).send().await.unwrap().status(), 204);
    let body = json!({ "input": { "messages": [{ "role": "user", "content": "Hello there" }] } });
    let broken = client.post(&format!("{}/runs/stream", client.thread), &body).send().await.unwrap();
    assert!(broken.text().await.is_err());
    while client.json(Method::GET, "/runs", &Value::Null).await[0]["status"] == "running" {}
    assert_eq!(last_answer(&client.run("What is the capital of France?").await), "The capital of France is Paris.");
}

#[tokio::test]
async fn the_page_and_its_files_need_no_session() {
    let client = Client::new("http://127.0.0.1:1/v1").await;
    let page = client.bare(Method::GET, "/chat/new").send().await.unwrap().text().await.unwrap();
    for path in page.split('"').filter(|part| part.starts_with("/page/")) {
        assert_eq!(client.bare(Method::GET, path).send().await.unwrap().status(), 200, "{path}");
    }
    assert_eq!(client.bare(Method::GET, "/page/nowhere.js").send().await.unwrap().status(), 404);
}
