//! The conventions by which spans are named, each with its own table, and where the rest of a call is found. Names are separated by
//! spaces, the more telling first.

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    Tool,
    Agent,
    Other,
}

/// One convention.
pub(super) struct Table {
    /// The attributes that say what a span is about.
    pub(super) kind: &'static str,
    /// Their values, in lower case, for each of [`KINDS`]; `*` stands for any text before it.
    pub(super) words: [&'static str; 4],
    /// What a call was asked, and what it answered.
    pub(super) asked: &'static str,
    pub(super) answered: &'static str,
}

pub(super) const KINDS: [Kind; 4] = [Kind::Model, Kind::Tool, Kind::Agent, Kind::Other];

pub(super) static TABLES: [Table; 6] = [
    // The AI SDK.
    Table {
        kind: "ai.operationId",
        words: ["*.dogenerate *.dostream", "ai.toolcall", "", "*"],
        asked: "ai.prompt.messages ai.prompt",
        answered: "",
    },
    // LangSmith's exporter, MLflow and Genkit, whose spans hold what goes in and out.
    Table {
        kind: "langsmith.span.kind mlflow.spanType genkit:metadata:subtype",
        words: ["llm chat_model model", "tool", "agent", "*"],
        asked: "gen_ai.prompt mlflow.spanInputs genkit:input",
        answered: "gen_ai.completion mlflow.spanOutputs genkit:output",
    },
    // OpenTelemetry's GenAI conventions, and what ADK, Logfire and LiveKit write beside them.
    Table {
        kind: "gen_ai.operation.name gen_ai.span.kind mcp.method.name",
        words: [
            "chat generate_content text_completion completion message llm *completions",
            "execute_tool tool tools/call",
            "*agent invoke_workflow",
            "embeddings retrieval",
        ],
        asked: "gen_ai.input.messages gcp.vertex.agent.llm_request request_data lk.chat_ctx gen_ai.request.messages input",
        answered: "gen_ai.output.messages gcp.vertex.agent.llm_response response_data gen_ai.response.messages output",
    },
    // OpenInference.
    Table {
        kind: "openinference.span.kind",
        words: ["llm", "tool", "agent", "*"],
        asked: "input.value llm.input_messages llm.prompts",
        answered: "output.value llm.output_messages llm.completions",
    },
    // OpenLLMetry.
    Table {
        kind: "llm.request.type traceloop.span.kind",
        words: ["chat completion", "tool", "agent", "*"],
        asked: "gen_ai.prompt llm.prompts llm.request.messages traceloop.entity.input",
        answered: "gen_ai.completion llm.completions llm.responses traceloop.entity.output",
    },
    // What Langfuse makes of all of them.
    Table {
        kind: "langfuse.observation.type",
        words: ["generation", "tool", "agent", "*"],
        asked: "langfuse.observation.input",
        answered: "langfuse.observation.output",
    },
];

const GENAI: &str = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental \
                     OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY";

/// The settings that keep messages in spans, by the beginnings of attributes or of the instrumentation's name.
pub(super) const CAPTURE: [(&str, &str); 14] = [
    ("com.anthropic.sdk", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
    (
        "opentelemetry.instrumentation.openai_v2",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, and SPAN_ONLY in its place with \
         OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    ),
    ("opentelemetry.instrumentation.google_genai", GENAI),
    (
        "semantic_kernel.",
        "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true, and its logs sent beside its spans",
    ),
    // What is left under this name are OpenLLMetry's.
    ("opentelemetry.instrumentation.", "TRACELOOP_TRACE_CONTENT=true"),
    ("gcp.vertex.agent.llm_request", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    ("logfire. model_request_parameters", "InstrumentationSettings(include_content=True)"),
    (
        "gen_ai.input.messages.ref",
        "the upload hook off, and OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ),
    ("ai.", "experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }"),
    ("langsmith.", "LANGSMITH_HIDE_INPUTS=false LANGSMITH_HIDE_OUTPUTS=false"),
    ("gen_ai.", GENAI),
    ("openinference.", "OPENINFERENCE_HIDE_INPUTS=false OPENINFERENCE_HIDE_OUTPUTS=false"),
    ("traceloop. llm.", "TRACELOOP_TRACE_CONTENT=true"),
    ("langfuse.", ""),
];

/// The text, the tool calls and the reasoning of an answer that are attributes of their own.
pub(super) const PARTS: [[&str; 3]; 5] = [
    ["ai.response.text", "ai.response.toolCalls", "ai.response.reasoning"],
    ["ai.result.text", "ai.result.toolCalls", "ai.result.reasoning"],
    ["ai.response.object", "ai.response.toolCalls", "ai.response.reasoning"],
    ["lk.response.text", "lk.response.function_calls", "lk.response.reasoning"],
    ["gen_ai.response.text", "gen_ai.response.tool_calls", "gen_ai.response.reasoning"],
];

/// The provider's own request and response, in pairs.
pub(super) const WIRES: [(&str, &str); 6] = [
    ("input.value", "output.value"),
    ("langfuse.observation.input", "langfuse.observation.output"),
    ("request_data", "response_data"),
    ("http.request.body", "http.response.body"),
    ("http.request.body.content", "http.response.body.content"),
    ("mlflow.spanInputs", "mlflow.spanOutputs"),
];

/// Attributes of an agent's span that hold its whole conversation, with all answers.
pub(super) const CONVERSATION: &str = "pydantic_ai.all_messages all_messages_events";

/// The name of the model that was asked for, then of the one that answered.
pub(super) const MODEL: &str = "gen_ai.request.model llm.model_name ai.model.id llm.request.model \
    langfuse.observation.model.name langfuse.observation.providedModelName langfuse.observation.provided_model_name \
    langfuse.observation.model model model_name gen_ai.response.model";
pub(super) const ANSWERED_BY: &str = "gen_ai.response.model ai.response.model llm.response.model response_model";

/// The system prompt, where it is no message.
pub(super) const SYSTEM: &str = "gen_ai.system_instructions gen_ai.system.instructions lk.instructions";

/// The definitions of the tools that a call offers.
pub(super) const TOOLS: &str = "gen_ai.tool.definitions llm.tools llm.request.functions ai.prompt.tools \
    model_request_parameters gen_ai.request.tools";

/// Why the model stopped, how many answers a call asked for, and the provider's id of the answer.
pub(super) const FINISH: &str = "gen_ai.response.finish_reasons gen_ai.response.finish_reason ai.response.finishReason \
    llm.response.finish_reason llm.response.stop_reason llm.finish_reason anthropic.message.stop_reason \
    langfuse.observation.metadata.finish_reason langfuse.observation.metadata.status";
pub(super) const CHOICES: &str = "gen_ai.request.choice.count gen_ai.request.n";
pub(super) const RESPONSE_ID: &str = "gen_ai.response.id ai.response.id llm.response.id llm.response_id \
    langfuse.observation.metadata.id";

/// What says that an answer was a stream whose end has a reason: attributes that are true, and one that is a time, unless another
/// one is there.
pub(super) const STREAM: &str =
    "gen_ai.request.stream gen_ai.is_streaming llm.is_streaming langsmith.request.streaming";
pub(super) const FIRST_TOKEN: &str = "langfuse.observation.completion_start_time";
pub(super) const NO_REASON: &str = "langfuse.observation.metadata.ls_model_type";

/// The settings of a call.
pub(super) const SETTINGS: &str = "llm.invocation_parameters langfuse.observation.model.parameters";

/// The earlier answer that a call continues; the conversation of a call, which is an earlier answer where it equals the id of one.
pub(super) const CONTINUES: &str = "gen_ai.request.previous_response.id gen_ai.request.previous_response_id \
    openai.request.previous_response_id llm.request.previous_response_id";
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";

/// Tokens of a call: all input, all output, read from the cache, written to it, reasoning.
pub(super) const TOKENS: [&str; 5] = [
    "gen_ai.usage.input_tokens llm.token_count.prompt gen_ai.usage.prompt_tokens ai.usage.inputTokens ai.usage.promptTokens \
     usageDetails.input usage.input promptTokens",
    "gen_ai.usage.output_tokens llm.token_count.completion gen_ai.usage.completion_tokens ai.usage.outputTokens \
     ai.usage.completionTokens usageDetails.output usage.output completionTokens",
    "gen_ai.usage.cache_read.input_tokens llm.token_count.prompt_details.cache_read ai.usage.cachedInputTokens \
     usageDetails.input_cache_read",
    "gen_ai.usage.cache_write.input_tokens gen_ai.usage.cache_creation.input_tokens \
     llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.reasoning.output_tokens llm.token_count.completion_details.reasoning ai.usage.reasoningTokens \
     usageDetails.output_reasoning",
];

/// Who made a call: an agent, a node of a graph, a middleware.
pub(super) const CALLER: &str = "gen_ai.agent.name langgraph_node metadata.langgraph_node lc_agent_name agent_name agent.name \
    graph.node.id ai.telemetry.functionId logfire.agent_name traceloop.entity.name";

/// A tool call: its name, arguments, result, and the server that runs the tool.
pub(super) const TOOL_NAME: &str = "lk.function_tool.name gen_ai.tool.name tool.name ai.toolCall.name mcp.tool.name \
    traceloop.entity.name tool_name";
pub(super) const TOOL_ARGUMENTS: &str = "lk.function_tool.arguments gen_ai.tool.call.arguments tool.parameters tool_arguments \
    ai.toolCall.args input.value langfuse.observation.input traceloop.entity.input gcp.vertex.agent.tool_call_args \
    gen_ai.prompt mlflow.spanInputs";
pub(super) const TOOL_RESULT: &str = "lk.function_tool.output gen_ai.tool.call.result tool_response ai.toolCall.result output.value \
    langfuse.observation.output traceloop.entity.output gcp.vertex.agent.tool_response gen_ai.completion mlflow.spanOutputs";
pub(super) const TOOL_SERVER: &str =
    "mcp.server.name mcp.server gen_ai.tool.server.name tool.server.name mcp_server_name";

/// The request that started a trace: its path, method and body.
pub(super) const PATH: &str = "url.path http.target http.route http.url";
pub(super) const METHOD: &str = "http.request.method http.method";
pub(super) const BODY: &str = "http.request.body http.request.body.content http.request_body http.request.body.text";

/// The settings of an OpenTelemetry SDK that keep all attributes, and whole values.
pub(super) const COUNT_LIMIT: &str = "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=100000";
/// How many attributes a span keeps if nobody set another limit.
pub(super) const USUAL_LIMIT: usize = 128;
pub(super) const LENGTH_LIMIT: &str =
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT unset";

/// What instrumentations put in place of what they hide.
pub(super) const REDACTED: [&str; 4] = ["__REDACTED__", "<elided>", "<redacted>", "[REDACTED]"];
