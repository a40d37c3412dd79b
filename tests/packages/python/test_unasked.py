"""No test here takes `retake` as an argument. All but one must fail, and pytest must print the docstring of each."""

import pytest
from test_app import ask


@pytest.mark.retake("greeting", unused="fail")
def test_whose_marker_alone_brings_the_model():
    """unused: no call asked for turn 1"""


@pytest.mark.retake("greeting")
class TestOfAClass:
    def test_that_makes_no_call(self):
        assert True

    @pytest.mark.parametrize("message", ["Hullo"])
    def test_that_swallows_a_miss(self, message):
        """words "Hello" → "Hullo\""""
        assert ask(message)


def test_that_the_turns_of_the_test_before_must_not_answer():
    """no fixture was served: a test gets one by taking `retake`, or by @pytest.mark.retake("NAME")"""
    assert ask("Hello")


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.retake("greeting")
async def test_that_runs_in_an_event_loop():
    """words "Hello" → "Hollo\""""
    ask("Hollo")


@pytest.fixture(scope="module")
def warm():
    ask("Are you there?")


@pytest.mark.retake("greeting")
def test_whose_fixture_of_the_module_misses(warm):
    """the service called the model ("Are you there?")"""
    assert ask("Hello") == "Good morning"
