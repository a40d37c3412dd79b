"""Starts `retake serve`."""

import json
import os
import subprocess
import tempfile
import urllib.request
from pathlib import Path


class Model:
    """A replay model: its base URLs `openai`, `anthropic`, `gemini` and `ollama`, and its `key`."""

    def __init__(self, *fixtures_and_options):
        self.folder = tempfile.TemporaryDirectory()
        self.report = Path(self.folder.name) / "report.json"
        command = [os.environ["RETAKE"], "serve", *map(str, fixtures_and_options), "--report", str(self.report)]
        self.errors = Path(self.folder.name) / "errors"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.__dict__.update(json.loads(self.process.stdout.readline()))

    def serve(self, fixture):
        """Forgets what was served, and serves this fixture from its first turn on."""
        self.control("reset", json.dumps({"fixtures": [str(fixture)]}).encode())

    def reported(self):
        """Returns the report: what was served, missed and left unused."""
        return json.loads(self.control("report"))

    def control(self, path, body=None):
        request = urllib.request.Request(f"{self.url}/__retake/{path}", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def end(self):
        """Stops the server, and returns its report."""
        self.process.terminate()
        self.process.communicate()
        assert self.process.returncode in (0, 1), self.errors.read_text()
        report = json.loads(self.report.read_text())
        self.folder.cleanup()
        return report
