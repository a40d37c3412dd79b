"""A lead agent whose only tool is a subagent with a tool of its own."""

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="gpt-4o-mini")  # OPENAI_BASE_URL, OPENAI_API_KEY


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
