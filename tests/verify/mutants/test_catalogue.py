"""Every mutant fits the current program, and differs from all others."""

from __future__ import annotations

import ast

import pytest

from tests import ROOT
from verify.mutants.catalogue import MUTANTS
from verify.mutants.mutant import Mutant, Stale


def test_each_changes_the_program_and_the_program_can_still_be_read():
    for mutant in MUTANTS:
        text = mutant.mutated(ROOT)
        assert text != (ROOT / mutant.file).read_text(), mutant.name
        ast.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left = 1\n", "is there 0 times"),
        ("left = 60\nleft = 60\n", "is there 2 times"),
        (None, "is gone with its file"),
    ],
)
def test_a_stale_one_is_named_with_its_file_and_its_text(tmp_path, text, expected):
    if text is not None:
        (tmp_path / "toy.py").write_text(text)
    mutant = Mutant("The time left is short.", "toy.py", "left = 60", "left = 59")
    with pytest.raises(Stale) as stale:
        mutant.mutated(tmp_path)
    assert str(stale.value).startswith('toy.py: "The time left is short."')
    assert expected in str(stale.value)
    assert str(stale.value).endswith("left = 60")
