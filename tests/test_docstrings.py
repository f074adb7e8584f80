"""The examples in the docstrings of the product hold."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests import ROOT

EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in ("ansi", "door", "timebank")
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted
    assert not outcome.failed
