"""The test passes, but the session must fail: a call missed while this file was imported."""

from test_app import ask

ask("Is anybody there?")


def test_that_knows_nothing_of_it():
    """the service called the model ("Is anybody there?"), but this scenario has no recording"""
