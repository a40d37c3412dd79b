//! The agent: calls the model, runs the tools that the answer asks for, and repeats until an answer asks for none.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::task::JoinSet;

use crate::{
    App,
    auth::new_id,
    events::Events,
    memory,
    message::{Message, ResponseMetadata, TokenUsage, ToolCall},
    model::{Answer, BREAKS_OFF, FRIENDLY_ERROR},
    mutants::mutant,
    store::Thread,
    title, tools,
};

const MAX_MODEL_CALLS: usize = 25;
const TOO_MANY_STEPS: &str = "I stopped, because this takes more steps than I may make.";

/// The input of a run.
pub(crate) struct Task {
    pub(crate) user: String,
    pub(crate) thread: Thread,
    pub(crate) run_id: String,
    /// The user's messages.
    pub(crate) said: Vec<String>,
    /// Whether to remember what the run reveals about the user.
    pub(crate) remember: bool,
}

/// Executes one run of a thread, from the user's messages to the `end` event, and then stores a fact about the user if
/// the task says so.
pub(crate) async fn run(app: Arc<App>, task: Task, events: Events) {
    let Task { user, thread, run_id, said, remember } = task;
    let metadata = metadata(&run_id, &thread.thread_id);
    if !mutant!("metadata_late") {
        events.send("metadata", &metadata);
    }
    let mut conversation = Conversation::open(&app, &user, thread, &run_id, &events);
    let held = conversation.drive(said).await.map(|()| conversation.messages);
    let status = match &held {
        Ok(messages) if mutant!("run_fails_with_its_tool") && messages.iter().any(Message::is_failure) => "error",
        Ok(_) => mutant!("run_status_word", "completed", "success"),
        Err(error) => {
            events.send("error", &json!({ "error": "DatabaseError", "message": error.to_string() }));
            "error"
        }
    };
    if mutant!("metadata_late") {
        events.send("metadata", &metadata);
    }
    let stays = mutant!("runs_stay_running") && app.cut.load(Ordering::Relaxed);
    if !mutant!("run_never_ends") && !stays {
        // If the file itself failed, nobody is left who could be told.
        let _ = app.store.end_run(&run_id, status);
    }
    if !mutant!("end_missing") && !mutant!("end_before_title") {
        events.send("end", &mutant!("end_payload", json!({}), Value::Null));
    }
    if mutant!("end_twice") {
        events.send("end", &Value::Null);
    }
    if mutant!("status_behind_end") {
        events.send("status", &json!({ "status": status }));
    }
    // The client has received everything: close its stream before the slow part.
    drop(events);
    let remember = mutant!("memory_never", false, remember || mutant!("memory_always"));
    if let (true, Ok(messages)) = (remember, held) {
        memory::keep(&app, &user, &messages).await;
        if mutant!("memory_twice") {
            memory::keep(&app, &user, &messages).await;
        }
    }
}

