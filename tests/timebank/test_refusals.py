"""Refusals are in the caller's language: each carries a phrase. Those of sysops are English."""

import ast
from pathlib import Path

import pytest

from timebank import errors

ROOT = Path(__file__).parent.parent.parent
OF_SYSOPS = ROOT / "timebank" / "keeping" / "caller_acts.py"  # which are refused in English alone
FILES = {*ROOT.glob("timebank/**/*.py"), *ROOT.glob("door/lobby/*.py")} - {OF_SYSOPS}
REFUSALS = {
    name
    for name, error in vars(errors).items()
    if isinstance(error, type) and issubclass(error, errors.Refused)
}


def prose(tree: ast.AST) -> list[int]:
    """The lines where a refusal is made of a text that can be in English alone."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in REFUSALS
        and any(
            isinstance(given, ast.JoinedStr | ast.BinOp)
            or (isinstance(given, ast.Constant) and isinstance(given.value, str))
            for given in node.args
        )
    ]


@pytest.mark.parametrize("words", ['"No."', 'f"No, {name}."', '"No, " + name'])
def test_prose_is_collected(words):
    assert prose(ast.parse(f"raise errors.NotEnough({words})")) == [1]


def test_refusals_carry_phrases():
    assert {file: lines for file in FILES if (lines := prose(ast.parse(file.read_text())))} == {}
