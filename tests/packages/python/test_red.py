"""Tests that have to fail, each with the words of its docstring in what pytest prints."""

import threading

import app
import pytest
from test_app import ask


@pytest.mark.retake("weather", unused="fail")
def test_turns_that_nobody_asked_for(retake):
    """unused: no call asked for turns[1] by nobody"""
    with pytest.raises(KeyError):
        app.WEATHER.pop("Rome")
        ask("How is the weather in Rome?")


@pytest.mark.retake("greeting")
def test_a_client_that_reaches_another_model(retake):
    """no call reached the replay model, though the fixture holds turns."""


@pytest.mark.retake("greeting")
def test_that_fails_by_itself_tells_the_miss(retake):
    """words "Hello" → "Hallo\""""
    assert ask("Hallo") == "Guten Morgen"


@pytest.mark.retake("greetin")
def test_of_a_fixture_that_is_not_there(retake):
    """retake: fixtures/greetin.json: failed to read it: no such file"""


def test_without_a_fixture(retake):
    """the test has no fixture: there is no fixtures/without_a_fixture.json"""
    ask("Hello")


@pytest.mark.retake("greeting")
def test_that_lays_in_another_fixture_after_a_miss(retake):
    """words "Hello" → "Hallo\""""
    ask("Hallo")
    retake.use("greeting")
    assert ask("Hello") == "Good morning"


@pytest.fixture
def calls_late():
    yield
    late = threading.Thread(target=ask, args=["Good night"])
    late.start()
    late.join()


@pytest.mark.retake("greeting")
def test_whose_service_calls_after_it(retake, calls_late):
    """words "Hello" → "Good night\""""
    assert ask("Hello") == "Good morning"
