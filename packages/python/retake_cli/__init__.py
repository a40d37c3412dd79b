"""Starts `retake serve`, the replay model, from Python. The pytest fixture is in `pytest_plugin`."""

from ._binary import find_retake
from ._server import Retake, RetakeError, Server

__all__ = ["Retake", "RetakeError", "Server", "find_retake"]