fn metadata(run_id: &str, thread_id: &str) -> Value {
    if mutant!("metadata_without_thread") {
        return json!({ "run_id": run_id });
    }
    if mutant!("metadata_ids_swapped") {
        return json!({ "run_id": thread_id, "thread_id": run_id });
    }
    if mutant!("metadata_extra_key") {
        return json!({ "run_id": run_id, "thread_id": thread_id, "attempt": 1 });
    }
    json!({ "run_id": mutant!("metadata_other_run", new_id(), run_id.to_owned()), "thread_id": thread_id })
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
    fn open(app: &'a App, user: &str, thread: Thread, run_id: &'a str, events: &'a Events) -> Self {
        let messages = mutant!("history_forgotten", Vec::new(), app.store.checkpoint(&thread.thread_id));
        let system = system_prompt(&mutant!("memory_not_used", Vec::new(), app.store.facts(user)));
        Self { app, events, thread, run_id, system, messages }
    }

    async fn drive(&mut self, mut said: Vec<String>) -> io::Result<()> {
        if mutant!("input_first_only") {
            said.truncate(1);
        }
        if mutant!("input_last_only") {
            said.drain(..said.len() - 1);
        }
        if mutant!("input_joined") {
            said = vec![said.join("\n")];
        }
        if mutant!("input_twice") {
            said.extend(said.clone());
        }
        self.add(said.into_iter().map(Message::human).collect())?;
        if mutant!("title_before_answer") {
            self.give_title().await?;
        }
        for _ in 0..mutant!("model_calls_two", 2, MAX_MODEL_CALLS) {
            let (answer, calls) = self.ask().await;
            self.add(vec![answer])?;
            if mutant!("asked_once_more") && calls.is_empty() {
                self.ask().await;
            }
            if calls.is_empty() {
                return self.give_title().await;
            }
            let results = self.call(calls).await;
            self.add(results)?;
            if mutant!("tools_not_told_of") {
                return self.give_title().await;
            }
        }
        let id = new_id();
        let answer = self.say(id, TOO_MANY_STEPS);
        self.add(vec![answer])?;
        self.give_title().await
    }

    async fn ask(&self) -> (Message, Vec<ToolCall>) {
        let id = new_id();
        let mut came = String::new();
        let on_text = |text: &str| {
            came.push_str(text);
            self.chunk(&id, text);
        };
        let mut asked = self.app.model.stream("lead_agent", self.system.clone(), &self.messages, on_text).await;
        if asked.as_ref().is_err_and(|error| error.to_string() == BREAKS_OFF) {
            self.app.cut.store(true, Ordering::Relaxed);
            if mutant!("cut_stream_keeps_the_lock") {
                self.app.locked.store(true, Ordering::Relaxed);
            }
            if mutant!("cut_stream_panics") {
                let _ = &self.messages[self.messages.len()];
            }
            while mutant!("cut_stream_asked_again_forever") {
                asked = self.app.model.stream("lead_agent", self.system.clone(), &self.messages, |_| ()).await;
            }
            if mutant!("half_answer_kept") && !came.is_empty() {
                return (self.say(id, &came), Vec::new());
            }
        }
        match asked {
            Ok(Answer { content, mut tool_calls, response_metadata }) => {
                let calls = tool_calls.clone();
                if mutant!("call_ids_anew") {
                    for call in &mut tool_calls {
                        call.id = format!("call_{}", new_id());
                    }
                }
                if mutant!("calls_not_shown") {
                    tool_calls.clear();
                }
                let id = mutant!("answer_id_anew", new_id(), id);
                let id = mutant!("answer_id_of_run", self.run_id.to_owned(), id);
                (Message::Ai { id, content, tool_calls, response_metadata }, calls)
            }
            Err(error) if mutant!("model_error_shown") => (self.say(id, &error.to_string()), Vec::new()),
            Err(_) if mutant!("model_error_silent") => (self.say(id, ""), Vec::new()),
            Err(error) if mutant!("model_error_event") => {
                self.events.send("error", &json!({ "error": "ModelError", "message": error.to_string() }));
                (self.say(id, FRIENDLY_ERROR), Vec::new())
            }
            Err(_) => (self.say(id, FRIENDLY_ERROR), Vec::new()),
        }
    }

    /// Returns an assistant message with the service's own text, in the same form as one from the model, and streams it.
    fn say(&self, id: String, text: &str) -> Message {
        if !mutant!("own_words_not_streamed") {
            self.chunk(&id, text);
        }
        Message::Ai {
            id,
            content: text.to_owned(),
            tool_calls: Vec::new(),
            response_metadata: ResponseMetadata {
                finish_reason: mutant!("own_words_finish", "error", "stop").to_owned(),
                model_name: self.app.model.name().to_owned(),
                token_usage: TokenUsage::default(),
            },
        }
    }

    fn chunk(&self, id: &str, text: &str) {
        let mut chunk = json!({ "content": text, "id": id, "type": "AIMessageChunk" });
        if mutant!("chunk_type") {
            chunk["type"] = json!("ai");
        }
        if mutant!("chunk_id_anew") {
            chunk["id"] = json!(new_id());
        }
        if mutant!("chunk_content_parts") {
            chunk["content"] = json!([{ "type": "text", "text": text }]);
        }
        if mutant!("chunk_with_model") {
            chunk["model"] = json!(self.app.model.name());
        }
        self.events.send(mutant!("chunk_event_name", "message", "messages"), &chunk);
        if mutant!("chunk_twice") {
            self.events.send("messages", &chunk);
        }
    }

    /// Runs all tool calls of one answer in parallel. Events are sent as the calls finish; the messages are returned in
    /// call order.
    async fn call(&self, mut calls: Vec<ToolCall>) -> Vec<Message> {
        if mutant!("first_call_only") {
            calls.truncate(1);
        }
        if mutant!("call_ids_swapped") {
            let ids: Vec<_> = calls.iter().rev().map(|call| call.id.clone()).collect();
            calls.iter_mut().zip(ids).for_each(|(call, id)| call.id = id);
        }
        let ids: Vec<_> = calls.iter().rev().map(|call| call.id.clone()).collect();
        let mut running = JoinSet::new();
        for (position, call) in calls.into_iter().enumerate() {
            let folder = self.app.files.join(mutant!("folder_of_all_threads", ".", &self.thread.thread_id));
            let events = self.events.clone();
            let told_id = mutant!("tool_result_ids_swapped", ids[position].clone(), call.id.clone());
            running.spawn_blocking(move || {
                let (status, content) = match tools::call(&folder, &call) {
                    Ok(content) => ("success", content),
                    Err(problem) if mutant!("tool_error_is_success") => ("success", format!("Error: {problem}")),
                    Err(problem) if mutant!("tool_error_bare") => ("error", problem),
                    Err(_) if mutant!("tool_error_unsaid") => ("error", "Error: the tool failed".to_owned()),
                    Err(_) if mutant!("tool_error_empty") => ("success", String::new()),
                    Err(problem) => ("error", format!("Error: {problem}")),
                };
                let content = mutant!("tool_result_cut", content.chars().take(8).collect(), content);
                let (name, tool_call_id, status) = (call.name, call.id, status.to_owned());
                let result = ToolResult { name: &name, tool_call_id: &told_id, content: &content, status: &status };
                result.send(&events);
                let id = mutant!("tool_id_of_call", tool_call_id.clone(), new_id());
                (position, Message::Tool { id, name, tool_call_id, content, status })
            });
        }
        let mut results = Vec::new();
        while let Some(done) = running.join_next().await {
            results.extend(done);
        }
        results.sort_by_key(|(position, _)| *position);
        if mutant!("results_reversed") {
            results.reverse();
        }
        if mutant!("failed_results_dropped") {
            results.retain(|(_, message)| !message.is_failure());
        }
        results.into_iter().map(|(_, message)| message).collect()
    }

    async fn give_title(&mut self) -> io::Result<()> {
        if mutant!("end_before_title") {
            self.events.send("end", &Value::Null);
        }
        if mutant!("title_never") {
            return Ok(());
        }
        if self.thread.title.is_none() || mutant!("title_each_run") {
            let title = title::of(&self.app.model, &self.messages).await;
            if mutant!("title_asked_twice") {
                title::of(&self.app.model, &self.messages).await;
            }
            if !mutant!("title_not_stored") {
                self.app.store.set_title(&self.thread.thread_id, &title)?;
            }
            self.thread.title = Some(mutant!("title_stale", "New thread".to_owned(), title));
            if !mutant!("title_not_shown") {
                self.show();
            }
        }
        Ok(())
    }

    fn add(&mut self, messages: Vec<Message>) -> io::Result<()> {
        let (store, thread) = (&self.app.store, &self.thread.thread_id);
        let of_tools = messages.iter().any(|message| matches!(message, Message::Tool { .. }));
        if !(mutant!("history_without_tools") && of_tools) {
            store.add_messages(thread, self.run_id, &messages)?;
        }
        if mutant!("history_twice") {
            store.add_messages(thread, self.run_id, &messages)?;
        }
        if !(mutant!("checkpoint_without_tools") && of_tools) {
            store.add_to_checkpoint(thread, &messages)?;
        }
        if mutant!("shown_before_added") {
            self.show();
            self.messages.extend(messages);
            return Ok(());
        }
        let added = messages.len();
        self.messages.extend(messages);
        if mutant!("results_not_shown") && of_tools || mutant!("question_not_shown") && self.messages.len() == added {
            return Ok(());
        }
        self.show();
        Ok(())
    }

    fn show(&self) {
        let mut messages = self.messages.clone();
        if mutant!("values_newest_only") {
            messages.drain(..messages.len() - 1);
        }
        if mutant!("values_reversed") {
            messages.reverse();
        }
        if mutant!("values_without_tools") {
            messages.retain(|message| !matches!(message, Message::Tool { .. }));
        }
        if mutant!("values_twice_each") {
            messages = messages.into_iter().flat_map(|message| [message.clone(), message]).collect();
        }
        if mutant!("values_of_last_ten") {
            messages.drain(..messages.len().saturating_sub(10));
        }
        if mutant!("values_without_empty") {
            messages.retain(|message| !message.content().is_empty());
        }
        if mutant!("values_by_kind") {
            messages.sort_by_key(|message| matches!(message, Message::Tool { .. }));
        }
        let newest = messages.iter().rev().find_map(|message| match message {
            Message::Ai { response_metadata, .. } => Some(response_metadata.clone()),
            _ => None,
        });
        for message in &mut messages {
            match message {
                Message::Ai { tool_calls, .. } if mutant!("values_calls_reversed") => tool_calls.reverse(),
                Message::Ai { tool_calls, .. } if mutant!("values_first_call_only") => tool_calls.truncate(1),
                Message::Ai { response_metadata, .. } if mutant!("values_metadata_of_newest") => {
                    if let Some(newest) = &newest {
                        response_metadata.clone_from(newest);
                    }
                }
                Message::Tool { content, .. } if mutant!("values_first_line_of_results") => {
                    *content = content.lines().next().unwrap_or_default().to_owned();
                }
                Message::Human { id, .. } if mutant!("values_question_id_anew") => *id = new_id(),
                _ => {}
            }
        }
        let mut state = json!({ "messages": messages });
        if let Some(title) = &self.thread.title {
            state["title"] = json!(title);
        }
        if mutant!("values_title_null") {
            state["title"] = json!(self.thread.title);
        }
        if mutant!("values_without_title") {
            state = json!({ "messages": messages });
        }
        if mutant!("values_extra_key") {
            state["artifacts"] = json!([]);
        }
        self.events.send(mutant!("values_event_name", "updates", "values"), &state);
        if mutant!("values_event_twice") {
            self.events.send("values", &state);
        }
    }
}

