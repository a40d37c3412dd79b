//! A client of the service, and a model that notes the requests it gets.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    middleware::{Next, from_fn},
};
use gateway::Config;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

pub(crate) type Requests = Arc<Mutex<Vec<(String, Value)>>>;
pub(crate) type Events = Vec<(String, Value)>;

pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Serves a model. Returns its base URL, and a list to which the caller and the body of each request are added.
pub(crate) async fn watched(model: Router) -> (String, Requests) {
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    let watch = from_fn(move |request: Request, next: Next| {
        let seen = Arc::clone(&seen);
        async move {
            let (parts, body) = request.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let caller = parts.headers.get("x-retake-caller").map_or("", |value| value.to_str().unwrap());
            seen.lock().unwrap().push((caller.to_owned(), serde_json::from_slice(&body).unwrap()));
            next.run(Request::from_parts(parts, Body::from(body))).await
        }
    });
    (format!("{}/v1", serve(model.layer(watch)).await), requests)
}

/// A service that no other test uses, with a signed-in user who has one thread.
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) cookies: String,
    pub(crate) csrf: String,
    pub(crate) thread: String,
    pub(crate) data: PathBuf,
}

impl Client {
    pub(crate) async fn new(model_url: &str) -> Self {
        Self::of(|data| Config::new(data, model_url, "sk-test")).await
    }

    pub(crate) async fn of(config: impl FnOnce(PathBuf) -> Config) -> Self {
        let data = std::env::temp_dir().join(format!("gateway-{}", Uuid::new_v4()));
        let url = serve(gateway::router(config(data.clone())).unwrap()).await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let none = String::new;
        let mut client = Self { http, url, cookies: none(), csrf: none(), thread: none(), data };
        client.register("ada@example.com").await;
        let created = client.post("/api/threads", &json!({})).send().await.unwrap();
        assert_eq!(created.status(), 201);
        let created: Value = created.json().await.unwrap();
        assert!(created["created_at"].is_string());
        client.thread = format!("/api/threads/{}", created["thread_id"].as_str().unwrap());
        client
    }

    pub(crate) async fn register(&mut self, email: &str) {
        let body = json!({ "email": email });
        let response = self.http.post(format!("{}/api/auth/register", self.url)).json(&body).send().await.unwrap();
        assert_eq!(response.status(), 201);
        let cookies = response.headers().get_all("set-cookie").iter();
        let cookies: Vec<_> = cookies.map(|line| line.to_str().unwrap().split(';').next().unwrap()).collect();
        self.csrf = cookies.iter().find_map(|cookie| cookie.strip_prefix("csrf_token=")).unwrap().into();
        self.cookies = cookies.join("; ");
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.bare(Method::POST, path).header("cookie", &self.cookies).header("X-CSRF-Token", &self.csrf).json(body)
    }

    pub(crate) fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn json(&self, method: Method, path: &str, body: &Value) -> Value {
        let mut request = self.post(&format!("{}{path}", self.thread), body).build().unwrap();
        *request.method_mut() = method;
        let response = self.http.execute(request).await.unwrap();
        assert_eq!(response.status(), 200);
        response.json().await.unwrap()
    }

    pub(crate) async fn run(&self, prompt: &str) -> Events {
        let body = json!({ "input": { "messages": [{ "role": "user", "content": prompt }] } });
        let response = self.post(&format!("{}/runs/stream", self.thread), &body).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let text = response.text().await.unwrap();
        let field =
            |frame: &str, name: &str| frame.lines().find_map(|line| Some(line.strip_prefix(name)?.to_owned())).unwrap();
        let event = |(position, frame): (usize, &str)| {
            assert!(field(frame, "id: ").ends_with(&format!("-{position}")));
            (field(frame, "event: "), serde_json::from_str(&field(frame, "data: ")).unwrap())
        };
        text.split_terminator("\n\n").enumerate().map(event).collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

/// Returns the names of the events, with the top-level keys of `values`. Consecutive `messages` count as one.
pub(crate) fn sequence(events: &Events) -> Vec<String> {
    let name = |(name, data): &(String, Value)| match data.as_object().filter(|_| name == "values") {
        Some(keys) => format!("values {}", keys.keys().cloned().collect::<Vec<_>>().join(" ")),
        None => name.clone(),
    };
    let mut names: Vec<_> = events.iter().map(name).collect();
    names.dedup_by(|a, b| a == b && a == "messages");
    names
}

pub(crate) fn last_answer(events: &Events) -> &str {
    let (_, values) = events.iter().rfind(|(name, _)| name == "values").unwrap();
    values["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

/// Returns a value with only its keys, at every level: everything else becomes null.
pub(crate) fn keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), keys(value))).collect(),
        Value::Array(items) => items.iter().map(keys).collect(),
        _ => Value::Null,
    }
}
