"""An agent whose tool waits for a person, who may refuse."""

import os

from langchain.agents import create_agent
from langchain.tools import tool
from langgraph.types import interrupt

from graph import MODELS


@tool
def refund(order: str) -> str:
    """Pays an order back."""
    decision = interrupt({"refund": order})
    return f"Order {order} was paid back." if decision["approved"] else f"The person refused: {decision['reason']}."


graph = create_agent(MODELS[os.environ["WIRE"]](), [refund], system_prompt="You handle refunds.", name="refunds")
