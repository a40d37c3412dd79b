//! Where which field is found. A row is for what an attribute holds, whichever framework writes it.

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    Tool,
    Agent,
    Other,
}

use Kind::{Agent, Model, Other, Tool};

/// The attributes that say what a span is about, from the most to the least telling. A value is compared in lower case; `*`
/// stands for any text before it.
pub(super) const KINDS: [(&str, &[(&str, Kind)]); 12] = [
    ("openinference.span.kind", &[("llm", Model), ("tool", Tool), ("agent", Agent), ("*", Other)]),
    (
        "gen_ai.operation.name",
        &[
            ("chat", Model),
            ("generate_content", Model),
            ("text_completion", Model),
            ("completion", Model),
            ("message", Model),
            ("*completions", Model),
            ("execute_tool", Tool),
            ("*_agent", Agent),
            ("invoke_workflow", Agent),
            ("embeddings", Other),
            ("retrieval", Other),
        ],
    ),
    ("ai.operationId", &[("*.dogenerate", Model), ("*.dostream", Model), ("ai.toolcall", Tool), ("*", Other)]),
    ("llm.request.type", &[("chat", Model), ("completion", Model), ("*", Other)]),
    ("traceloop.span.kind", &[("tool", Tool), ("agent", Agent), ("*", Other)]),
    ("mlflow.spanType", &[("chat_model", Model), ("llm", Model), ("tool", Tool), ("agent", Agent), ("*", Other)]),
    ("genkit:metadata:subtype", &[("model", Model), ("tool", Tool), ("*", Other)]),
    ("langsmith.span.kind", &[("llm", Model), ("tool", Tool), ("*", Other)]),
    ("gen_ai.span.kind", &[("llm", Model), ("chat", Model), ("tool", Tool), ("agent", Agent), ("*", Other)]),
    ("gen_ai.tool.name", &[("*", Tool)]),
    ("mcp.method.name", &[("tools/call", Tool), ("*", Other)]),
    ("langfuse.observation.type", &[("generation", Model), ("tool", Tool), ("agent", Agent)]),
];

/// The name of the model that was asked for, then of the one that answered.
pub(super) const MODEL: [&str; 8] = [
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
    "llm.request.model",
    "langfuse.observation.model.name",
    "model",
    "model_name",
    "gen_ai.response.model",
];
pub(super) const ANSWERED_BY: [&str; 4] =
    ["gen_ai.response.model", "ai.response.model", "llm.response.model", "response_model"];

/// The provider's own request and response, in pairs.
pub(super) const WIRES: [(&str, &str); 6] = [
    ("input.value", "output.value"),
    ("langfuse.observation.input", "langfuse.observation.output"),
    ("request_data", "response_data"),
    ("http.request.body", "http.response.body"),
    ("http.request.body.content", "http.response.body.content"),
    ("mlflow.spanInputs", "mlflow.spanOutputs"),
];

/// What a call was asked: its conversation.
pub(super) const INPUT: [&str; 20] = [
    "gen_ai.input.messages",
    "gcp.vertex.agent.llm_request",
    "ai.prompt.messages",
    "request_data",
    "input.value",
    "llm.input_messages",
    "gen_ai.prompt",
    "llm.prompts",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "mlflow.spanInputs",
    "genkit:input",
    "lk.chat_ctx",
    "gen_ai.request.messages",
    "llm.request.messages",
    "$ai_input",
    "ai.prompt",
    "input",
    "inputs",
    "messages",
];

/// What it answered.
pub(super) const OUTPUT: [&str; 16] = [
    "gen_ai.output.messages",
    "gcp.vertex.agent.llm_response",
    "response_data",
    "output.value",
    "llm.output_messages",
    "gen_ai.completion",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
    "genkit:output",
    "llm.completions",
    "gen_ai.response.messages",
    "llm.responses",
    "$ai_output_choices",
    "output",
    "outputs",
];

/// An answer whose text and tool calls are attributes of their own.
pub(super) const ANSWER_IN_PARTS: [(&str, &str, &str); 5] = [
    ("ai.response.text", "ai.response.toolCalls", "ai.response.reasoning"),
    ("ai.result.text", "ai.result.toolCalls", "ai.result.reasoning"),
    ("lk.response.text", "lk.response.function_calls", "lk.response.reasoning"),
    ("gen_ai.response.text", "gen_ai.response.tool_calls", "gen_ai.response.reasoning"),
    ("ai.response.object", "ai.response.toolCalls", "ai.response.reasoning"),
];

/// Attributes that only model calls have. With one of them, a span that does not say what it is about may be a call.
pub(super) const ONLY_OF_CALLS: [&str; 6] = [
    "gen_ai.input.messages",
    "gcp.vertex.agent.llm_request",
    "ai.prompt.messages",
    "llm.input_messages",
    "gen_ai.prompt",
    "lk.chat_ctx",
];

/// Attributes that hold the messages of a call and its answer together, each named by its event.
pub(super) const EVENTS: [&str; 1] = ["events"];

/// Attributes of an agent's span that hold its whole conversation, with all answers.
pub(super) const CONVERSATION: [&str; 2] = ["pydantic_ai.all_messages", "all_messages_events"];

/// The system prompt, where it is no message.
pub(super) const SYSTEM: [&str; 3] = ["gen_ai.system_instructions", "gen_ai.system.instructions", "lk.instructions"];

