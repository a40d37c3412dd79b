"""Copies fixtures and changes one word of one recorded tool result in each: `altered.py RETAKE FROM TO`.

Where a fixture has keys (`retake/1`), they are computed again. The recorded conversation is then a different one, so the running system's
call must miss. For each fixture the script prints its name and the word that it replaced.
"""

import json
import pathlib
import re
import subprocess
import sys

ALTERED = "altered"
retake, source, target = sys.argv[1:]


def conversation(turns: list, index: int) -> list:
    """Returns the canonical messages of a turn: those of the turn that it continues, and those that it adds."""
    recorded = turns[index]["input"]
    if "after" not in recorded:
        return recorded["messages"]
    before = conversation(turns, recorded["after"]) + [answer(turns[recorded["after"]]["output"])]
    return before[: recorded.get("keep")] + recorded["messages"]


def answer(output: dict) -> dict:
    """Returns an answer as the message that the system sends back in its next call."""
    text = "".join(block["text"] for block in output["blocks"] if block["type"] == "text")
    calls = [block for block in output["blocks"] if block["type"] == "tool_call"]
    return {"type": "ai", "content": text, "tool_calls": calls}


def keys(turns: list) -> list:
    """Returns the key of each turn, which `retake key` computes."""
    lines = []
    for index, turn in enumerate(turns):
        messages = [{"type": message["type"], "data": message} for message in conversation(turns, index)]
        lines.append(json.dumps({"caller": turn.get("caller"), "messages": messages}))
    done = subprocess.run([retake, "key"], input="\n".join(lines), text=True, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


for path in sorted(pathlib.Path(source).glob("*.json")):
    fixture = json.loads(path.read_text())
    turns = fixture["turns"]
    has_keys = fixture["format"] == "retake/1"
    if has_keys:
        found = [key["conversation_hash"] for key in keys(turns)]
        assert found == [turn["conversation_hash"] for turn in turns], f"{path}: the keys do not fit the messages"
    result = next(m for turn in reversed(turns) for m in reversed(turn["input"]["messages"]) if m["type"] == "tool")
    word = re.findall(r"[A-Za-z]{4,}", result["content"])[-1]
    result["content"] = re.sub(rf"\b{word}\b(?!.*\b{word}\b)", ALTERED, result["content"], flags=re.DOTALL)
    for turn, key in zip(turns, keys(turns) if has_keys else [], strict=has_keys):
        turn.update(key)
    pathlib.Path(target, path.name).write_text(json.dumps(fixture, indent=2, ensure_ascii=False) + "\n")
    print(path.stem, word)
