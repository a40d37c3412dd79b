"""The replay model of `retake serve`, started from Python. The fixture for pytest is in `pytest_plugin`."""

from ._binary import find_retake
from ._server import Retake, RetakeError, Server

__all__ = ["Retake", "RetakeError", "Server", "find_retake"]
