"""agno's AgentOS."""

import os

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"The sun shines in {city}."


model = OpenAILike(id="gpt-4o-mini", base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
agent = Agent(
    id="meteorologist",
    model=model,
    tools=[get_weather],
    instructions="You tell the weather.",
    db=InMemoryDb(),
    telemetry=False,
)
agent_os = AgentOS(agents=[agent], telemetry=False)
app = agent_os.get_app()
