"""The examples in the docstrings of the lines are true."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name", ["telnet.framing", "host.host", "line", "rlogin.header", "host.socket"]
)
def test_the_examples_of_a_module_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"door.lines.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
