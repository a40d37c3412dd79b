"""A page of Gradio: its `ChatInterface`, before an agent that calls a tool and streams its answer."""

import json
import os
from collections.abc import Iterator

import gradio as gr
from openai import OpenAI

model = OpenAI()  # reads its address and its key from the environment
WEATHER = {"Paris": "It rains in Paris.", "Rome": "The sun shines in Rome."}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def answer(message: str, _history: list) -> Iterator[str]:
    messages: list = [{"role": "system", "content": "You tell the weather."}, {"role": "user", "content": message}]
    while True:
        text, calls = "", {}
        for chunk in model.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, stream=True):
            delta = chunk.choices[0].delta if chunk.choices else None
            if delta and delta.content:
                text += delta.content
                yield text
            for piece in (delta and delta.tool_calls) or []:
                call = calls.setdefault(piece.index, {"id": piece.id, "name": piece.function.name, "arguments": ""})
                call["arguments"] += piece.function.arguments or ""
        if not calls:
            return
        made = [{"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
                for call in calls.values()]
        messages.append({"role": "assistant", "content": text or None, "tool_calls": made})
        for call in calls.values():
            result = WEATHER[json.loads(call["arguments"])["city"]]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


gr.ChatInterface(answer, title="The weather").launch(server_name="127.0.0.1", server_port=int(os.environ["PORT"]))
