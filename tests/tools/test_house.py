"""What `python -m tools.house` says of a house."""

from __future__ import annotations

import doctest

from tools import house


def test_the_examples_hold() -> None:
    assert doctest.testmod(house).failed == 0
