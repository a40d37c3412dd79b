"""Sends each request of recordings of real traffic through the official SDKs, with the answer cut in other places each time, and compares
what the SDK returns with what it returns for the answer as it was recorded.

`RETAKE_CASSETTES` names the folder with the recordings (VCR and go-vcr). Ollama's conversations are those of `../fixtures`, since the
recordings have none.
"""

import functools
import json
import os
import ssl
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import anthropic
import ollama
import openai
import yaml
from google import genai
from google.genai import types
from model import Model

# Each SDK client reads all certificates again, although none is used here.
ssl.create_default_context = functools.cache(ssl.create_default_context)

HERE = Path(__file__).resolve().parent
CUTS = 20
# Each response can be cut in these ways, so that the server meets the fault and does not take the turn.
SEEDED = [f"framing-seeded/{n}" for n in range(1, CUTS + 1)] + ["framing-bytes"]
# Not every response has these forms.
OTHERS = ["framing-inside", "framing-whole", "framing-crlf", "framing-between"]


def chat(model, path, body, headers):
    client = openai.OpenAI(base_url=model.openai, api_key=model.key, max_retries=0)
    own = {key: body[key] for key in ("model", "messages")}
    return client.chat.completions.create(**own, **rest(body, own), extra_headers=headers)


def responses(model, path, body, headers):
    client = openai.OpenAI(base_url=model.openai, api_key=model.key, max_retries=0)
    own = {key: body[key] for key in ("model", "input")}
    return client.responses.create(**own, **rest(body, own), extra_headers=headers)


def messages(model, path, body, headers):
    client = anthropic.Anthropic(base_url=model.anthropic, api_key=model.key, max_retries=0, timeout=60)
    own = {key: body[key] for key in ("model", "messages", "max_tokens")}
    return client.messages.create(**own, **rest(body, own), extra_headers=headers)


def generate_content(model, path, body, headers):
    version, name = path.strip("/").split("/models/")
    name, method = name.split(":")
    more = {key: value for key, value in body.items() if key != "contents"}
    options = types.HttpOptions(base_url=model.gemini, api_version=version, headers=headers, extra_body=more)
    client = genai.Client(api_key=model.key, http_options=options)
    if method.startswith("stream"):
        return list(client.models.generate_content_stream(model=name, contents=body["contents"]))
    return client.models.generate_content(model=name, contents=body["contents"])


def ollama_chat(model, path, body, headers):
    client = ollama.Client(host=model.ollama, headers={"authorization": f"Bearer {model.key}"} | headers)
    return client.chat(**body)


def rest(body, own):
    more = {key: value for key, value in body.items() if key not in own and key != "stream"}
    return {"stream": body.get("stream", False), "extra_body": more}


PATHS = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": messages,
    "GenerateContent": generate_content,
    "generateContent": generate_content,
}


def requests(cassette):
    """The requests of a recording: SDK, path and body."""
    for interaction in yaml.load(cassette.read_text(), Loader=yaml.CSafeLoader)["interactions"]:
        request = interaction["request"]
        path = "/" + (request.get("uri") or request["url"]).split("://", 1)[1].split("/", 1)[1].split("?")[0]
        body = request.get("parsed_body") or json.loads(request.get("body") or "null")
        for end, ask in PATHS.items():
            if path.endswith(end) and isinstance(body, dict):
                yield ask, path, body


def returned(ask, model, path, body, world=None):
    """What an SDK returns, as plain data; an error as its text."""
    answer = ask(model, path, body, {"x-retake-world": world} if world else {})
    pieces = [answer] if hasattr(answer, "model_dump") else list(answer)
    return [piece.model_dump(mode="json", exclude={"sdk_http_response"}) for piece in pieces]


def compare(name, fixture, asked, told):
    """Asks each request with its answer as it is, and then cut in each way. Returns how many answers were equal."""
    servers = {None: Model(fixture), "": Model(fixture, "--worlds")}
    servers |= {fault: Model(fixture, "--world", fault) for fault in OTHERS}
    equal = 0
    # The same request again would get the next turn, so each is asked once.
    for ask, path, body in {json.dumps(it[1:]): it for it in asked}.values():
        try:
            expected = returned(ask, servers[None], path, body)
        except Exception as error:
            told.append(f"{name}: not compared, the SDK gets an error: {' '.join(str(error).split())[:90]}")
            continue
        for fault in SEEDED + OTHERS:
            try:
                found = returned(ask, servers.get(fault) or servers[""], path, body, fault)
            except Exception as error:
                found = repr(error)
            if found == expected:
                equal += 1
            else:
                told.append(f"{name} | {fault}: DIFFERS: {str(found)[:200]}")
    for server in servers.values():
        server.end()
    return equal


def recordings(folder):
    """The fixture of each recording with its requests."""
    for file in sorted(Path(os.environ.get("RETAKE_CASSETTES", folder)).glob("*.yaml")):
        asked = list(requests(file))
        kind = "go-vcr" if file.name.endswith(".govcr.yaml") else "vcr"
        fixture = Path(folder) / f"{file.name}.json"
        command = [os.environ["RETAKE"], "import", kind, str(file), "--out", str(fixture)]
        if asked and subprocess.run(command, capture_output=True).returncode == 0:
            yield file.name, fixture, asked
    table = json.loads((HERE.parent / "cases.json").read_text())
    tools = [{"type": "function", "function": tool} for tool in table["tools"]]
    asked = []
    for steps in table["conversations"].values():
        said = [{"role": "system", "content": table["system"]}, {"role": "user", "content": steps[0]["user"]}]
        if len(steps) > 1:
            asked.append((ollama_chat, "", {"model": "qwen3:8b", "messages": said, "tools": tools, "stream": True}))
    yield "ollama-stream", HERE.parent / "fixtures/ollama-stream.json", asked


def main():
    warnings.simplefilter("ignore")
    equal, told, count = 0, [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, fixture, asked in recordings(folder):
            equal += compare(name, fixture, asked, told)
            for ask, _, _ in asked:
                count[ask.__name__] = count.get(ask.__name__, 0) + 1
    differ = [line for line in told if "DIFFERS" in line]
    print("\n".join(told + [f"requests: {count}", f"framing: {equal} answers equal, {len(differ)} differ"]))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
