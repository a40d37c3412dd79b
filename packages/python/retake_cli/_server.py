"""A `retake serve` of one's own: started, asked, ended."""

from __future__ import annotations

import json
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Iterable

from ._binary import find_retake


class RetakeError(Exception):
    """What `retake serve` refused."""


class Server:
    """A running `retake serve`. It ends with this process, however that ends."""

    def __init__(self, folder: str | Path = ".", *, repeat: bool = False) -> None:
        """Starts it in a folder of the project, without fixtures: `reset` names some."""
        command = [find_retake(), "serve", "--until-eof", *(["--repeat"] if repeat else [])]
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
            line = self._process.stdout.readline()
            if not line:
                self._process.wait()
                errors.seek(0)
                raise RetakeError(f"retake serve did not start:\n{errors.read().decode(errors='replace')}")
        ready = json.loads(line)
        self.key: str = ready["key"]
        self.url: str = ready["url"]
        self.openai_base_url: str = ready["openai"]
        self.anthropic_base_url: str = ready["anthropic"]
        self.gemini_base_url: str = ready["gemini"]
        self.ollama_base_url: str = ready["ollama"]
        # Nothing here leaves the machine, whatever a proxy of the environment says.
        self._http = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @property
    def env(self) -> dict[str, str]:
        """The variables by which the providers' SDKs find this model."""
        return {
            "OPENAI_BASE_URL": self.openai_base_url,
            "OPENAI_API_KEY": self.key,
            "ANTHROPIC_BASE_URL": self.anthropic_base_url,
            "ANTHROPIC_API_KEY": self.key,
            "GOOGLE_GEMINI_BASE_URL": self.gemini_base_url,
            "GEMINI_API_KEY": self.key,
            "OLLAMA_HOST": self.ollama_base_url,
            "OLLAMA_API_KEY": self.key,
        }

    def reset(self, fixtures: Iterable[str | Path] | None = None, name: str | None = None) -> None:
        """Forgets what was served and missed; serves other fixtures, and calls misses those of `name`, where given."""
        asked: dict[str, Any] = {}
        if fixtures is not None:
            asked["fixtures"] = [str(fixture) for fixture in fixtures]
        if name is not None:
            asked["name"] = name
        self._ask("reset", json.dumps(asked).encode())

    def report(self) -> dict[str, Any]:
        """What was `served`, `missed` and is `unused`, and what differs (`drift`), since the last reset."""
        return self._ask("report")

    def stop(self) -> None:
        """Ends it."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _ask(self, path: str, body: bytes | None = None) -> Any:
        try:
            with self._http.open(f"{self.url}/__retake/{path}", data=body) as response:
                return json.load(response)
        except urllib.error.HTTPError as refused:
            raise RetakeError(json.load(refused)["error"]) from None


class Retake:
    """The replay model of one test: base URLs and key for its service, and what became of the calls."""

    def __init__(self, server: Server, name: str, fixtures: Iterable[str | Path], find: Any, without: str) -> None:
        """Of the fixtures that `find` gives; `without` is what is said where there are none and a call misses."""
        self._server, self._name, self._find, self._without = server, name, find, without
        self._before: list[str] = []
        self._fixtures = [find(fixture) for fixture in fixtures]
        server.reset(self._fixtures, name)
        self.key = server.key
        self.url = server.url
        self.openai_base_url = server.openai_base_url
        self.anthropic_base_url = server.anthropic_base_url
        self.gemini_base_url = server.gemini_base_url
        self.ollama_base_url = server.ollama_base_url
        self.env = server.env

    def use(self, *fixtures: str | Path) -> None:
        """Serves these fixtures from now on, files or names, from the first turn. What missed before still fails the test."""
        before = self._explained(self._server.report())
        self._fixtures = [self._find(fixture) for fixture in fixtures]
        self._server.reset(self._fixtures, self._name)
        self._before += before

    @property
    def misses(self) -> list[dict[str, Any]]:
        """The calls that missed so far."""
        return self._server.report()["missed"]

    @property
    def unused(self) -> list[dict[str, Any]]:
        """The turns that no call asked for so far."""
        return self._server.report()["unused"]

    def explained(self) -> str:
        """The calls that missed so far, and what differs where the project says that it fails; empty where nothing is."""
        return "\n\n".join(self._before + self._explained(self._server.report()))

    def faults(self, unused: bool) -> str:
        """The same, with what is wrong by the end of a test: that no call came, and with `unused` which turns nobody asked for."""
        report = self._server.report()
        faults = self._before + self._explained(report)
        if unused and report["unused"]:
            turns = [f"turns[{turn['turn']}] by {turn['caller'] or 'nobody'}" for turn in report["unused"]]
            faults.append("unused: no call asked for " + ", ".join(turns))
        if not faults and not report["served"] and report["unused"]:
            faults.append(NO_CALL)
        return "\n\n".join(faults)

    def _explained(self, report: dict[str, Any]) -> list[str]:
        misses = [miss["explanation"] for miss in report["missed"]]
        if misses and not self._fixtures:
            misses.append(self._without)
        return misses + [drift["text"] for drift in report["drift"] if drift["level"] == "fail"]


NO_CALL = """no call reached the replay model, though the fixture holds turns.
  A client that is made when its module is imported has its address by then: to set the variables before that, say
  `retake_env = "session"` in pytest's configuration, or give the client retake.openai_base_url and retake.key."""
