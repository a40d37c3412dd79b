"""Services that are asked in the forms of other providers, each through its official SDK, or as its documentation says where it has none:
recorded from a stand-in, and replayed. The replay has to be the same, and a question that was never recorded has to raise an error that
mentions the miss.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anthropic
import httpx
import openai
from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials
from model import Model

THOUGHT = "Let me think."


def azure(root, key, question):
    client = openai.AzureOpenAI(azure_endpoint=root, api_key=key, api_version="2025-04-01-preview", max_retries=0)
    said = [{"role": "user", "content": question}]
    return [
        client.chat.completions.create(model="d", messages=said).choices[0].message.content,
        streamed(client.chat.completions.create(model="d", messages=[*said, *said], stream=True)),
        client.responses.create(model="d", input=question).output_text,
        client.completions.create(model="old", prompt=question).choices[0].text,
        client.embeddings.create(model="e", input=question).data[0].embedding,
    ]


def vertex(root, key, question):
    options = types.HttpOptions(base_url=root, base_url_resource_scope=types.ResourceScope.COLLECTION)
    place = {"project": "p", "location": "us-central1", "credentials": Credentials(token=key)}
    clients = [
        genai.Client(vertexai=True, http_options=options, **place),
        genai.Client(vertexai=True, http_options={"base_url": root}, api_key=key),
    ]
    return [ask(client.models, question + end) for client, end in zip(clients, ["", "!"]) for ask in (whole, pieces)]


def whole(models, question):
    return models.generate_content(model="gemini-2.5-flash", contents=question).text


def pieces(models, question):
    return "".join(piece.text for piece in models.generate_content_stream(model="gemini-2.5-flash", contents=question + "?"))


def raw_predict(root, key, question):
    place = {"region": "us-east5", "project_id": "p", "access_token": key}
    client = anthropic.AnthropicVertex(base_url=f"{root}/v1", max_retries=0, **place)
    said = [{"role": "user", "content": question}]
    request = {"model": "claude-sonnet-4@20250514", "messages": said}
    with client.messages.stream(max_tokens=9, system="Be brief.", **request) as stream:
        text = stream.get_final_text()
    counted = client.messages.count_tokens(**request).input_tokens
    return [text, counted, client.messages.create(max_tokens=9, **request).content[0].text]


def vllm(root, key, question):
    client = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0)
    said = [{"role": "user", "content": question}]
    guided = {"guided_json": {"type": "object"}, "top_k": 20, "chat_template_kwargs": {"enable_thinking": True}}
    message = client.chat.completions.create(model="think", messages=said, extra_body=guided).choices[0].message
    stream = client.chat.completions.create(model="think", messages=[*said, *said], stream=True, extra_body={"min_p": 0.1})
    completed = client.completions.create(model="m", prompt=question, stream=True, extra_body={"guided_regex": "a*"})
    headers, tokens = {"authorization": f"Bearer {key}"}, {"model": "m", "prompt": question}
    return [
        (message.content, message.reasoning_content),
        streamed(stream),
        "".join(piece.choices[0].text for piece in completed),
        httpx.post(f"{root}/tokenize", json=tokens, headers=headers).raise_for_status().json(),
    ]


def lm_studio(root, key, question):
    """Its own SDK speaks over a WebSocket; this is what the documentation of its REST API says."""
    said = {"model": "m", "messages": [{"role": "user", "content": question}], "max_tokens": -1}
    asked = {
        "/api/v0/chat/completions": said,
        "/api/v0/completions": {"model": "m", "prompt": question},
        "/api/v0/embeddings": {"model": "m", "input": question},
        "/api/v1/chat": {"model": "m", "input": question, "system_prompt": "Be brief."},
    }
    headers = {"authorization": f"Bearer {key}"}
    answers = [httpx.post(root + path, json=body, headers=headers) for path, body in asked.items()]
    if any(answer.is_error for answer in answers):
        raise ValueError(answers[0].text)
    return [answer.json() for answer in answers]


def background(root, key, question):
    client = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0)
    job = client.responses.create(model="m", input=question, background=True)
    seen = [job.status]
    while job.status in ("queued", "in_progress"):
        job = client.responses.retrieve(job.id)
        seen.append(job.status)
    after = client.responses.create(model="m", input="And then?", previous_response_id=job.id)
    stopped = client.responses.cancel(client.responses.create(model="m", input="Long.", background=True).id)
    return [sorted(set(seen)), job.output_text, after.output_text, stopped.status]


def conversation(root, key, question):
    client = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0)
    message = {"type": "message", "role": "user", "content": "Remember: blue."}
    known = client.conversations.create(items=[message])
    first = client.responses.create(model="m", input=question, conversation=known.id)
    client.conversations.items.create(known.id, items=[message | {"content": "And green."}])
    events = client.responses.create(model="m", input="Which?", conversation={"id": known.id}, stream=True)
    return [first.output_text, "".join(e.delta for e in events if e.type == "response.output_text.delta")]


# For each: the APIs of its turns, in recorded order.
SERVICES = {
    azure: "openai-chat openai-chat openai-responses openai-completions opaque",
    vertex: "gemini gemini gemini gemini",
    raw_predict: "vertex-raw-predict opaque vertex-raw-predict",
    vllm: "openai-chat openai-chat openai-completions opaque",
    lm_studio: "openai-chat openai-completions opaque opaque",
    background: "openai-responses opaque opaque openai-responses openai-responses opaque",
    conversation: "opaque openai-responses opaque openai-responses",
}


def streamed(chunks):
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    thought = [getattr(delta, "reasoning_content", None) or "" for delta in deltas]
    return "".join(delta.content or "" for delta in deltas), "".join(thought)


class StandIn(BaseHTTPRequestHandler):
    """Answers as the services' documentation says, with an id of its own for each answer."""

    protocol_version = "HTTP/1.1"
    ids, jobs = itertools.count(), {}

    def answer(self):
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        body = json.loads(body) if body else {}
        path = self.path.split("?")[0]
        answers = [answer for end, answer in ANSWERS.items() if re.search(end, path)]
        value = answers[0](body, path)
        is_stream = isinstance(value, list)
        named = ((f"event: {event['type']}\n" if "type" in event else "", json.dumps(event)) for event in value)
        frames = (f"{name}data: {data}\n\n" for name, data in named)
        sent = ("".join(frames) if is_stream else json.dumps(value)).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def chat(body, _):
    thought = {"reasoning_content": THOUGHT} if body["model"] == "think" else {}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    if body.get("stream"):
        deltas = [{"role": "assistant"}, thought, {"content": "Hello "}, {"content": "there."}]
        choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
        choices.append([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        return [{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": c} for c in choices]
    message = {"role": "assistant", "content": "Hello there."} | thought
    choice = {"index": 0, "message": message, "finish_reason": "stop", "stop_reason": None}
    stats = {"stats": {"tokens_per_second": 51.4}, "model_info": {"arch": "granite"}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage} | stats


def completion(body, _):
    of = {"id": "c", "object": "text_completion", "created": 1, "model": "m"}
    choices = [[{"index": 0, "text": text, "finish_reason": None}] for text in ("to find ", "out")]
    return [of | {"choices": c} for c in choices] if body.get("stream") else of | {"choices": choices[0]}


def response(body, _):
    id = f"resp_{next(StandIn.ids)}"
    text = {"type": "output_text", "text": f"The answer {id}.", "annotations": []}
    message = {"id": f"msg_{id}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    done = {"id": id, "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [message]}
    done |= {"usage": usage, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    if body.get("background"):
        waits = {"status": "in_progress", "output": [], "usage": None}
        StandIn.jobs[id] = [done, done | waits, done | waits]
        return done | waits | {"status": "queued", "background": True}
    if body.get("stream"):
        at = {"item_id": message["id"], "output_index": 0, "content_index": 0}
        delta = at | {"type": "response.output_text.delta", "delta": text["text"], "logprobs": []}
        return [delta, {"type": "response.completed", "response": done}]
    return done


def predicted(body, path):
    start = {"id": "msg", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None}
    text, usage = {"type": "text", "text": "Hello there."}, {"input_tokens": 9, "output_tokens": 4}
    if "count-tokens" in path:
        return {"input_tokens": 9}
    if "stream" not in path:
        return start | {"content": [text], "stop_reason": "end_turn", "usage": usage}
    events = [
        {"type": "message_start", "message": start | {"usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": text | {"text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text["text"]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    return events


def generated(_, path):
    part = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]}
    part["usageMetadata"] = {"promptTokenCount": 4, "candidatesTokenCount": 2, "trafficType": "ON_DEMAND"}
    return [part] if "stream" in path else part


ANSWERS = {
    "/chat/completions$": chat,
    "/completions$": completion,
    "/cancel$": lambda _, path: StandIn.jobs[path.split("/")[-2]][1] | {"status": "cancelled"},
    "/responses$": response,
    "/responses/": lambda _, path: StandIn.jobs[path.split("/")[-1]].pop(),
    "/conversations$": lambda *_: {"id": f"conv_{next(StandIn.ids)}", "object": "conversation", "created_at": 1},
    "/items$": lambda *_: {"object": "list", "data": [], "has_more": False, "first_id": "", "last_id": ""},
    "awPredict$": predicted,
    "enerateContent$": generated,
    "/embeddings$": lambda *_: {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}]},
    "/tokenize$": lambda *_: {"count": 2, "tokens": [1, 2]},
    "/api/v1/chat$": lambda *_: {"output": [{"type": "message", "content": "Hi."}], "stats": {"input_tokens": 3}},
}


def recorded(ask, upstream, fixture):
    """Asks through the recorder. Returns what came."""
    command = [os.environ["RETAKE"], "proxy", "--upstream", upstream, "--out", str(fixture)]
    proxy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    model = json.loads(proxy.stdout.readline())
    try:
        return ask(model["url"], model["key"], "Who is it?")
    finally:
        proxy.send_signal(signal.SIGTERM)
        proxy.communicate()


def replayed(ask, fixture, question):
    """Asks a replay. Returns what came, or the error, and what was missed."""
    model = Model(fixture)
    try:
        came = ask(model.url, model.key, question)
    except Exception as error:
        came = str(error)
    return came, [miss["explanation"] for miss in model.end()["missed"]]


def socket(root, key, question):
    client = openai.OpenAI(base_url=f"{root}/v1", api_key=key)
    with client.responses.connect() as connection:
        connection.response.create(model="m", input=question)
        return list(connection)


def failures(upstream, folder):
    for ask, apis in SERVICES.items():
        fixture = Path(folder) / f"{ask.__name__}.json"
        came = recorded(ask, upstream, fixture)
        turns = [turn["wire"]["api"] for turn in json.loads(fixture.read_text())["turns"]]
        if turns != apis.split():
            yield f"{ask.__name__}: recorded {turns}, expected {apis}"
        again, missed = replayed(ask, fixture, "Who is it?")
        if again != came or missed:
            yield f"{ask.__name__}: replayed {again}, recorded {came}; missed {missed}"
        other, missed = replayed(ask, fixture, "Who was it?")
        if "replay miss" not in other or not any('"is" → "was"' in miss for miss in missed):
            yield f"{ask.__name__}: another question got {other}; missed {missed}"
    came, missed = replayed(socket, Path(folder) / "azure.json", "Who is it?")
    if len(missed) != 1 or "over which neither Responses nor realtime is spoken" not in missed[0]:
        yield f"socket: got {came}; missed {missed}"


def main():
    warnings.simplefilter("ignore")
    service = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        failed = list(failures(f"http://127.0.0.1:{service.server_port}", folder))
    print("\n".join([*failed, f"services: {len(SERVICES) + 1 - len(failed)} passed, {len(failed)} failed"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
