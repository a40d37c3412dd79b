"""An agent on the OpenAI Agents SDK behind FastAPI. Asked about Oslo, it never answers: the run ends when the client leaves."""

import asyncio
import json
import os
from collections.abc import AsyncIterator

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)  # traces go to OpenAI's own servers
client = AsyncOpenAI()  # OPENAI_BASE_URL, OPENAI_API_KEY
MODELS = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}
app = FastAPI()
runs: dict[str, str] = {}


@function_tool
async def get_weather(city: str) -> str:
    """The weather in a city."""
    if city == "Oslo":
        await asyncio.Event().wait()  # forever
    return f"The sun shines in {city}."


agent = Agent(
    name="meteorologist",
    instructions="You tell the weather.",
    model=MODELS[os.environ["WIRE"]]("gpt-4o-mini", client),
    tools=[get_weather],
)


class Question(BaseModel):
    message: str


async def answer(run: str, question: str) -> AsyncIterator[str]:
    runs[run] = "running"
    result = Runner.run_streamed(agent, question)
    try:
        async for event in result.stream_events():
            data = {"type": event.type}
            if event.type == "run_item_stream_event":
                data |= {"name": event.name, "item": event.item.to_input_item()}
            elif event.type == "raw_response_event":
                data |= {"data": event.data.model_dump(mode="json")}
            yield f"data: {json.dumps(data)}\n\n"
        runs[run] = "done"
    finally:
        if runs[run] == "running":
            result.cancel()
            runs[run] = "cancelled"


@app.post("/runs/{run}")
async def start(run: str, question: Question) -> StreamingResponse:
    return StreamingResponse(answer(run, question.message), media_type="text/event-stream")


@app.get("/runs/{run}")
async def status(run: str) -> dict:
    return {"run": run, "status": runs[run]}


@app.get("/health")
async def health() -> dict:
    return {"ok": True}
