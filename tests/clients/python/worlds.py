"""Runs each official SDK over each way in which a model's answer can fail on its way, and compares with what the SDK's source says: how
many calls arrive, and whether the program learns of the failure, or sees a stream that simply ends.

This is an oracle for `retake serve --world`: where an SDK does something else than its source says, the fault is not what it claims.
"""

import json
import sys
from pathlib import Path

import anthropic
import httpx
import ollama
import openai
from google import genai
from google.genai import types
from model import Model

try:
    import httpx2

    CLIENTS = [httpx, httpx2]
except ImportError:
    CLIENTS = [httpx]

HERE = Path(__file__).resolve().parent
TABLE = json.loads((HERE.parent / "cases.json").read_text())
# The second turn of each fixture. Its answer is long enough to be cut.
QUESTION, TURN = TABLE["conversations"]["story"][0]["user"], "turn2"
FUNCTIONS = [{"type": "function", "function": tool | {"strict": True}} for tool in TABLE["tools"]]


def chat(model):
    messages = [{"role": "system", "content": TABLE["system"]}, {"role": "user", "content": QUESTION}]
    client = openai.OpenAI(base_url=model.openai, api_key=model.key)
    request = {"model": "gpt-4o-mini", "messages": messages, "tools": FUNCTIONS, "stream": True}
    return list(client.chat.completions.create(**request, stream_options={"include_usage": True}))


def responses(model):
    client = openai.OpenAI(base_url=model.openai, api_key=model.key)
    tools = [{"type": "function", "strict": False} | tool for tool in TABLE["tools"]]
    request = {"model": "gpt-5-mini", "instructions": TABLE["system"], "input": QUESTION, "tools": tools}
    return list(client.responses.create(**request, stream=True))


def messages(model):
    client = anthropic.Anthropic(base_url=model.anthropic, api_key=model.key)
    tools = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in TABLE["tools"]]
    said = [{"role": "user", "content": QUESTION}]
    request = {"model": "claude-sonnet-4-6", "max_tokens": 1024, "system": TABLE["system"], "messages": said, "tools": tools}
    return list(client.messages.create(**request, stream=True))


def generate_content(model):
    client = genai.Client(api_key=model.key, http_options=types.HttpOptions(base_url=model.gemini))
    functions = [
        types.FunctionDeclaration(name=t["name"], description=t["description"], parameters_json_schema=t["parameters"])
        for t in TABLE["tools"]
    ]
    config = types.GenerateContentConfig(
        system_instruction=TABLE["system"], tools=[types.Tool(function_declarations=functions)]
    )
    request = {"model": "gemini-3-flash-preview", "contents": QUESTION, "config": config}
    return list(client.models.generate_content_stream(**request))


def ollama_chat(model):
    client = ollama.Client(host=model.ollama, headers={"authorization": f"Bearer {model.key}"})
    said = [{"role": "system", "content": TABLE["system"]}, {"role": "user", "content": QUESTION}]
    tools = [{"type": "function", "function": tool} for tool in TABLE["tools"]]
    return list(client.chat(model="qwen3:8b", messages=said, tools=tools, stream=True))


# Both SDKs of this generator make three attempts (`max_retries` 2) for 429 and 5xx and for connections that break before the head, and
# none after it.
RETRIES = {"rate-limit": (2, "answer"), "overloaded": (2, "answer"), "error-500": (2, "answer"), "reset": (2, "answer")}
# One attempt, whatever happens.
ONCE = {name: (1, "error") for name in RETRIES}
BREAKS = {"cut-dirty": (1, "error"), "cut-clean": (1, "silent"), "garbage": (1, "error")}

SDKS = {
    "openai, chat": (
        chat,
        "chat-stream",
        RETRIES | BREAKS | {"empty": (1, "silent"), "error-event": (1, "error"), "exhausted": (3, "error")},
    ),
    # A `data` without a truthy `error` is no error: the program gets an event of the type `error`.
    "openai, responses": (
        responses,
        "responses-stream",
        RETRIES | BREAKS | {"empty": (1, "silent"), "error-event": (1, "silent"), "exhausted": (3, "error")},
    ),
    "anthropic": (
        messages,
        "anthropic-stream",
        RETRIES | BREAKS | {"empty": (1, "silent"), "error-event": (1, "error"), "exhausted": (3, "error")},
    ),
    "google-genai": (
        generate_content,
        "gemini-stream",
        ONCE | BREAKS | {"empty": (1, "silent"), "error-event": (1, "error"), "exhausted": (1, "error")},
    ),
    "ollama": (
        ollama_chat,
        "ollama-stream",
        ONCE | BREAKS | {"empty": (1, "silent"), "error-event": (1, "error"), "exhausted": (1, "error")},
    ),
}


class Counted:
    """Counts the requests that leave, whichever client sends them."""

    def __init__(self):
        self.count = 0
        for of in CLIENTS:
            of.HTTPTransport.handle_request = self.counting(of.HTTPTransport.handle_request)

    def counting(self, send):
        def counted(transport, request):
            self.count += 1
            return send(transport, request)

        return counted


def main():
    counted, failed, passed = Counted(), 0, 0
    for name, (ask, fixture, expected) in SDKS.items():
        path = HERE.parent / "fixtures" / f"{fixture}.json"
        whole = Model(path)
        pieces = len(ask(whole))
        whole.end()
        for fault, (calls, end) in expected.items():
            model = Model(path, "--world", f"{TURN}/{fault}")
            counted.count, got = 0, None
            try:
                came = len(ask(model))
                # What an SDK returns in spite of a fault is the whole answer, or a part of it that looks whole.
                got = "answer" if came == pieces and calls > 1 else "silent"
            except Exception:
                got = "error"
            found = (counted.count, got)
            model.end()
            if found == (calls, end):
                passed += 1
            else:
                failed += 1
                print(f"{name} | {fault}: expected {(calls, end)}, found {found}")
    print(f"worlds: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
