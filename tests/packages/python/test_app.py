import app
import pytest
from fastapi.testclient import TestClient

client = TestClient(app.app)


def ask(message):
    return client.post("/chat", json={"message": message}).json()["text"]


def test_weather(retake):
    assert ask("How is the weather in Rome?") == "It is sunny in Rome."
    assert retake.misses == []


@pytest.mark.retake("greeting")
def test_says_hello(retake):
    assert ask("Hello") == "Good morning"


@pytest.mark.retake("weather")
def test_red_tool_that_returns_a_different_word(retake, monkeypatch):
    """words "shines" → "shone\""""
    # The service catches the model's error and answers politely, but the test fails all the same.
    monkeypatch.setitem(app.WEATHER, "Rome", "The sun shone in Rome.")
    assert ask("How is the weather in Rome?")
