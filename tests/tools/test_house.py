"""The report of `python -m tools.house` about commits."""

from __future__ import annotations

import doctest

import pytest

from tools import house


def test_the_examples_hold() -> None:
    assert doctest.testmod(house).failed == 0


def test_without_arguments_it_measures_the_newest_commit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(house, "rows_of", lambda commit: {"product": f"lines of {commit}"})
    house.main([])
    assert capsys.readouterr().out.splitlines() == [
        *("| | HEAD |", "|---|---|", "| product | lines of HEAD |"),
    ]


def test_it_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        house.main(["--help"])
    assert end.value.code == 0
    assert "COMMIT" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["no-such-commit", "0" * 40, "HEAD:README.md"])
def test_an_unknown_commit_is_one_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        house.main(["HEAD", name])
    assert end.value.code == 2
    assert capsys.readouterr() == ("", f"git finds no commit {name} here.\n")
