"""The test passes, but the session must fail: a call missed while this file was imported."""

from test_app import ask

ask("Is anybody there?")


def test_that_knows_nothing_of_it():
    """the call "Is anybody there?" calls a model, but nothing is recorded"""
