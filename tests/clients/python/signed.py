#!/usr/bin/env python3
"""Takes the place of `retake serve` for the runners: between them and the server are a service that checks the signature of each
call, as AWS does, and `retake proxy`, which records the calls.

`RETAKE` names this program then, and `RECORDER` the real one, which gets all commands other than `serve`. At the end, the recording
has to have as many turns as calls were answered.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

if sys.argv[1] != "serve":
    os.execv(os.environ["RECORDER"], [os.environ["RECORDER"], *sys.argv[1:]])
VENV = Path(__file__).resolve().parent / ".venv"
if Path(sys.prefix) != VENV:
    os.execv(VENV / "bin/python", [VENV / "bin/python", *sys.argv])

from botocore import auth, awsrequest, credentials

REGION, NAME, SECRET, TOKEN = "eu-central-1", "AKIDEXAMPLE", "of+the/service", "of a session"


def signature(method, url, headers, body):
    """The signature that AWS's own library gives a request with these signed headers, at the time that it names."""
    request = awsrequest.AWSRequest(method, url, headers, body)
    request.context["timestamp"] = headers["x-amz-date"]
    signer = auth.SigV4Auth(credentials.Credentials(NAME, SECRET), "bedrock", REGION)
    return signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)


class Service(BaseHTTPRequestHandler):
    """Answers a call as the server does, if its signature is right."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        given = dict(part.strip().split("=", 1) for part in self.headers["authorization"].partition(" ")[2].split(","))
        signed = {name: self.headers[name] for name in given["SignedHeaders"].split(";")}
        expected = signature("POST", f"http://{self.headers['host']}{self.path}", signed, body)
        scope = f"{NAME}/{signed['x-amz-date'][:8]}/{REGION}/bedrock/aws4_request"
        right = (given["Signature"], given["Credential"]) == (expected, scope)
        if not right or {"host", "x-amz-date"} - set(signed) or signed["x-amz-security-token"] != TOKEN:
            return self.answer(403, {"x-amzn-errortype": "InvalidSignatureException"}, b'{"message":"the signature"}')
        headers = {"authorization": f"Bearer {self.server.model['key']}", "content-type": "application/json"}
        request = urllib.request.Request(self.server.model["url"] + self.path, body, headers)
        try:
            with urllib.request.urlopen(request) as answer:
                self.server.answered.append(self.path)
                self.answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, dict(error.headers), error.read())

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def started(*command, **environment):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    return process, json.loads(process.stdout.readline() or sys.exit(f"{command[1]} did not start"))


def main(retake, arguments):
    # A pipe, since a signal that comes while a lock of the main thread is taken would wait for it.
    end, told_to_end = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(told_to_end, b"."))
    server, model = started(retake, *arguments)
    service = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    service.model, service.answered = model, []
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "recorded.json"
        variables = {
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": NAME,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": TOKEN,
            "RETAKE_UPSTREAM_BEDROCK": f"http://127.0.0.1:{service.server_port}",
        }
        proxy, urls = started(retake, "proxy", "--root", folder, "--out", str(out), **variables)
        # Its own paths are the server's.
        print(json.dumps(urls | {"url": model["url"]}), flush=True)
        os.read(end, 1)
        for process in (proxy, server):
            process.terminate()
            process.communicate()
        turns = len(json.loads(out.read_text())["turns"]) if out.exists() else 0
        if turns != len(service.answered):
            print(f"{turns} turns were recorded of {len(service.answered)} calls", file=sys.stderr)
            sys.exit(2)


main(os.environ["RECORDER"], sys.argv[1:])
