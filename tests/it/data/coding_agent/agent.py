"""A coding agent: it says its folder, its machine and its user to the model, and writes the files that the model names."""

import getpass
import http.client
import http.server
import json
import os
import socket
import sys
import tempfile
import urllib.parse
import urllib.request


def ask(messages):
    body = {"model": "small", "stream": True, "messages": messages, "tools": [{"type": "function", "function": {
        "name": "write_file", "parameters": {"type": "object"}}}]}
    base = urllib.parse.urlparse(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(base.netloc)
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    connection.request("POST", base.path + "/chat/completions", json.dumps(body), headers)
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(answer.read().decode())
    text, calls = "", {}
    for line in answer.read().decode().splitlines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        delta = json.loads(line[6:])["choices"][0]["delta"]
        if delta.get("content"):
            text += delta["content"]
            yield delta["content"]
        for piece in delta.get("tool_calls") or []:
            call = calls.setdefault(piece["index"], {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
            call["id"] += piece.get("id") or ""
            call["function"]["name"] += piece["function"].get("name") or ""
            call["function"]["arguments"] += piece["function"].get("arguments") or ""
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    yield message


def write_file(arguments):
    path = arguments["path"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(arguments["content"])
    return "wrote %s" % path


class Agent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def send(self, name, data):
        self.wfile.write(("event: %s\ndata: %s\n\n" % (name, json.dumps(data))).encode())
        self.wfile.flush()

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["message"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        scratch = os.path.join(tempfile.gettempdir(), "scratch-%d" % os.getpid())
        cwd = os.getcwd()
        messages = [
            {"role": "system", "content": "You are a coding agent.\nWorking directory: %s\nHome: %s\nScratch: %s" % (
                cwd, os.path.expanduser("~"), scratch)},
            {"role": "user", "content": "%s\n<env>\n  cwd: %s\n  url: file://%s/src\n  scratch: %s\n</env>" % (
                message, cwd, urllib.parse.quote(cwd), scratch)},
        ]
        self.send("start", {"cwd": cwd, "host": socket.gethostname(), "user": getpass.getuser()})
        while True:
            for piece in ask(messages):
                if isinstance(piece, str):
                    self.send("text", {"text": piece})
            messages.append(piece)
            if not piece.get("tool_calls"):
                break
            for call in piece["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                result = write_file(arguments)
                self.send("wrote", {"path": arguments["path"]})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        self.send("end", {})


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Agent).serve_forever()
