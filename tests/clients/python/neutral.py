"""What adapters take and return, in a form that does not depend on any SDK."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """A tool call of an answer."""

    id: str
    name: str
    args: Any


@dataclass
class Answer:
    """An answer, as the SDK returned it."""

    text: str
    calls: list[Call]
    finish: str
    """`stop`, `tool_calls` or `length`; any other reason keeps the SDK's own word, but no fixture has one."""
    usage: dict
    native: Any = None
    """What a program keeps of the answer to send it back in the next request."""


@dataclass
class Question:
    """A conversation so far, and whether to stream the answer."""

    system: str
    tools: list[dict]
    stream: bool
    steps: list[tuple[str, Any]] = field(default_factory=list)
    """`("user", text)`, `("answer", Answer)` or `("results", [(Call, text), …])`."""

    def messages(self, user, answer, results):
        """Returns the steps as messages of an SDK. `user` and `answer` return one message, `results` returns a list of them."""
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
    """Parses arguments that an SDK returns as JSON text."""
    return json.loads(arguments)
