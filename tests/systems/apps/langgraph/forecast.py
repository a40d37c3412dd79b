"""An agent whose tools run at once and take different times in each run, as those of deer-flow do."""

import asyncio
import os
import random

from langchain.agents import create_agent
from langchain.tools import tool

from graph import MODELS


@tool
async def get_weather(city: str) -> str:
    """Returns the weather in a city."""
    await asyncio.sleep(random.uniform(0, 0.05))
    return f"It is sunny in {city}."


graph = create_agent(MODELS[os.environ["WIRE"]](), [get_weather], system_prompt="You compare the weather.", name="forecast")
