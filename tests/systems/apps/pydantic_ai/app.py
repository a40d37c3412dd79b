"""An agent on pydantic-ai, served over AG-UI. It calls a tool twice in parallel, and the second call finishes first."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

MODELS = {  # the SDKs read their addresses and keys from the environment
    "chat": lambda: OpenAIChatModel("gpt-4o-mini"),
    "responses": lambda: OpenAIResponsesModel("gpt-4o-mini"),
    "anthropic": lambda: AnthropicModel("claude-haiku-4-5"),
    "gemini": lambda: GoogleModel("gemini-2.5-flash"),
}
agent = Agent(MODELS[os.environ["WIRE"]](), instructions="You tell the weather.")

WEATHER = {"Paris": "It rains in Paris.", "Rome": "The sun shines in Rome."}


@agent.tool_plain
async def get_weather(city: str) -> str:
    """The weather in a city."""
    await asyncio.sleep(0.02 if city == "Paris" else 0)
    return WEATHER[city]


async def run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent)


async def health(_: Request) -> Response:
    return PlainTextResponse("ok")


app = Starlette(routes=[Route("/", run, methods=["POST"]), Route("/health", health)])
