"""Writes the deer-flow fixtures in this folder, using only the rules of the key: `python3 make_deerflow.py`.

With `--check ../../vectors/key-v1.jsonl`, computes the key of each reference case instead, and compares it.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent

RULES = [
    (r"<system-reminder>.*?</system-reminder>", "", re.DOTALL),
    (r"^(User|Assistant):\s*$\n?", "", re.MULTILINE),
    (r"--- BEGIN USER INPUT ---\n?", "", 0),
    (r"\n?--- END USER INPUT ---", "", 0),
    (r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "<UUID>", 0),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?", "<TS>", 0),
    (r"\d{4}-\d{2}-\d{2}", "<DATE>", 0),
    (r"(?:/private)?/(?:var/folders|tmp)/[^\s\"']*", "<PATH>", 0),
]


def normalize(text):
    for pattern, replacement, flags in RULES:
        text = re.sub(pattern, replacement, text, flags=flags)
    return text


def content_text(content):
    if not isinstance(content, list):
        return str(content)
    parts = []
    for block in content:
        if isinstance(block, dict):
            text = block.get("text")
            whole = isinstance(text, str) and text
            parts.append(text if whole else json.dumps(block, sort_keys=True, ensure_ascii=False))
        else:
            parts.append(str(block))
    return "".join(parts)


def canonical(messages):
    entries = []
    for message in messages:
        data = message["data"]
        if message["type"] == "system" or (data.get("additional_kwargs") or {}).get("hide_from_ui"):
            continue
        content = normalize(content_text(data.get("content")))
        calls = data.get("tool_calls") or []
        if not content.strip() and not calls:
            continue
        entry = {"type": message["type"], "content": content}
        if calls:
            entry["tool_calls"] = [{"name": call["name"], "args": call["args"]} for call in calls]
        if data.get("name"):
            entry["name"] = data["name"]
        entries.append(entry)
    return normalize(json.dumps(entries, sort_keys=True, ensure_ascii=False))


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def key(caller, messages):
    caller = normalize((caller or "").strip()) or "lead_agent"
    caller = {"title_agent": "middleware:title"}.get(caller, caller)
    conversation_hash = sha256(canonical(messages))
    payload = {"caller": caller, "conversation_hash": conversation_hash}
    input_hash = sha256(json.dumps(payload, sort_keys=True, ensure_ascii=False))
    return {"conversation_hash": conversation_hash, "input_hash": input_hash}


def human(text):
    return {"type": "human", "data": {"content": text}}


def tool(name, text):
    return {"type": "tool", "data": {"content": text, "name": name}}


def ai(text="", *calls):
    calls = [{"name": name, "args": args, "id": f"call_{name}", "type": "tool_call"} for name, args in calls]
    metadata = {"finish_reason": "tool_calls" if calls else "stop", "model_name": "gpt-4o-mini"}
    usage = {"input_tokens": 60, "output_tokens": 20, "total_tokens": 80}
    data = {
        "content": text,
        "additional_kwargs": {},
        "response_metadata": metadata,
        "type": "ai",
        "name": None,
        "id": None,
        "tool_calls": calls,
        "invalid_tool_calls": [],
        "usage_metadata": usage,
    }
    return {"type": "ai", "data": data}


def turn(caller, messages, output):
    return {"caller": caller, **key(caller, messages), "output": output}


def write_read_file(read_back):
    """Returns the turns of scenarios/write_read_file, with `read_back` as the result of the tool read_file."""
    prompt = 'Create note.txt with the text "hi from replay.", then read it back'
    write = ai("", ("write_file", {"content": "hi from replay.", "path": "note.txt"}))
    read = ai("", ("read_file", {"path": "note.txt"}))
    said = 'I wrote note.txt and read it back. It says: "hi from replay."'
    so_far = [human(prompt)]
    turns = [turn("lead_agent", so_far, write)]
    so_far = [*so_far, write, tool("write_file", "Wrote 15 bytes to note.txt")]
    turns.append(turn("lead_agent", so_far, read))
    so_far = [*so_far, read, tool("read_file", read_back)]
    turns.append(turn("lead_agent", so_far, ai(said)))
    title = (
        "Generate a concise title of at most six words for this conversation. Answer with the title only.\n\n"
        f"User: {prompt}\nAssistant: {said}"
    )
    turns.append(turn("middleware:title", [human(title)], ai("Writing and reading a note")))
    return {"prompt": prompt, "turns": turns}


def two_callers():
    """Returns the turns of scenarios/two_callers: two callers with the same conversation."""
    prompt = "Should we ship on Friday?"
    answers = {
        "subagent:optimist": f"Yes: much speaks for it, and now is a good time. You asked: {prompt}",
        "subagent:critic": f"I doubt it: the cost is certain, the gain is not. You asked: {prompt}",
    }
    return {"prompt": prompt, "turns": [turn(caller, [human(prompt)], ai(said)) for caller, said in answers.items()]}


def write(name, scenario, fixture):
    fixture = {"scenario": scenario, "mode": "ultra", "model": "gpt-4o-mini", "context": {}, **fixture}
    text = json.dumps(fixture, indent=2, ensure_ascii=False) + "\n"
    (HERE / f"deerflow_{name}.json").write_text(text, encoding="utf-8")


def check(vectors):
    cases = [json.loads(line) for line in Path(vectors).read_text(encoding="utf-8").split("\n") if line]
    for number, case in enumerate(cases):
        made = key(case.get("caller"), case["messages"])
        assert all(case[name] == made[name] for name in made), f"case {number}: {made}"
    print(f"{len(cases)} cases agree")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2])
    else:
        write("write_read_file", "write_read_file", write_read_file("hi from replay."))
        write("one_word", "write_read_file", write_read_file("hi from rehearsal."))
        write("two_callers", "two_callers", two_callers())