/// The payload of a `tool_result` event.
#[derive(Serialize)]
struct ToolResult<'a> {
    name: &'a str,
    tool_call_id: &'a str,
    content: &'a str,
    status: &'a str,
}

impl ToolResult<'_> {
    fn send(&self, events: &Events) {
        let mut result = json!(self);
        if mutant!("tool_result_without_status") {
            result = json!({ "name": self.name, "tool_call_id": self.tool_call_id, "content": self.content });
        }
        if mutant!("tool_result_id_key") {
            result =
                json!({ "name": self.name, "id": self.tool_call_id, "content": self.content, "status": self.status });
        }
        if mutant!("tool_result_content_lost") {
            result["content"] = Value::Null;
        }
        if mutant!("tool_result_name_lost") {
            result["name"] = json!("tool");
        }
        if mutant!("tool_result_always_success") {
            result["status"] = json!("success");
        }
        if mutant!("tool_result_call_id_anew") {
            result["tool_call_id"] = json!(format!("call_{}", new_id()));
        }
        if mutant!("tool_result_missing") || mutant!("tool_failure_missing") && self.status == "error" {
            return;
        }
        events.send("tool_result", &result);
        if mutant!("tool_result_twice") {
            events.send("tool_result", &result);
        }
    }
}

fn system_prompt(facts: &[String]) -> String {
    let today = OffsetDateTime::now_utc().date();
    let mut prompt = format!(
        "You are a helpful assistant. You have a folder of files, and tools to work on them. {}.\n\
         <current_date>{}</current_date>",
        mutant!("prompt_reworded", "Answer at length", "Answer briefly"),
        mutant!("prompt_date_form", today.weekday().to_string(), today.to_string())
    );
    if mutant!("prompt_without_date") {
        prompt.truncate(prompt.find('\n').unwrap_or_default());
    }
    if facts.is_empty() {
        return prompt;
    }
    format!("{prompt}\n<about_the_user>\n{}\n</about_the_user>", facts.join("\n"))
}
