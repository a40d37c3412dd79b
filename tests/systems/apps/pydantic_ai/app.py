"""pydantic-ai behind AG-UI: two tools at once, the second one faster."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

provider = OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
agent = Agent(OpenAIChatModel("gpt-4o-mini", provider=provider), instructions="You tell the weather.")

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
