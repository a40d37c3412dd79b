"""The adapters for OpenAI's SDK: Chat Completions, Responses, and Responses with the id of the previous response."""

import openai
from neutral import Answer, Call, counted, parsed


def client(model):
    return openai.OpenAI(base_url=model.openai, api_key=model.key)


def chat_request(question):
    messages = question.messages(
        user=lambda text: {"role": "user", "content": text},
        answer=lambda answer: answer.native,
        results=lambda results: [{"role": "tool", "tool_call_id": c.id, "content": text} for c, text in results],
    )
    return {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": question.system}, *messages],
        # The SDK's stream helper accepts only strict tools.
        "tools": [{"type": "function", "function": tool | {"strict": True}} for tool in question.tools],
    }


def chat(model, question):
    request = chat_request(question)
    completions = client(model).chat.completions
    if question.stream:
        with completions.stream(**request, stream_options={"include_usage": True}) as events:
            text = ""
            try:
                for event in events:
                    text += event.delta if event.type == "content.delta" else ""
                completion = events.get_final_completion()
            except openai.LengthFinishReasonError as cut:
                # The helper treats an answer that was cut off as an error, which contains the answer.
                completion = cut.completion
        assert text == (completion.choices[0].message.content or "")
    else:
        completion = completions.create(**request)
    [choice] = completion.choices
    calls = [Call(c.id, c.function.name, parsed(c.function.arguments)) for c in choice.message.tool_calls or []]
    # If the answer was cut off, the helper stops reading before the usage arrives.
    usage = completion.usage and counted(completion.usage.prompt_tokens, completion.usage.completion_tokens)
    return Answer(choice.message.content or "", calls, choice.finish_reason, usage, choice.message)


def raw_chat(model, question):
    """Reads the stream without the SDK's helper, as programs do that assemble the pieces themselves."""
    if not question.stream:
        return chat(model, question)
    request = chat_request(question) | {"stream": True, "stream_options": {"include_usage": True}}
    text, calls, finish, usage = "", [], None, None
    for chunk in client(model).chat.completions.create(**request):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for piece in choice.delta.tool_calls or []:
                if piece.id:
                    assert piece.index == len(calls) and piece.type == "function"
                    calls.append({"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}})
                    calls[-1]["function"]["name"] = piece.function.name
                calls[piece.index]["function"]["arguments"] += piece.function.arguments or ""
    native = {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})
    found = [Call(c["id"], c["function"]["name"], parsed(c["function"]["arguments"])) for c in calls]
    return Answer(text, found, finish, counted(usage.prompt_tokens, usage.completion_tokens), native)


def responses(model, question, by_id=False):
    items, before = [], None
    for kind, step in question.steps:
        if kind == "user":
            items.append({"role": "user", "content": step})
        elif kind == "results":
            items += [{"type": "function_call_output", "call_id": c.id, "output": text} for c, text in step]
        elif by_id:
            items, before = [], step.native.id
        else:
            items += step.native.output
    request = {
        "model": "gpt-5-mini",
        "instructions": question.system,
        "input": items,
        "tools": [{"type": "function", "strict": False} | tool for tool in question.tools],
    }
    if before:
        request["previous_response_id"] = before
    if question.stream:
        with client(model).responses.stream(**request) as events:
            text = ""
            for event in events:
                text += event.delta if event.type == "response.output_text.delta" else ""
                if event.type in ("response.completed", "response.incomplete"):
                    response = event.response
        assert text == response.output_text
    else:
        response = client(model).responses.create(**request)
    calls = [Call(i.call_id, i.name, parsed(i.arguments)) for i in response.output if i.type == "function_call"]
    finish = "tool_calls" if calls else "stop"
    if response.status != "completed":
        finish = {"max_output_tokens": "length"}.get(response.incomplete_details.reason, response.status)
    usage = counted(response.usage.input_tokens, response.usage.output_tokens)
    return Answer(response.output_text, calls, finish, usage, response)


ADAPTERS = {
    "openai, chat": chat,
    "openai, chat, raw stream": raw_chat,
    "openai, responses": responses,
    "openai, responses by id": lambda model, question: responses(model, question, by_id=True),
}
