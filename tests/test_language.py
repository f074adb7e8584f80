"""The house speaks modern English: nobody is a "he", and no turn of phrase is a century old.

Comments and docstrings say "they", or the thing's own name. So do the texts of the product, which
callers and sysops read; those keep clear of archaic turns as well.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Callable, Iterator
from io import StringIO

import pytest

from tests import ROOT

FOLDERS = ("ansi", "bench", "door", "timebank", "tools", "verify")
PRODUCT = ("ansi", "door", "timebank")
HE = re.compile(r"\b(he|his|him|himself)\b", re.IGNORECASE)
ARCHAIC = re.compile(
    r"\b(anew|hence|herein|hereby|lest|shall|thereof|thereby|thus|unto|upon|whence|wherein|whereof)\b"
    r"|\b(of|to|by) whom\b|\blet (it )?be\b|\bso long\b(?! as)|\bnot to be had\b"
    r"|\botherwise than\b|, for (it|they|he|she|there)\b|\b(is|are) none\b|\bmust needs\b"
    # "That is no card" for "That is not a card"; "there is no card" is as it should be.
    r"|(?<!there )\b(is|are) no (?!longer\b|more\b)(?=[a-z])",
    re.IGNORECASE,
)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """The lines of comments, and of strings that stand alone as docstrings do, by number."""
    if not HE.search(source):  # most files are not taken apart
        return
    begins = True
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT or (begins and token.type == tokenize.STRING):
            yield from enumerate(token.string.split("\n"), token.start[0])
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the strings that a program uses, with the number of their first line.

    Adjacent strings are one string, so a turn across two lines is seen. Values of an f-string
    become braces.
    """
    tree = ast.parse(source)
    apart: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            apart.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            apart.update(id(value) for value in node.values)
            parts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield node.lineno, "".join(map(str, parts))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.lineno, node.value


def matches_in(
    folder: str, reading: Callable[[str], Iterator[tuple[int, str]]], *turns: re.Pattern[str]
) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {text.strip()}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, text in reading(path.read_text(encoding="utf-8"))
        if any(turn.search(text) for turn in turns)
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_prose_calls_no_person_a_he(folder: str) -> None:
    lines = matches_in(folder, prose, HE)
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("folder", PRODUCT)
def test_no_text_of_the_product_speaks_of_a_he_or_like_an_old_book(folder: str) -> None:
    lines = matches_in(folder, strings, HE, ARCHAIC)
    assert not lines, "\n".join(lines)
