"""An agent with one tool, which both versions of ADK run."""

import os

from google.adk.agents import LlmAgent
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm

MODELS = {"chat": lambda: LiteLlm(model="openai/gpt-4o-mini"), "gemini": lambda: Gemini(model="gemini-2.5-flash")}


def get_weather(city: str) -> dict:
    """The weather in a city.

    Args:
        city: Its name.
    """
    return {"city": city, "weather": "The sun shines."}


root_agent = LlmAgent(
    name="meteorologist",
    model=MODELS[os.environ["WIRE"]](),
    instruction="You tell the weather.",
    tools=[get_weather],
)
