"""The adapter for Ollama's SDK."""

import ollama
from neutral import Answer, Call, counted


def chat(model, question):
    client = ollama.Client(host=model.ollama, headers={"authorization": f"Bearer {model.key}"})
    messages = question.messages(
        user=lambda text: {"role": "user", "content": text},
        answer=lambda answer: answer.native,
        results=lambda results: [{"role": "tool", "tool_name": c.name, "content": text} for c, text in results],
    )
    tools = [{"type": "function", "function": tool} for tool in question.tools]
    request = {"model": "qwen3:8b", "messages": [{"role": "system", "content": question.system}, *messages]}
    answer = client.chat(**request, tools=tools, stream=question.stream)
    responses = list(answer) if question.stream else [answer]
    text = "".join(response.message.content or "" for response in responses)
    thinking = "".join(response.message.thinking or "" for response in responses)
    asked = [call for response in responses for call in response.message.tool_calls or []]
    # The SDK returns no ids for calls. A result names its tool instead.
    calls = [Call(f"{i}", call.function.name, dict(call.function.arguments)) for i, call in enumerate(asked)]
    last = responses[-1]
    finish = "tool_calls" if calls and last.done_reason == "stop" else last.done_reason
    native = ollama.Message(role="assistant", content=text, thinking=thinking or None, tool_calls=asked or None)
    return Answer(text, calls, finish, counted(last.prompt_eval_count, last.eval_count), native)


ADAPTERS = {"ollama": chat}
