"""Starts `retake serve` with one fixture."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


class Model:
    """A replay model: its base URLs `openai`, `anthropic`, `gemini` and `ollama`, and its `key`."""

    def __init__(self, fixture, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.report = Path(self.folder.name) / "report.json"
        command = [os.environ["RETAKE"], "serve", str(fixture), "--report", str(self.report), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.__dict__.update(json.loads(self.process.stdout.readline()))

    def end(self):
        """Stops the server, and returns its report: what was served, missed and left unused."""
        self.process.terminate()
        self.process.communicate()
        report = json.loads(self.report.read_text())
        self.folder.cleanup()
        return report
