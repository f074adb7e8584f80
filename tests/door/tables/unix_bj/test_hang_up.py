"""Abandoned hands of UNIX bj: the paper is printed again, and the hand continues."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.door.at_the_teletype import (
    PLAY,
    at_the_teletype,
    teletype_toml,
)
from tests.door.teletype import STRUCK, from_seed, seed_asking
from tests.terminal import Terminal

LEFT = "The hand you left is still on the table."
HIT = ("Hit? y", "Hit? y", "Hit? ")
SPLIT = ("Split pair? y", "Double down? y", "Hit? ")

AT_EVERY_QUESTION = pytest.mark.parametrize(
    ("script", "lines", "question"),
    [
        (("Insurance? ",), (), "Insurance? "),
        (("Insurance? y", "Hit? "), ("y",), "Hit? "),
        (("Insurance? ", "Hit? "), ("",), "Hit? "),
        (SPLIT, (), "Split pair? "),
        (SPLIT, ("y",), "Double down? "),
        (SPLIT, ("y", "y"), "Hit? "),
        (("Split pair? y", "Hit? y", "Hit? "), ("y", "y"), "Hit? "),
        (("Double down? ",), (), "Double down? "),
        (HIT, (), "Hit? "),
        (HIT, ("y", "y"), "Hit? "),
    ],
    ids=[
        "insurance",
        "insured",
        "not insured",
        "split",
        "double down after a split",
        "the second hand",
        "hit after a split",
        "double down",
        "hit",
        "hit again",
    ],
)


# A dropped carrier


@AT_EVERY_QUESTION
@pytest.mark.parametrize("stakes", ["play money", "minutes"])
async def test_a_hand_waits_at_the_question_at_which_it_was_left(
    tmp_path: Path, stakes: str, script: tuple[str, ...], lines: tuple[str, ...], question: str
) -> None:
    seed = seed_asking(*script)
    async with at_the_teletype(tmp_path, toml=teletype_toml(stakes=stakes)) as ada:
        await ada.starts(seed)
        await ada.types(*lines)
        assert ada.letters.endswith(question)
        journal, rounds = ada.journal(), ada.rounds()
        await ada.drops_carrier()
        assert (ada.journal(), ada.rounds()) == (journal, rounds)
        assert ada.board.findings() == []

        await ada.comes_back()
        assert LEFT in ada.plain
        assert ada.seal == f"Seal {sha256(seed).hexdigest()[:8]}"
        # The text is repeated without Ada's answers.
        assert ada.letters == without_typing(seed, lines)
        await ada.types("")
        await ada.strikes("\x7f")
        assert ada.seed == f"Seed {seed.hex()[:8]}"
        whole = from_seed(seed, *lines, "", STRUCK)
        assert ada.letters.endswith(whole.splitlines(keepends=True)[-1])
        assert f"\nAction ${ada.tally(unit(stakes))[0]}\n" in ada.letters
        assert ada.board.findings() == []
        await ada.presses(" ").is_asked(PLAY)


def without_typing(seed: bytes, lines: tuple[str, ...]) -> str:
    """The paper up to the question after these answers, without the questions answered before."""
    paper = from_seed(seed, *lines)
    last = paper.rindex("\n") + 1
    texts = [line for line in paper[:last].splitlines(keepends=True) if "? " not in line]
    return "".join(texts) + paper[last:]


def unit(stakes: str) -> str:
    return "second" if stakes == "minutes" else "usd-cent"


async def test_the_deck_of_a_hand_that_was_left_runs_on(tmp_path: Path) -> None:
    seed = seed_asking("Hit? ", "over")
    lines = [""] * 5
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        await ada.types(*lines)
        await ada.drops_carrier()
        await ada.comes_back()
        await ada.types("", "", "")
        whole = from_seed(seed, *lines, "", "", "")
        # From the open hand on, the paper is unchanged.
        after = ada.letters.split("new game\n", 2)[2]
        assert after.count("new game\n") >= 1
        assert after in whole
        assert [start for *_, start in ada.rounds()][1] > 0


@pytest.mark.parametrize("hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["close", "reset"])
async def test_a_gone_caller_bets_nothing(
    tmp_path: Path, hang_up: Callable[[Terminal], None]
) -> None:
    seed = seed_asking("Hit? ", "over")
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        caller = ada.caller
        async with ada.board.slow_books():
            ada.presses("\r")
            await ada.terminal.wait_for(lambda _: ada.plain.endswith("\n"), "the newline taken")
            hang_up(ada.terminal)
        await caller.ended.wait()
        assert len(ada.rounds()) in (1, 2)
        assert ada.journal() in (["bet"], ["bet", "stay"])
        assert ada.board.findings() == []


async def test_a_run_has_a_shoe_of_its_own(tmp_path: Path) -> None:
    first, second = seed_asking(*HIT), seed_asking("Insurance? ")
    async with at_the_teletype(tmp_path) as ada:
        for seed in (first, second):
            await ada.starts(seed)
            await ada.strikes("\x7f")
            assert ada.seed == f"Seed {seed.hex()[:8]}"
            await ada.presses(" ").is_asked(PLAY)
        with ada.board.books() as desk:
            shoes = desk.connection.exec_driver_sql(
                "SELECT seal, closed IS NULL FROM shoes ORDER BY id"
            ).all()
        assert [tuple(shoe) for shoe in shoes] == [
            (sha256(first).hexdigest(), 0),
            (sha256(second).hexdigest(), 0),
        ]


async def test_a_hand_keeps_the_stakes_of_its_deal_and_the_next_has_new_ones(
    tmp_path: Path,
) -> None:
    seed = seed_asking("Hit? ", "over")
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        await ada.drops_carrier()
        (tmp_path / "sysop.toml").write_text(teletype_toml(stakes="minutes"), encoding="utf-8")
        ada.board.server.reload()
        await ada.comes_back()
        await ada.types("")
        assert "The bets have changed since that hand was dealt." in ada.plain
        assert len(ada.rounds()) == 1
        assert ada.tally("usd-cent")[0] == 2
        assert ada.seed == f"Seed {seed.hex()[:8]}"
        await ada.presses(" ").sees("A dollar is a coin")
