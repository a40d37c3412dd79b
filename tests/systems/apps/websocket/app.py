"""An agent behind a plain WebSocket: each message is a question, and each answer comes as tokens with an end."""

import json

from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

WEATHER = {"Paris": "It rains in Paris.", "Rome": "The sun shines in Rome."}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


async def chat(socket: WebSocket) -> None:
    await socket.accept()
    model = AsyncOpenAI()  # reads its address and its key from the environment
    messages: list = [{"role": "system", "content": "You tell the weather."}]
    await socket.send_json({"type": "ready"})
    async for question in socket.iter_json():
        messages.append({"role": "user", "content": question["text"]})
        while True:
            text, calls = "", {}
            stream = await model.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, stream=True)
            async for chunk in stream:
                delta = chunk.choices[0].delta if chunk.choices else None
                if delta and delta.content:
                    text += delta.content
                    await socket.send_json({"type": "token", "text": delta.content})
                for piece in (delta and delta.tool_calls) or []:
                    call = calls.setdefault(piece.index, {"id": piece.id, "name": piece.function.name, "arguments": ""})
                    call["arguments"] += piece.function.arguments or ""
            if not calls:
                messages.append({"role": "assistant", "content": text})
                break
            made = [{"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
                    for call in calls.values()]
            messages.append({"role": "assistant", "content": text or None, "tool_calls": made})
            for call in calls.values():
                result = WEATHER[json.loads(call["arguments"])["city"]]
                await socket.send_json({"type": "tool", "name": call["name"], "result": result})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        await socket.send_json({"type": "end", "text": text})


async def health(_: Request) -> Response:
    return PlainTextResponse("ok")


app = Starlette(routes=[WebSocketRoute("/ws", chat), Route("/health", health)])
