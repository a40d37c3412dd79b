"""What adapters take and give, in no SDK's words."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """A tool call that a model asks for."""

    id: str
    name: str
    args: Any


@dataclass
class Answer:
    """What an SDK made of an answer."""

    text: str
    calls: list[Call]
    finish: str
    """`stop`, `tool_calls` or `length`; an SDK's own word where it is another, which no fixture has."""
    usage: dict
    native: Any = None
    """What a program keeps of the answer, to send it back."""


@dataclass
class Question:
    """A conversation up to now, and how the answer is to come."""

    system: str
    tools: list[dict]
    stream: bool
    steps: list[tuple[str, Any]] = field(default_factory=list)
    """`("user", text)`, `("answer", Answer)` or `("results", [(Call, text), …])`."""

    def messages(self, user, answer, results):
        """The steps in an SDK's words: `user` and `answer` give a message each, `results` a list of them."""
        messages = []
        for kind, step in self.steps:
            if kind == "results":
                messages += results(step)
            else:
                messages.append(user(step) if kind == "user" else answer(step))
        return messages


def counted(read, written):
    return {"input": read, "output": written}


def parsed(arguments):
    """Arguments that an SDK hands over as JSON text."""
    return json.loads(arguments)
