"""Every test here must fail, the last one in its teardown, and pytest must print the docstring of each."""

import threading

import app
import pytest
from test_app import ask


@pytest.mark.retake("weather", unused="fail")
def test_that_leaves_a_turn_unused(retake):
    """unused: no call asked for turn 2"""
    with pytest.raises(KeyError):
        app.WEATHER.pop("Rome")
        ask("How is the weather in Rome?")


@pytest.mark.retake("greeting")
def test_whose_calls_never_reach_the_model(retake):
    """no call reached the replay model, although the fixture contains turns."""


@pytest.mark.retake("greeting")
def test_that_fails_for_a_reason_of_its_own_shows_the_miss(retake):
    """words "Hello" → "Hallo\""""
    assert ask("Hallo") == "Guten Morgen"


@pytest.mark.retake("greetin")
def test_with_a_fixture_that_does_not_exist(retake):
    """retake: fixtures/greetin.json: failed to read it: no such file"""


def test_without_a_fixture(retake):
    """the test has no fixture: there is no fixtures/without_a_fixture.json"""
    ask("Hello")


@pytest.mark.retake("greeting")
def test_that_switches_to_another_fixture_after_a_miss(retake):
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
def test_whose_service_calls_the_model_after_it(retake, calls_late):
    """words "Hello" → "Good night\""""
    assert ask("Hello") == "Good morning"
