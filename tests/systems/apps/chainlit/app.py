"""An agent on Chainlit, which talks to its page over Socket.IO. It calls a tool, and streams its answer."""

import json

import chainlit as cl
from openai import AsyncOpenAI

model = AsyncOpenAI()  # reads its address and its key from the environment
WEATHER = {"Paris": "It rains in Paris.", "Rome": "The sun shines in Rome."}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


@cl.step(type="tool")
async def get_weather(city: str) -> str:
    return WEATHER[city]


@cl.on_message
async def on_message(message: cl.Message) -> None:
    messages: list = [{"role": "system", "content": "You tell the weather."}, {"role": "user", "content": message.content}]
    while True:
        answer, calls = cl.Message(content=""), {}
        stream = await model.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, stream=True)
        async for chunk in stream:
            delta = chunk.choices[0].delta if chunk.choices else None
            if delta and delta.content:
                await answer.stream_token(delta.content)
            for piece in (delta and delta.tool_calls) or []:
                call = calls.setdefault(piece.index, {"id": piece.id, "name": piece.function.name, "arguments": ""})
                call["arguments"] += piece.function.arguments or ""
        if not calls:
            await answer.send()
            return
        made = [{"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
                for call in calls.values()]
        messages.append({"role": "assistant", "content": answer.content or None, "tool_calls": made})
        for call in calls.values():
            result = await get_weather(**json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
