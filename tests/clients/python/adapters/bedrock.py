"""The adapters for Amazon Bedrock: AWS's own SDK, Anthropic's, LangChain's, and Strands' default model."""

import asyncio

import boto3
from adapters import anthropic, langchain
from anthropic import AnthropicBedrock
from langchain_aws import ChatBedrock, ChatBedrockConverse
from neutral import Answer, Call, counted, parsed
from strands.event_loop.streaming import process_stream
from strands.models import BedrockModel

REGION = "us-east-1"
CLAUDE = "us.anthropic.claude-sonnet-4-6"


def signing(model):
    return {"region_name": REGION, "aws_access_key_id": model.key, "aws_secret_access_key": "unused"}


def converse(model, question):
    client = boto3.client("bedrock-runtime", endpoint_url=model.bedrock, **signing(model))
    spec = lambda tool: {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": {"json": tool["parameters"]},
    }
    request = {
        "modelId": CLAUDE,
        "system": [{"text": question.system}],
        "messages": said(question),
        "toolConfig": {"tools": [{"toolSpec": spec(tool)} for tool in question.tools]},
    }
    if question.stream:
        return answered(*put_together(client.converse_stream(**request)["stream"]))
    answer = client.converse(**request)
    return answered(answer["stopReason"], answer["output"]["message"], answer["usage"])


def said(question):
    result = lambda call, text: {
        "toolResult": {"toolUseId": call.id, "content": [{"text": text}], "status": "success"}
    }
    return question.messages(
        user=lambda text: {"role": "user", "content": [{"text": text}]},
        answer=lambda answer: answer.native,
        results=lambda results: [{"role": "user", "content": [result(*found) for found in results]}],
    )


def put_together(events):
    """Puts a stream of Converse together, as a program of its own has to."""
    message, reason, usage = None, None, None
    for event in events:
        [(kind, data)] = event.items()
        if kind == "messageStart":
            message = {"role": data["role"], "content": []}
        elif kind == "contentBlockStart":
            message["content"].append({"toolUse": data["start"]["toolUse"] | {"input": ""}})
        elif kind == "contentBlockDelta":
            content, delta = message["content"], data["delta"]
            if data["contentBlockIndex"] == len(content):
                content.append({"text": ""} if "text" in delta else {"reasoningContent": {"reasoningText": {}}})
            if "text" in delta:
                content[-1]["text"] += delta["text"]
            elif "toolUse" in delta:
                content[-1]["toolUse"]["input"] += delta["toolUse"]["input"]
            else:
                thought = content[-1]["reasoningContent"]["reasoningText"]
                for key, piece in delta["reasoningContent"].items():
                    thought[key] = thought.get(key, "") + piece
        elif kind == "contentBlockStop":
            if "toolUse" in message["content"][-1]:
                call = message["content"][-1]["toolUse"]
                call["input"] = parsed(call["input"] or "{}")
        elif kind == "messageStop":
            reason = data["stopReason"]
        else:
            usage = data["usage"]
    return reason, message, usage


def answered(reason, message, usage):
    text = "".join(block["text"] for block in message["content"] if "text" in block)
    calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    calls = [Call(call["toolUseId"], call["name"], call["input"]) for call in calls]
    counts = counted(usage["inputTokens"], usage["outputTokens"])
    return Answer(text, calls, anthropic.FINISH.get(reason, reason), counts, message)


def strands(model, question):
    asked = BedrockModel(
        boto_session=boto3.Session(**signing(model)),
        endpoint_url=model.bedrock,
        model_id=CLAUDE,
        streaming=question.stream,
    )
    specs = [
        {"name": tool["name"], "description": tool["description"], "inputSchema": {"json": tool["parameters"]}}
        for tool in question.tools
    ]

    async def last():
        async for event in process_stream(asked.stream(said(question), specs, question.system)):
            pass
        return event["stop"]

    reason, message, usage, _ = asyncio.run(last())
    return answered(reason, message, usage)


def invoke(model, question):
    client = AnthropicBedrock(
        base_url=model.bedrock, aws_region=REGION, aws_access_key=model.key, aws_secret_key="unused"
    )
    return anthropic.messages(model, question, client, CLAUDE)


def langchain_of(chat, model, question):
    return langchain.ask(chat(model=CLAUDE, endpoint_url=model.bedrock, max_tokens=1024, **signing(model)), question)


FIXTURES = "bedrock"

ADAPTERS = {
    "boto3, bedrock": converse,
    "anthropic, bedrock": invoke,
    "langchain-aws, bedrock converse": lambda *asked: langchain_of(ChatBedrockConverse, *asked),
    "langchain-aws, bedrock invoke": lambda *asked: langchain_of(ChatBedrock, *asked),
    "strands, bedrock": strands,
}
