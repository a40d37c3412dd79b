"""The pytest fixture `retake`: a replay model for one test. The test fails if a model call misses.

The model runs until the end of the session, so calls can reach it at any time. Each test starts with a model without turns, and
a miss fails the test in which it came. A miss that came outside of every test fails the session.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

import pluggy
import pytest

from ._server import Retake, RetakeError, Server, explained

SERVER = pytest.StashKey[Server]()
SAVED = pytest.StashKey[dict]()
MODEL = pytest.StashKey[Retake]()
# The explanations of the misses that came outside of every test.
OUTSIDE = pytest.StashKey[list]()
NO_FIXTURE = "no fixture was served: a test gets one by taking `retake`, or by @pytest.mark.retake(\"NAME\")"


def pytest_addoption(parser: pytest.Parser) -> None:
    unused = "whether a recorded turn that no call asked for fails a test: allow (default) or fail"
    parser.getgroup("retake").addoption("--retake-unused", choices=["allow", "fail"], help=unused)
    parser.addini("retake_unused", unused, default="allow")
    parser.addini("retake_fixtures", "the folder of the fixtures, next to the test or in the root folder", default="fixtures")
    parser.addini(
        "retake_env",
        "when OPENAI_BASE_URL, OPENAI_API_KEY and the other providers' variables are set: for each `test` that takes the "
        "fixture retake (default), or for the whole `session`, which clients created at import need",
        default="test",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[OUTSIDE] = []
    config.addinivalue_line("markers", "retake(*fixtures, unused='allow'): the recorded fixtures that this test replays")
    for name, known in [("retake_env", ("test", "session")), ("retake_unused", ("allow", "fail"))]:
        if config.getini(name) not in known:
            raise pytest.UsageError(f"{name} must be {' or '.join(known)}, not {config.getini(name)!r}")


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getini("retake_env") == "session":
        variables = server_of(session.config).env
        session.config.stash[SAVED] = {name: os.environ.get(name) for name in [*variables, "GOOGLE_API_KEY"]}
        os.environ.pop("GOOGLE_API_KEY", None)
        os.environ.update(variables)


def pytest_unconfigure(config: pytest.Config) -> None:
    for name, value in config.stash.get(SAVED, {}).items():
        os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
    if SERVER in config.stash:
        config.stash[SERVER].stop()


@pytest.fixture(autouse=True)
def _retake_of_marker(request: pytest.FixtureRequest) -> None:
    """The marker brings the fixture: without it, the test would call the real provider."""
    if request.node.get_closest_marker("retake"):
        request.getfixturevalue("retake")


@pytest.fixture
def retake(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Retake]:
    """A replay model that serves the test's recorded fixture. A model call without a recorded answer fails the test."""
    item = request.node
    server = server_of(request.config)

    def find(named: str | Path) -> Path:
        return fixture_file(item, named)

    without = ""
    marker = item.get_closest_marker("retake")
    if marker and marker.args:
        fixtures = marker.args
    else:
        own = find((getattr(item, "originalname", None) or item.name).removeprefix("test_"))
        fixtures = [own] if (request.config.rootpath / own).is_file() else []
        if not fixtures:
            without = f"the test has no fixture: there is no {own}, and no @pytest.mark.retake(\"NAME\")"
    # Fixtures of a wider scope were set up before this one, and may have called the model.
    before = item.stash[MODEL].explained() if MODEL in item.stash else []
    try:
        model, refused = Retake(server, item.name, fixtures, find, without, before), None
    except RetakeError as error:
        model, refused = None, error
    if model is None:
        pytest.fail(f"retake: {refused}", pytrace=False)
    if request.config.getini("retake_env") == "test":
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        for name, value in model.env.items():
            monkeypatch.setenv(name, value)
    item.stash[MODEL] = model
    yield model


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Takes the turns of the test before from the model."""
    if SERVER in item.config.stash:
        note_outside(item.config)
        item.stash[MODEL] = Retake(item.config.stash[SERVER], item.name, [], Path, NO_FIXTURE)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Judges the model's calls as part of the test, so that the test itself fails and not its teardown."""
    outcome = yield
    model = item.stash.get(MODEL, None)
    if model is None or (outcome.excinfo and issubclass(outcome.excinfo[0], pytest.skip.Exception)):
        return
    # A test that already failed may have stopped before it made its calls, so only its misses count.
    faults = model.explained() if outcome.excinfo else model.faults(fails_unused(item), asks(item))
    if faults:
        del item.stash[MODEL]
        fail(item, "call", outcome, faults)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Judges the calls that came after the test's body, while fixtures were torn down."""
    outcome = yield
    if MODEL in item.stash and (faults := item.stash[MODEL].explained()):
        fail(item, "teardown", outcome, faults)
    if SERVER in item.config.stash:
        item.config.stash[SERVER].reset([], "no test")


def fail(item: pytest.Item, when: str, outcome: pluggy.Result[None], faults: list[str]) -> None:
    """Makes a phase of a test fail."""
    text = "\n\n".join(faults)
    if outcome.excinfo:
        # Keep the test's own error, and show the misses next to it: they may be its cause.
        item.add_report_section(when, "retake", text)
    else:
        try:
            pytest.fail(text, pytrace=False)
        except pytest.fail.Exception as failed:
            outcome.force_exception(failed)


def note_outside(config: pytest.Config) -> None:
    """Notes the misses that came since the end of the last test."""
    if SERVER in config.stash:
        config.stash[OUTSIDE] += explained(config.stash[SERVER].report())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    note_outside(config)
    if hasattr(config, "workeroutput"):
        config.workeroutput["retake_outside"] = config.stash[OUTSIDE]
    if config.stash[OUTSIDE] and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes the misses of a worker of pytest-xdist."""
    node.config.stash[OUTSIDE] += getattr(node, "workeroutput", {}).get("retake_outside", [])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.stash[OUTSIDE]:
        terminalreporter.section("retake: model calls outside of every test had no recorded answer", red=True, bold=True)
        terminalreporter.write_line("\n\n".join(config.stash[OUTSIDE]))


def server_of(config: pytest.Config) -> Server:
    """Returns the session's server. Its address never changes, so a client can be used by several tests."""
    if SERVER not in config.stash:
        config.stash[SERVER] = Server(config.rootpath)
    return config.stash[SERVER]


def fixture_file(item: pytest.Item, named: str | Path) -> Path:
    """Returns the file of a recorded fixture, relative to the root folder.

    `named` is a path relative to the test's folder or the root folder, or a name in the folder of fixtures of either.
    """
    fixtures = item.config.getini("retake_fixtures")
    folders = [item.path.parent, item.config.rootpath]
    files = [folder / named for folder in folders] + [folder / fixtures / f"{named}.json" for folder in folders]
    file = next((file for file in files if file.is_file()), files[-1])
    # Messages then show a short path, and it works because the server runs in the root folder.
    return Path(os.path.relpath(file, item.config.rootpath))


def fails_unused(item: pytest.Item) -> bool:
    """Whether an unused turn fails this test: the marker decides, then the command line, then pytest's configuration."""
    marker = item.get_closest_marker("retake")
    said = marker.kwargs.get("unused") if marker else None
    return (said or item.config.getoption("--retake-unused") or item.config.getini("retake_unused")) == "fail"


def asks(item: pytest.Item) -> bool:
    """Whether a test itself asks for the model, and not only its class or module."""
    return "retake" in getattr(item, "fixturenames", ()) or any(marker.name == "retake" for marker in item.own_markers)
