//! The agent: asks the model, calls the tools it wants, until it answers without any.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    App,
    auth::new_id,
    events::Events,
    memory,
    message::{Message, ResponseMetadata, TokenUsage, ToolCall},
    model::{Answer, FRIENDLY_ERROR},
    store::Thread,
    title, tools,
};

const MAX_MODEL_CALLS: usize = 25;
const TOO_MANY_STEPS: &str = "I stopped, because this takes more steps than I may make.";

/// What a run is to do.
pub(crate) struct Task {
    pub(crate) user: String,
    pub(crate) thread: Thread,
    pub(crate) run_id: String,
    /// What the user says.
    pub(crate) said: Vec<String>,
    /// Whether to keep what it tells of the user.
    pub(crate) remember: bool,
}

/// One run of a thread, from the user's messages to the `end` event, and then what is to be kept of it.
pub(crate) async fn run(app: Arc<App>, task: Task, events: Events) {
    let Task { user, thread, run_id, said, remember } = task;
    events.send("metadata", &json!({ "run_id": run_id, "thread_id": thread.thread_id }));
    let held = match Conversation::open(&app, &user, thread, &run_id, &events) {
        Ok(mut conversation) => conversation.drive(said).await.map(|()| conversation.messages),
        Err(error) => Err(error),
    };
    let status = match &held {
        Ok(_) => "success",
        Err(error) => {
            events.send("error", &json!({ "error": "DatabaseError", "message": error.to_string() }));
            "error"
        }
    };
    // If the database is what failed, then nobody is left to be told.
    let _ = app.store.end_run(&run_id, status);
    events.send("end", &Value::Null);
    // The client has all there is to have.
    drop(events);
    if let (true, Ok(messages)) = (remember, held) {
        memory::keep(&app, &user, &messages).await;
    }
}

struct Conversation<'a> {
    app: &'a App,
    events: &'a Events,
    thread: Thread,
    run_id: &'a str,
    system: String,
    messages: Vec<Message>,
}

impl<'a> Conversation<'a> {
    fn open(
        app: &'a App,
        user: &str,
        thread: Thread,
        run_id: &'a str,
        events: &'a Events,
    ) -> rusqlite::Result<Self> {
        let messages = app.store.checkpoint(&thread.thread_id)?;
        let system = system_prompt(&app.store.facts(user)?);
        Ok(Self { app, events, thread, run_id, system, messages })
    }

    async fn drive(&mut self, said: Vec<String>) -> rusqlite::Result<()> {
        self.add(said.into_iter().map(Message::human).collect())?;
        for _ in 0..MAX_MODEL_CALLS {
            let (answer, calls) = self.ask().await;
            self.add(vec![answer])?;
            if calls.is_empty() {
                return self.give_title().await;
            }
            let results = self.call(calls).await;
            self.add(results)?;
        }
        let id = new_id();
        let answer = self.say(id, TOO_MANY_STEPS);
        self.add(vec![answer])?;
        self.give_title().await
    }

    async fn ask(&self) -> (Message, Vec<ToolCall>) {
        let id = new_id();
        let on_text = |text: &str| self.chunk(&id, text);
        match self.app.model.stream("lead_agent", self.system.clone(), &self.messages, on_text).await {
            Ok(Answer { content, tool_calls, response_metadata }) => {
                let calls = tool_calls.clone();
                (Message::Ai { id, content, tool_calls, response_metadata }, calls)
            }
            Err(_) => (self.say(id, FRIENDLY_ERROR), Vec::new()),
        }
    }

    /// An assistant message that no model wrote, with all that one has.
    fn say(&self, id: String, text: &str) -> Message {
        self.chunk(&id, text);
        Message::Ai {
            id,
            content: text.to_owned(),
            tool_calls: Vec::new(),
            response_metadata: ResponseMetadata {
                finish_reason: "stop".to_owned(),
                model_name: self.app.model.name().to_owned(),
                token_usage: TokenUsage::default(),
            },
        }
    }

    fn chunk(&self, id: &str, text: &str) {
        self.events.send("messages", &json!({ "content": text, "id": id, "type": "AIMessageChunk" }));
    }

    /// All calls of one answer at the same time. Their events come as they finish, their messages in call order.
    async fn call(&self, calls: Vec<ToolCall>) -> Vec<Message> {
        let mut running = JoinSet::new();
        for (position, call) in calls.into_iter().enumerate() {
            let folder = self.app.files.join(&self.thread.thread_id);
            let events = self.events.clone();
            running.spawn_blocking(move || {
                let (status, content) = match tools::call(&folder, &call) {
                    Ok(content) => ("success", content),
                    Err(problem) => ("error", format!("Error: {problem}")),
                };
                let (name, tool_call_id, status) = (call.name, call.id, status.to_owned());
                let result =
                    json!({ "name": name, "tool_call_id": tool_call_id, "content": content, "status": status });
                events.send("tool_result", &result);
                (position, Message::Tool { id: new_id(), name, tool_call_id, content, status })
            });
        }
        let mut results = Vec::new();
        while let Some(done) = running.join_next().await {
            results.extend(done);
        }
        results.sort_by_key(|(position, _)| *position);
        results.into_iter().map(|(_, message)| message).collect()
    }

    async fn give_title(&mut self) -> rusqlite::Result<()> {
        if self.thread.title.is_none() {
            let title = title::of(&self.app.model, &self.messages).await;
            self.app.store.set_title(&self.thread.thread_id, &title)?;
            self.thread.title = Some(title);
            self.show();
        }
        Ok(())
    }

    fn add(&mut self, messages: Vec<Message>) -> rusqlite::Result<()> {
        let (store, thread) = (&self.app.store, &self.thread.thread_id);
        store.add_messages(thread, self.run_id, &messages)?;
        store.add_to_checkpoint(thread, &messages)?;
        self.messages.extend(messages);
        self.show();
        Ok(())
    }

    fn show(&self) {
        let mut state = json!({ "messages": self.messages });
        if let Some(title) = &self.thread.title {
            state["title"] = json!(title);
        }
        self.events.send("values", &state);
    }
}

fn system_prompt(facts: &[String]) -> String {
    let mut prompt = format!(
        "You are a helpful assistant. You have a folder of files, and tools to work on them. Answer briefly.\n\
         <current_date>{}</current_date>",
        Timestamp::now().strftime("%Y-%m-%d")
    );
    if !facts.is_empty() {
        prompt.push_str(&format!("\n<about_the_user>\n{}\n</about_the_user>", facts.join("\n")));
    }
    prompt
}
