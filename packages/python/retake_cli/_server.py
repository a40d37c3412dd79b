"""Starts `retake serve` as a child process, sends it requests and stops it."""

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
    """`retake serve` did not start, or refused a request."""


class Server:
    """A running `retake serve`. It ends when this process ends, even if this process is killed."""

    def __init__(self, folder: str | Path = ".", *, repeat: bool = False) -> None:
        """Starts the server with `folder` as its working directory. Each call is a miss until `reset` names fixtures."""
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
        # These requests stay on this machine, so a proxy from the environment must not see them.
        self._http = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that point the providers' SDKs at this model."""
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
        """Forgets all served turns and misses, and serves from the first turn.

        `fixtures` replaces the fixtures that are served; `name` is the scenario that explanations of misses name.
        """
        asked: dict[str, Any] = {}
        if fixtures is not None:
            asked["fixtures"] = [str(fixture) for fixture in fixtures]
        if name is not None:
            asked["name"] = name
        self._ask("reset", json.dumps(asked).encode())

    def report(self) -> dict[str, Any]:
        """Returns what happened since the last reset: turns `served`, calls `missed`, turns `unused`, and `drift`."""
        return self._ask("report")

    def stop(self) -> None:
        """Stops the server and waits until it has ended."""
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
    """The replay model of one test: base URLs and key for its service, and the misses and unused turns so far."""

    def __init__(
        self,
        server: Server,
        name: str,
        fixtures: Iterable[str | Path],
        find: Any,
        without: str,
        before: Iterable[str] = (),
    ) -> None:
        """Serves `fixtures`; `find` returns the file of each. `without` is reported if there are none and a call misses.

        `before` are explanations of earlier misses, which fail the test too.
        """
        self._server, self._name, self._find, self._without = server, name, find, without
        self._before: list[str] = [*before]
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
        """Serves these fixtures (file paths or names) from now on, from their first turn. Earlier misses still fail the test."""
        before = self._explained(self._server.report())
        self._fixtures = [self._find(fixture) for fixture in fixtures]
        self._server.reset(self._fixtures, self._name)
        self._before += before

    @property
    def misses(self) -> list[dict[str, Any]]:
        """The misses so far."""
        return self._server.report()["missed"]

    @property
    def unused(self) -> list[dict[str, Any]]:
        """The unused turns so far."""
        return self._server.report()["unused"]

    def explained(self) -> list[str]:
        """Returns the explanations of all misses and of each drift that the project makes fail."""
        return self._before + self._explained(self._server.report())

    def faults(self, unused: bool, asked: bool) -> list[str]:
        """Returns everything that fails a test at its end.

        In addition to `explained()` that is: unused turns, if `unused` is true, and no call at all, if the test `asked` for the
        model itself.
        """
        report = self._server.report()
        faults = self._before + self._explained(report)
        if unused and report["unused"]:
            turns = [f"turn {turn['turn'] + 1}" + (f" by {turn['caller']}" if turn["caller"] else "") for turn in report["unused"]]
            faults.append("unused: no call asked for " + ", ".join(turns))
        if asked and not faults and not report["served"] and report["unused"]:
            faults.append(NO_CALL)
        return faults

    def _explained(self, report: dict[str, Any]) -> list[str]:
        found = explained(report)
        return found + [self._without] if report["missed"] and not self._fixtures else found


def explained(report: dict[str, Any]) -> list[str]:
    """Returns the explanations of a report's misses, and of each drift that the project makes fail."""
    misses = [miss["explanation"] for miss in report["missed"]]
    return misses + [drift["text"] for drift in report["drift"] if drift["level"] == "fail"]


NO_CALL = """no call reached the replay model, although the fixture contains turns.
  A client that is created when its module is imported reads its address then, before the test sets it: either set
  `retake_env` to `session` in pytest's configuration, or pass retake.openai_base_url and retake.key to the client."""
