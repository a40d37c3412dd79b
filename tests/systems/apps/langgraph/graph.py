"""A lead agent whose only tool is a subagent, which has its own tool."""

import os

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

MODELS = {  # the SDKs read their addresses and keys from the environment
    "chat": lambda: ChatOpenAI(model="gpt-4o-mini"),
    "responses": lambda: ChatOpenAI(model="gpt-4o-mini", use_responses_api=True),
    "anthropic": lambda: ChatAnthropic(model="claude-haiku-4-5"),
}
model = MODELS[os.environ["WIRE"]]()


@tool
def look_up(city: str) -> str:
    """What the archive knows of a city."""
    return f"{city} was founded long ago."


archivist = create_agent(model, [look_up], system_prompt="You look things up.", name="archivist")


@tool
async def research(city: str) -> str:
    """Lets the archivist find out about a city."""
    answer = await archivist.ainvoke({"messages": [{"role": "user", "content": f"Find out about {city}."}]})
    return answer["messages"][-1].text


graph = create_agent(model, [research], system_prompt="You write reports.", name="lead")
