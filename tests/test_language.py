"""Comments and docstrings say "they", or the thing's own name: nobody in them is a "he"."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from io import StringIO

import pytest

from tests import ROOT

FOLDERS = ("ansi", "bench", "door", "timebank", "tools", "verify")
HE = re.compile(r"\b(he|his|him|himself)\b", re.IGNORECASE)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """The lines of comments, and of strings that stand alone as docstrings do, by number."""
    begins = True
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT or (begins and token.type == tokenize.STRING):
            yield from enumerate(token.string.split("\n"), token.start[0])
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@pytest.mark.parametrize("folder", FOLDERS)
def test_nobody_is_a_he(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in prose(path.read_text(encoding="utf-8"))
        if HE.search(line)
    ]
    assert not found, "\n".join(found)


def test_prose_is_what_no_program_reads() -> None:
    source = '''"""A file,
his."""
LIMIT = 3  # of him
"""Himself."""
SAID = """
He stays."""
said(
    "his", # his
)

class Caller:
    # He
    """He."""
'''
    assert [number for number, line in prose(source) if HE.search(line)] == [2, 3, 4, 8, 12, 13]
