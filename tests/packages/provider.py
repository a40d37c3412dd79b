"""A provider for the README's first section: answers each chat with what was asked, in pieces, for ever. Prints its base URL."""

import http.server
import json


class Provider(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        words = f"You said: {asked['messages'][-1]['content']}".split(" ")
        deltas = [{"role": "assistant", "content": ""}] + [{"content": f"{word} "} for word in words]
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        frames = [json.dumps(chunk | {"choices": [choice]}) for choice in choices] + ["[DONE]"]
        body = "".join(f"data: {frame}\n\n" for frame in frames).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
