"""An agent (the guide) that hands over to a second agent (the meteorologist), which has a tool."""

import os

from google.adk.agents import LlmAgent
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm

MODELS = {  # the SDKs read their addresses and keys from the environment
    "chat": lambda: LiteLlm(model="openai/gpt-4o-mini"),
    "anthropic": lambda: AnthropicLlm(model="claude-haiku-4-5"),
    "gemini": lambda: Gemini(model="gemini-2.5-flash"),
}
model = MODELS[os.environ["WIRE"]]()


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
