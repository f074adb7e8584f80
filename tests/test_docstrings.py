"""The examples in the docstrings of the product hold, and the names in them exist."""

from __future__ import annotations

import doctest
import importlib
import re
import tokenize
from pathlib import Path

import pytest

from tests import ROOT

FILES = [
    path
    for package in ("ansi", "door", "timebank")
    for path in sorted((ROOT / package).rglob("*.py"))
]
EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in FILES
    if ">>> " in path.read_text(encoding="utf-8")
]
NAME = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")
# Names of libraries, systems and other programs.
FOREIGN = {"ProcessPoolExecutor", "TelnetServer", "authorized_keys", "chrt", "create_server"}
STARTS = {tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted
    assert not outcome.failed


def texts_and_code(path: Path) -> tuple[str, str]:
    """Return the docstrings and comments of a file, and its names and other strings."""
    texts, code, before = [], [], tokenize.ENCODING
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            is_docstring = token.type == tokenize.STRING and before in STARTS
            if is_docstring or token.type == tokenize.COMMENT:
                texts.append(token.string)
            elif token.type in (tokenize.NAME, tokenize.STRING):
                code.append(token.string)
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                before = token.type
    return "\n".join(texts), " ".join(code)


def test_names_in_docstrings_and_comments_exist() -> None:
    read = {path: texts_and_code(path) for path in FILES}
    known = {word for _, code in read.values() for word in re.findall(r"\w+", code)}
    known |= FOREIGN | {"py", *(path.stem for path in FILES)}
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path, (texts, _) in read.items()
        for name in NAME.findall(texts)
        if not known.issuperset(name.split("."))
    ] == []
