"""The adapters for LangChain's packages for OpenAI and Anthropic."""

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from neutral import Answer, Call, counted


def ask(chat, question):
    messages = question.messages(
        user=HumanMessage,
        answer=lambda answer: answer.native,
        results=lambda results: [ToolMessage(text, tool_call_id=call.id, name=call.name) for call, text in results],
    )
    messages = [SystemMessage(question.system), *messages]
    chat = chat.bind_tools([{"type": "function", "function": tool} for tool in question.tools])
    if question.stream:
        message = None
        for chunk in chat.stream(messages):
            message = chunk if message is None else message + chunk
    else:
        message = chat.invoke(messages)
    calls = [Call(call["id"], call["name"], call["args"]) for call in message.tool_calls]
    usage = counted(message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])
    text = "".join(block["text"] for block in message.content_blocks if block["type"] == "text")
    return Answer(text, calls, finish_of(message.response_metadata, calls), usage, message)


def finish_of(metadata, calls):
    if "finish_reason" in metadata:
        return metadata["finish_reason"]
    if reason := metadata.get("stop_reason") or metadata.get("stopReason"):
        return {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}[reason]
    if metadata["status"] != "completed":
        return {"max_output_tokens": "length"}[metadata["incomplete_details"]["reason"]]
    return "tool_calls" if calls else "stop"


def openai(model, question, **kind):
    name = "gpt-5-mini" if kind.get("use_responses_api") else "gpt-4o-mini"
    return ask(ChatOpenAI(model=name, base_url=model.openai, api_key=model.key, stream_usage=True, **kind), question)


def anthropic(model, question):
    return ask(ChatAnthropic(model="claude-sonnet-4-6", base_url=model.anthropic, api_key=model.key), question)


ADAPTERS = {
    "langchain-openai, chat": openai,
    "langchain-openai, responses": lambda model, question: openai(model, question, use_responses_api=True),
    "langchain-anthropic": anthropic,
}
