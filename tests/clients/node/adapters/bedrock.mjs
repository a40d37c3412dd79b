// The adapters for Amazon Bedrock: AWS's own SDK, Anthropic's, LangChain's, and Vercel's AI SDK's.

import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import AnthropicBedrock from "@anthropic-ai/bedrock-sdk";
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { ChatBedrockConverse } from "@langchain/aws";
import { HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ask as ai } from "./ai.mjs";
import { FINISH, messages as anthropic } from "./anthropic.mjs";
import { counted, messages } from "../neutral.mjs";

const REGION = "us-east-1";
const CLAUDE = "us.anthropic.claude-sonnet-4-6";
const SECRET = "unused";

// It speaks HTTP/2.
const client = (model) =>
  new BedrockRuntimeClient({
    endpoint: model.bedrock,
    region: REGION,
    credentials: { accessKeyId: model.key, secretAccessKey: SECRET },
  });

async function converse(model, question) {
  const result = ({ call, text }) => ({ toolResult: { toolUseId: call.id, content: [{ text }] } });
  const spec = ({ parameters, ...tool }) => ({ toolSpec: { ...tool, inputSchema: { json: parameters } } });
  const request = {
    modelId: CLAUDE,
    system: [{ text: question.system }],
    messages: messages(question, {
      user: (text) => ({ role: "user", content: [{ text }] }),
      answer: (answer) => answer.native,
      results: (results) => [{ role: "user", content: results.map(result) }],
    }),
    toolConfig: { tools: question.tools.map(spec) },
  };
  const { message, stopReason, usage } = question.stream
    ? await together((await client(model).send(new ConverseStreamCommand(request))).stream)
    : await client(model).send(new ConverseCommand(request)).then(({ output, ...rest }) => ({ ...output, ...rest }));
  const calls = message.content.flatMap(({ toolUse: call }) => {
    return call ? [{ id: call.toolUseId, name: call.name, args: call.input }] : [];
  });
  return {
    text: message.content.map((block) => block.text ?? "").join(""),
    calls,
    finish: FINISH[stopReason] ?? stopReason,
    usage: counted(usage.inputTokens, usage.outputTokens),
    native: message,
  };
}

/** Puts a stream together, as a program of its own has to. */
async function together(events) {
  const message = { role: "assistant", content: [] };
  const { content } = message;
  const answer = { message };
  for await (const { contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata } of events) {
    if (contentBlockStart) content.push({ toolUse: { ...contentBlockStart.start.toolUse, input: "" } });
    if (contentBlockDelta) {
      const { contentBlockIndex: index, delta } = contentBlockDelta;
      const of = (block) => (content[index] ??= block);
      if (delta.text !== undefined) of({ text: "" }).text += delta.text;
      if (delta.toolUse) content[index].toolUse.input += delta.toolUse.input;
      if (delta.reasoningContent) {
        const thought = of({ reasoningContent: { reasoningText: {} } }).reasoningContent.reasoningText;
        for (const [key, piece] of Object.entries(delta.reasoningContent)) thought[key] = (thought[key] ?? "") + piece;
      }
    }
    const call = contentBlockStop && content[contentBlockStop.contentBlockIndex].toolUse;
    if (call) call.input = JSON.parse(call.input || "{}");
    if (messageStop) answer.stopReason = messageStop.stopReason;
    if (metadata) answer.usage = metadata.usage;
  }
  return answer;
}

const invoke = (model, question) =>
  anthropic(
    model,
    question,
    new AnthropicBedrock({ baseURL: model.bedrock, awsRegion: REGION, awsAccessKey: model.key, awsSecretKey: SECRET }),
    CLAUDE,
  );

async function langchain(model, question) {
  const chat = new ChatBedrockConverse({ model: CLAUDE, region: REGION, client: client(model), streamUsage: true });
  const bound = chat.bindTools(question.tools.map((tool) => ({ type: "function", function: tool })));
  const said = messages(question, {
    user: (text) => new HumanMessage(text),
    answer: (answer) => answer.native,
    results: (results) => results.map(({ call, text }) => new ToolMessage(text, call.id, call.name)),
  });
  said.unshift(new SystemMessage(question.system));
  let message;
  if (question.stream) {
    for await (const chunk of await bound.stream(said)) message = message ? message.concat(chunk) : chunk;
  } else {
    message = await bound.invoke(said);
  }
  const reason = message.response_metadata.stopReason ?? message.response_metadata.messageStop.stopReason;
  const counts = message.usage_metadata;
  return {
    text: message.text,
    calls: message.tool_calls.map(({ id, name, args }) => ({ id, name, args })),
    finish: FINISH[reason] ?? reason,
    usage: counted(counts.input_tokens, counts.output_tokens),
    native: message,
  };
}

const bedrock = (model) =>
  createAmazonBedrock({ baseURL: model.bedrock, region: REGION, accessKeyId: model.key, secretAccessKey: SECRET });

export const fixtures = /^(bedrock-|chat-stream)/;

export const adapters = {
  "aws-sdk, bedrock": converse,
  "anthropic, bedrock": invoke,
  "langchain, bedrock": langchain,
  "ai, bedrock": (model, question) => ai(bedrock(model)(CLAUDE), question),
};
