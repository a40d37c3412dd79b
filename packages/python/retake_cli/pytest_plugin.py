"""The pytest fixture `retake`: a replay model for one test. The test fails if a model call misses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

import pytest

from ._server import Retake, RetakeError, Server

SERVER = pytest.StashKey[Server]()
SAVED = pytest.StashKey[dict]()
MODEL = pytest.StashKey[Retake]()


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


@pytest.fixture
def retake(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Retake]:
    """A replay model that serves the test's recorded fixture. A model call without a recorded answer fails the test."""
    item = request.node
    server = server_of(request.config)

    def find(named: str | Path) -> Path:
        return fixture_file(item, named)

    marker = item.get_closest_marker("retake")
    if marker and marker.args:
        fixtures = marker.args
    else:
        own = find((getattr(item, "originalname", None) or item.name).removeprefix("test_"))
        fixtures = [own] if (request.config.rootpath / own).is_file() else []
        without = f"the test has no fixture: there is no {own}, and no @pytest.mark.retake(\"NAME\")"
    try:
        model, refused = Retake(server, item.name, fixtures, find, "" if fixtures else without), None
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
    # Misses of calls that came after the test's body, while other fixtures were torn down.
    if MODEL in item.stash and (faults := model.explained()):
        pytest.fail(faults, pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Judges the model's calls as part of the test, so that the test itself fails and not its teardown."""
    outcome = yield
    model = item.stash.get(MODEL, None)
    if model is None or (outcome.excinfo and issubclass(outcome.excinfo[0], pytest.skip.Exception)):
        return
    # A test that already failed may have stopped before it made its calls, so only its misses count.
    faults = model.explained() if outcome.excinfo else model.faults(fails_unused(item))
    if not faults:
        return
    del item.stash[MODEL]
    if outcome.excinfo:
        # Keep the test's own error, and show the misses next to it: they may be its cause.
        item.add_report_section("call", "retake", faults)
    else:
        try:
            pytest.fail(faults, pytrace=False)
        except pytest.fail.Exception as failed:
            outcome.force_exception(failed)


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