/// The definitions of the tools that a call offers.
pub(super) const TOOLS: [&str; 6] = [
    "gen_ai.tool.definitions",
    "llm.tools",
    "llm.request.functions",
    "ai.prompt.tools",
    "model_request_parameters",
    "gen_ai.request.tools",
];

/// Why the model stopped.
pub(super) const FINISH: [&str; 5] = [
    "gen_ai.response.finish_reasons",
    "gen_ai.response.finish_reason",
    "ai.response.finishReason",
    "llm.response.finish_reason",
    "llm.response.stop_reason",
];

/// The provider's id of the answer.
/// How many answers a call asked for.
pub(super) const CHOICES: [&str; 2] = ["gen_ai.request.choice.count", "gen_ai.request.n"];

pub(super) const RESPONSE_ID: [&str; 4] =
    ["gen_ai.response.id", "ai.response.id", "llm.response.id", "llm.response_id"];

/// The earlier answer that a call continues.
pub(super) const CONTINUES: [&str; 4] = [
    "gen_ai.request.previous_response.id",
    "gen_ai.request.previous_response_id",
    "openai.request.previous_response_id",
    "llm.request.previous_response_id",
];

/// The conversation of a call: where it equals the id of an earlier answer, the call continues that.
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";

/// Tokens of a call: all input, all output, read from the cache, written to it, reasoning.
pub(super) const TOKENS: [&[&str]; 5] = [
    &[
        "gen_ai.usage.input_tokens",
        "llm.token_count.prompt",
        "gen_ai.usage.prompt_tokens",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
        "usageDetails.input",
        "usage.input",
        "promptTokens",
    ],
    &[
        "gen_ai.usage.output_tokens",
        "llm.token_count.completion",
        "gen_ai.usage.completion_tokens",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
        "usageDetails.output",
        "usage.output",
        "completionTokens",
    ],
    &[
        "gen_ai.usage.cache_read.input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
        "usageDetails.input_cache_read",
    ],
    &[
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ],
    &[
        "gen_ai.usage.reasoning.output_tokens",
        "llm.token_count.completion_details.reasoning",
        "ai.usage.reasoningTokens",
        "usageDetails.output_reasoning",
    ],
];

/// Who made a call: an agent, a node of a graph, a middleware.
pub(super) const CALLER: [&str; 10] = [
    "gen_ai.agent.name",
    "langgraph_node",
    "metadata.langgraph_node",
    "lc_agent_name",
    "agent_name",
    "agent.name",
    "graph.node.id",
    "ai.telemetry.functionId",
    "logfire.agent_name",
    "traceloop.entity.name",
];

/// A tool call: its name, arguments, result, id, and the server that runs the tool.
pub(super) const TOOL_NAME: [&str; 7] = [
    "lk.function_tool.name",
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "mcp.tool.name",
    "traceloop.entity.name",
    "tool_name",
];
pub(super) const TOOL_ARGUMENTS: [&str; 10] = [
    "lk.function_tool.arguments",
    "gen_ai.tool.call.arguments",
    "tool.parameters",
    "tool_arguments",
    "ai.toolCall.args",
    "input.value",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "gcp.vertex.agent.tool_call_args",
    "input",
];
pub(super) const TOOL_RESULT: [&str; 9] = [
    "lk.function_tool.output",
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "output.value",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "gcp.vertex.agent.tool_response",
    "output",
];
pub(super) const TOOL_SERVER: [&str; 5] =
    ["mcp.server.name", "mcp.server", "gen_ai.tool.server.name", "tool.server.name", "mcp_server_name"];

/// The request that started a trace: its path, method and body.
pub(super) const PATH: [&str; 4] = ["url.path", "http.target", "http.route", "http.url"];
pub(super) const METHOD: [&str; 2] = ["http.request.method", "http.method"];
pub(super) const BODY: [&str; 4] =
    ["http.request.body", "http.request.body.content", "http.request_body", "http.request.body.text"];

/// By the beginning of the names of a span's attributes, or of its instrumentation: the setting that keeps messages in spans.
pub(super) const CAPTURE: [(&str, &str); 9] = [
    ("ai.", "experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }"),
    ("openinference.", "OPENINFERENCE_HIDE_INPUTS=false OPENINFERENCE_HIDE_OUTPUTS=false"),
    ("traceloop.", "TRACELOOP_TRACE_CONTENT=true"),
    ("gcp.vertex.agent.llm_request", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    ("logfire.", "InstrumentationSettings(include_content=True)"),
    ("model_request_parameters", "InstrumentationSettings(include_content=True)"),
    ("llm.", "TRACELOOP_TRACE_CONTENT=true, or OPENINFERENCE_HIDE_INPUTS=false"),
    (
        "gen_ai.input.messages.ref",
        "the upload hook off, and OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ),
    (
        "",
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental \
         OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ),
];

/// The settings of an OpenTelemetry SDK that keep all attributes, and whole values.
pub(super) const COUNT_LIMIT: &str = "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=100000";
/// How many attributes a span keeps if nobody set another limit.
pub(super) const USUAL_LIMIT: usize = 128;
pub(super) const LENGTH_LIMIT: &str =
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT unset";

/// What instrumentations put in place of what they hide.
pub(super) const REDACTED: [&str; 4] = ["__REDACTED__", "<elided>", "<redacted>", "[REDACTED]"];
