"""A guide who hands over to a meteorologist, who has a tool."""

import os

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm

model = LiteLlm(
    model="openai/gpt-4o-mini",
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
)


def get_weather(city: str) -> dict:
    """The weather in a city.

    Args:
        city: Its name.
    """
    return {"city": city, "weather": "The sun shines."}


meteorologist = LlmAgent(
    name="meteorologist",
    model=model,
    description="Knows the weather.",
    instruction="You tell the weather.",
    tools=[get_weather],
)
root_agent = LlmAgent(
    name="guide",
    model=model,
    instruction="You plan trips. The meteorologist knows the weather.",
    sub_agents=[meteorologist],
)
