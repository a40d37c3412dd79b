"""An agent that asks a person before it uses its tool, in the middle of the stream of its run. Python's own library is enough."""

import json, os, queue, threading, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

pending = {}


def ask(messages):
    call = {"model": "small", "messages": messages, "tools": [{"type": "function", "function": {"name": "refund"}}]}
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(call).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.startswith("/approvals/"):
            return self.run(body["message"])
        self.send_response(200)
        self.end_headers()
        pending[self.path.rsplit("/", 1)[1]].put(body["approved"])

    def run(self, message):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        messages = [{"role": "user", "content": message}]
        self.tell("state", {"status": "running"})
        while "tool_calls" in (answer := ask(messages)):
            messages.append(answer)
            for call in answer["tool_calls"]:
                approval = str(uuid.uuid4())
                pending[approval] = queue.Queue()
                self.tell("tool_pending", {"approval": approval, "tool": call["function"]["name"]})
                approved = pending[approval].get()
                result = "done" if approved else "the person refused"
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        self.tell("answer", {"text": answer["content"]})
        self.tell("state", {"status": "finished"})

    def tell(self, event, data):
        self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
