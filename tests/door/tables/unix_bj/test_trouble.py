"""UNIX bj with unwritable books, and for callers without time."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from tests.door.at_the_teletype import ANY_KEY, PLAY, at_the_teletype
from tests.door.teletype import STRUCK, from_seed, seed_asking
from timebank.errors import BooksUnavailable
from timebank.wagers import journal

UNWRITTEN = "The books can't be written right now. Nothing has changed."
HIT = ("Hit? y", "Hit? y", "Hit? ")
ONE_ANSWER = ("Hit? ", "over")


def broken(*_: object, **__: object) -> NoReturn:
    raise BooksUnavailable("The books can't be written right now.")


# The books


async def test_without_books_there_is_no_seal_and_no_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_asking(*HIT)
    async with at_the_teletype(tmp_path) as ada:
        with monkeypatch.context() as disk:
            disk.setattr(journal, "open_shoe", broken)
            await ada.presses("p").sees(UNWRITTEN)
            await ada.is_asked(ANY_KEY)
            assert "Seal" not in ada.plain
        await ada.presses(" ").is_asked(PLAY)
        await ada.starts(seed)
        assert ada.letters == from_seed(seed)


async def test_a_hand_that_was_not_written_is_not_dealt_and_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_asking(*ONE_ANSWER)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        with monkeypatch.context() as disk:
            disk.setattr("timebank.wagers.wagers.place", broken)
            await ada.types("")
        assert UNWRITTEN in ada.plain
        assert len(ada.rounds()) == 1
        assert ada.letters.count("new game\n") == 1
        assert "\n\nAction $2\n" in ada.letters
        assert ada.seed == f"Seed {seed.hex()[:8]}"
        await ada.is_asked(ANY_KEY)


async def test_an_answer_that_was_not_written_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_asking(*HIT)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        with monkeypatch.context() as disk:
            disk.setattr("timebank.wagers.wagers.act", broken)
            ada.presses("y\r")
            await ada.terminal.wait_for(lambda _: ada.plain.endswith("again: "), "the question")
            assert f"{UNWRITTEN}\nPress Enter to try again: " in ada.plain
            assert ada.journal() == ["bet"]
        await ada.types("", "y")
        assert ada.journal() == ["bet", "hit"]
        assert ada.letters.endswith(from_seed(seed, "y").rsplit("Hit? y\n", maxsplit=1)[1])


async def test_an_interrupt_that_cannot_be_written_leaves_the_hand_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_asking(*HIT)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        with monkeypatch.context() as disk:
            disk.setattr("timebank.wagers.wagers.act", broken)
            ada.presses("\x7f")
            await ada.is_sent_off("Please call again later.")
        assert ada.journal() == ["bet"]
        await ada.comes_back()
        await ada.strikes("\x7f")
        assert ada.letters == from_seed(seed, STRUCK)


async def test_a_seed_that_cannot_be_declared_done_is_shown_another_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_asking(*HIT)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        with monkeypatch.context() as disk:
            disk.setattr(journal, "close_shoe", broken)
            await ada.strikes("\x7f")
            await ada.is_asked(ANY_KEY)
            assert "The seed stays sealed." in ada.plain
            assert seed.hex()[:8] not in ada.plain
        # The next run has another seed.
        await ada.presses(" ").is_asked(PLAY)
        other = seed_asking(*ONE_ANSWER)
        await ada.starts(other)
        assert ada.letters == from_seed(other, action=ada.tally()[0] - 2, standing=ada.tally()[1])
