"""The adapter for Anthropic's SDK."""

import anthropic
from neutral import Answer, Call, counted

FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


def messages(model, question, client=None, name="claude-sonnet-4-6"):
    result = lambda call, text: {"type": "tool_result", "tool_use_id": call.id, "content": text}
    request = {
        "model": name,
        "max_tokens": 1024,
        "system": question.system,
        "messages": question.messages(
            user=lambda text: {"role": "user", "content": text},
            answer=lambda answer: {"role": "assistant", "content": answer.native},
            results=lambda results: [{"role": "user", "content": [result(*found) for found in results]}],
        ),
        "tools": [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in question.tools
        ],
    }
    client = client or anthropic.Anthropic(base_url=model.anthropic, api_key=model.key)
    if question.stream:
        with client.messages.stream(**request) as events:
            streamed = "".join(events.text_stream)
            message = events.get_final_message()
    else:
        message = client.messages.create(**request)
    text = "".join(block.text for block in message.content if block.type == "text")
    assert not question.stream or streamed == text
    calls = [Call(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    usage = counted(message.usage.input_tokens, message.usage.output_tokens)
    return Answer(text, calls, FINISH.get(message.stop_reason, message.stop_reason), usage, message.content)


FIXTURES = ""

ADAPTERS = {"anthropic": messages}
