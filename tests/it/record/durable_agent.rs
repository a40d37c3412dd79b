//! A small agent with durable steps: it can be killed at any moment and started again, and continues where it stopped.
//!
//! It asks a model for a plan, calls the tools in the plan in parallel (one of them is an agent itself), and asks the model
//! again. The only thing in it that deals with crashes is the journal that each call goes through.

use futures_util::future::try_join_all;
use retake::durable::{Journal, ModelRequest, Run, Step, ToolRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::record::durable::World;

/// The model's answer.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
}

/// A tool call that the model asks for. Its id differs each time the model is asked.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) args: Value,
}

/// Answers a question. Its errors come only from `world`: the journal adds none.
pub(crate) async fn agent(journal: &Journal, world: &World, question: &str) -> Result<String, String> {
    let run = journal.run();
    let mut messages = vec![json!({ "role": "user", "content": question })];

    let plan = ask(&run, world, "plan", &messages).await?;
    messages.push(json!({ "role": "assistant", "tool_calls": plan.calls }));

    // All steps get their numbers here, in order, before the first future is polled.
    let tools = plan.calls.iter().map(|call| {
        let request = ToolRequest::new(&call.tool, &call.args).call_id(&call.id);
        run.tool(&request, |step| use_tool(step, world, call))
    });
    for result in try_join_all(tools.collect::<Vec<_>>()).await? {
        world.moment("a tool step has returned");
        messages.push(json!({ "role": "tool", "content": result }));
    }
    Ok(ask(&run, world, "answer", &messages).await?.text)
}

async fn ask(run: &Run, world: &World, name: &str, messages: &[Value]) -> Result<Answer, String> {
    let request = ModelRequest::new("small", messages).settings(&json!({ "timeout": 30 }));
    let answer = run.model(name, &request, |_| world.model(messages)).await?;
    world.moment("a model step has returned");
    Ok(answer)
}

async fn use_tool(step: Step, world: &World, call: &Call) -> Result<String, String> {
    if call.tool != "ask_expert" {
        return world.tool(&call.tool, &call.args).await;
    }
    let expert = step.nested();
    let answer = ask(&expert, world, "expert", &[json!({ "role": "user", "content": call.args })]).await?;
    let place = json!(answer.text);
    expert.tool(&ToolRequest::new("look_up", &place), |_| world.tool("look_up", &place)).await
}
