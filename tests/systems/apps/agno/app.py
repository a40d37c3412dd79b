"""An agent with one tool, served by agno's AgentOS."""

import os

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.anthropic import Claude
from agno.models.google import Gemini
from agno.models.openai import OpenAIResponses
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"The sun shines in {city}."


MODELS = {  # the SDKs read their addresses and keys from the environment
    "chat": lambda: OpenAILike(
        id="gpt-4o-mini", base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"]
    ),
    "responses": lambda: OpenAIResponses(id="gpt-4o-mini"),
    "anthropic": lambda: Claude(id="claude-haiku-4-5"),
    "gemini": lambda: Gemini(id="gemini-2.5-flash"),
}
agent = Agent(
    id="meteorologist",
    model=MODELS[os.environ["WIRE"]](),
    tools=[get_weather],
    instructions="You tell the weather.",
    db=InMemoryDb(),
    telemetry=False,
)
agent_os = AgentOS(agents=[agent], telemetry=False)
app = agent_os.get_app()
