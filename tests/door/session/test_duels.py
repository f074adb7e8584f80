"""Duels between two callers: challenged, accepted, played apart, and reviewed side by side."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.session.duels import DuelOverview, DuelPage
from door.tables.scoring import played
from tests.terminal import MODERN, REFUSING, Profile
from tests.world import BOARD, NOON, World, log_on, logged_on, newcomer, world
from timebank.calls.calls import close_call, open_call
from timebank.wagers import contests, duels
from timebank.wagers.contests import ContestResult
from timebank.wagers.duels import Duel
from timebank.window import corrections

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller

TOML = f"{BOARD}\n[timebank]\nknown_days = 0\n"


def duel_of(board: World) -> Duel:
    with board.books() as desk:
        return duels.listing(desk, 1)[0]


def keys_to_the_end(board: World, word: str) -> str:
    """Return the keys that play each hand with one action, with a key after each hand."""
    duel, acts, keys = duel_of(board), list[str](), ""
    game = duplicate.replay(BLACK_JACK_FOR_TIME, duel.seed, acts, 5)
    shown = len(game.over)
    keys = " " * shown
    while game.current is not None:
        legal = game.current.legal()
        acts.append("no-insurance" if "no-insurance" in legal else word)
        game = duplicate.replay(BLACK_JACK_FOR_TIME, duel.seed, acts, 5)
        keys += acts[-1][0] + " " * (len(game.over) - shown)
        shown = len(game.over)
    return keys


def unrated(board: World) -> int:
    with board.books() as desk:
        return len(contests.unweighed(desk, duels.listing(desk, 1)[0].seal))


def banked(board: World) -> dict[str, int]:
    with board.books() as desk:
        said = (
            "SELECT name, balance / 60 FROM accounts JOIN callers ON callers.id = caller_id"
            " WHERE kind = 'bank' AND unit = 'second'"
        )
        return dict(tuple(row) for row in desk.connection.exec_driver_sql(said))


async def test_a_new_caller_reads_from_when_they_may_duel_and_cannot_challenge(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=f"{BOARD}\n[timebank]\nknown_days = 7\n") as board:
        bob = await newcomer(board, "Bob")
        await bob.send("qg").until("Goodbye")
        board.enter("Zoe")
        ada = await newcomer(board, "Ada")
        await ada.send("du").until("Stakes come from your time bank.")
        assert re.search(
            r"You can duel from \d+ \w+, when you have been here 7\s+days", ada.picture
        )
        assert "<C>" not in ada.picture
        await ada.send("c").until("does nothing here")


async def test_a_short_bank_is_said_before_a_stake_is_asked_for(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        board.enter("Bob", saved=1800)
        bob, ada = await logged_on(board, "Bob", REFUSING), await newcomer(board, "Ada")
        await ada.send("du").until("which holds 0 minutes: deposit 1 minute")
        assert "<C>" not in ada.picture
        await bob.until("Press any key")
        await bob.send("\r").until("Your game, or")
        await bob.send("du").until("Stakes come from your time bank.")
        await bob.send("cAda\r31\r").until("The stake comes from your time bank, which holds 30")
        await bob.send("10\ry").until("You have challenged Ada for 10 minutes.")
        await ada.send("qu1").until("which holds 0 minutes: deposit 10")
        assert "<A>ccept" not in ada.picture
        await ada.send("qqqtd12\ry").until("deposited")
        await ada.send("qdu1a").until("Stake 10 minutes against Bob?")
        await ada.send("y").until("Your hands against")


async def test_two_callers_duel_and_see_their_hands_side_by_side(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        bob = await newcomer(board, "Bob", REFUSING)
        await bob.send("td20\ry").until("deposited")
        ada = await newcomer(board, "Ada")
        await ada.send("td20\ry").until("deposited")
        await ada.send("qdu").until("You have no duels yet.")
        await ada.send("cBob\r10\r").until("Stake 10 minutes against Bob?")
        await ada.send("y").until("You have challenged Bob for 10 minutes.")
        await ada.until("Bob has not answered yet. 10 minutes.")
        assert "You have no duels yet." not in ada.picture
        await bob.until("Ada challenges you to a duel for 10 minutes. From the menu: D, then U.")

        await bob.send("q").until("A duel waits for you (D)")
        await bob.send("du").until("Ada waits for your answer.")
        await bob.send("1a").until("Stake 10 minutes against Ada?")
        await bob.send("y").until("Your hands against")
        await ada.until("Bob accepts your duel. From the menu: D, then U.")
        await ada.until("Your hands against Bob wait for you. 10 minutes.")
        assert banked(board) == {"Ada": 10, "Bob": 10}
        seed = duel_of(board).seed.hex()

        await bob.send("p" + keys_to_the_end(board, "hit")).until(
            "You have played, and Ada has not yet."
        )
        await ada.send("qu1").until("Your hands against")
        assert "Coins" not in ada.picture, "nobody sees the other's hands before both are done"
        await ada.send("p" + keys_to_the_end(board, "stay")).until("You have won against Bob.")
        await ada.until("Re<v>iew (Enter)")
        assert duel_of(board).outcome == "won"
        for caller in (ada, bob):
            assert seed not in caller.transcript
        await ada.send("v").until("Review of your hands")
        assert re.search(r"Hand +You +Book +Cost +Bob", ada.picture)
        await bob.until("Ada won your duel")
        await bob.send("q1").until("Ada has won.")
        await bob.send("v").until("The book says Stand: that cost")
        await bob.send("qqqqs").until("Duels: 0 won, 1 lost, 0 even.")
        await ada.send("qqqqhe").until("Duels won")
        assert banked(board) == {"Ada": 30, "Bob": 10}
        assert board.findings() == []


async def test_the_page_of_a_duel_changes_while_a_caller_looks_at_it(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        bob = await newcomer(board, "Bob", REFUSING)
        await bob.send("td20\ry").until("deposited")
        ada = await newcomer(board, "Ada")
        await ada.send("td20\ry").until("deposited")
        await ada.send("qducBob\r10\ry").until("You have challenged Bob")
        await bob.send("qdu1ay").until("Your hands against Ada wait for you.")
        await ada.until("Your hands against Bob wait for you.")
        keys = keys_to_the_end(board, "stay")
        await ada.send("1p" + keys).until("You have played, and Bob has not yet.")
        assert "Open until" in ada.picture
        await bob.send("p" + keys).until("Your duel with Ada ended even")
        await ada.until("You and Bob are even, and each stake is back.")
        assert "has not yet" not in ada.picture
        assert "Open until" not in ada.picture
        assert board.findings() == []


@pytest.mark.parametrize("profile", [MODERN, REFUSING])
async def test_the_keys_of_an_open_page_follow_its_rows(tmp_path: Path, profile: Profile) -> None:
    async with world(tmp_path, toml=TOML) as board:
        bob = await newcomer(board, "Bob")
        await bob.send("td20\ry").until("deposited")
        ada = await newcomer(board, "Ada", profile)
        await ada.send("td20\ry").until("deposited")
        await ada.send("qducBob\r10\ry").until("You have challenged Bob")
        await ada.send("1").until("<W>ithdraw")
        await bob.send("qdu1ay").until("Your hands against Ada wait for you.")
        await ada.until("Bob accepts your duel")
        await ada.until("<P>lay")
        await ada.send("p" + keys_to_the_end(board, "hit")).until("and Bob has not yet.")
        await ada.until("Your coins: ")
        await bob.send("p" + keys_to_the_end(board, "stay")).until("You have won against Ada.")
        await ada.until("Bob won your duel")
        await ada.until("Re<v>iew (Enter)")
        await ada.send("\r").until("Review of your hands")


async def test_hands_left_unfinished_lose_after_three_days(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        bob = await newcomer(board, "Bob", REFUSING)
        await bob.send("td20\ry").until("deposited")
        ada = await newcomer(board, "Ada")
        await ada.send("td20\ry").until("deposited")
        await ada.send("qdu").until("has finished wins against one who has only")
        await ada.send("cBob\r10\ry").until("You have challenged Bob")
        await bob.send("qdu1").until(
            "If you begin, finish by then, or a rival who has finished wins."
        )
        await bob.send("ay").until("Your hands against Ada wait for you.")
        await ada.send("1p" + keys_to_the_end(board, "stay")).until("You have played, and Bob")
        await bob.send("p").until("The duel - ")
        for caller in (ada, bob):
            await caller.close()
        with board.books() as desk:
            desk.connection.exec_driver_sql("UPDATE duels SET ends = ends - 3 * 86400")
        await board.pass_time(61)
        assert duel_of(board).outcome == "won"
        bob = await logged_on(board, "Bob", REFUSING)
        await bob.until("You did not finish your duel with Ada in time: your stake of 10 minutes")
        await bob.send(" du").until("Ada has won: you did not finish in time.")
        await bob.send("1").until("Coins")
        assert banked(board) == {"Ada": 30, "Bob": 10}
        assert board.findings() == []


async def test_the_rivals_result_is_hidden_while_it_is_rated(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        await (await newcomer(board, "Bob")).close()
        ada = await newcomer(board, "Ada")
        await ada.send("td20\ry").until("deposited")
        await ada.send("qducBob\r10\ry").until("You have challenged Bob")
        duel = duel_of(board)
        with board.books() as desk:
            bob = open_call(desk, 1, 97, "another server", "192.0.2.9", take_over=False).call_id
            corrections.adjust(desk, 1, 600, "for the duel", "Sysop")
            duels.accept(desk, bob, 0, duel.seal)
            duels.begin(desk, duel.seal, 1)
            acts: list[str] = []
            while (game := played(duel, acts)).current is not None:
                acts.append(str(game.current.legal()[-1]))
                after = played(duel, acts)
                score = after.score if after.is_over else None
                contests.act(desk, duel, 1, acts[:-1], acts[-1], score)
            close_call(desk, bob, 0, "log-off")
        await ada.send("qu1").until("Your hands against")
        while unrated(board):  # while she reads
            await board.at_rest()
        await board.at_rest()
        assert "Coins" not in ada.picture


async def test_a_challenge_is_read_at_the_next_log_on_and_declined(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        bob = await newcomer(board, "Bob")
        await bob.close()
        ada = await newcomer(board, "Ada")
        await ada.send("td20\ry").until("deposited")
        await ada.send("qducBob\r10\ry").until("You have challenged Bob")
        again = await logged_on(board, "Bob")
        await again.until("Ada challenges you to a duel for 10 minutes")
        await again.send(" ").until("<D> A duel waits for you")
        await again.send("du1d").until("The duel with Ada was not accepted: the stake is back.")
        await ada.until("Bob declined your duel: your stake of 10 minutes is back.")
        assert banked(board) == {"Ada": 20, "Bob": 0}
        assert board.findings() == []


async def test_a_closed_table_sends_the_stakes_home(tmp_path: Path) -> None:
    toml = f"{TOML}[games.black-jack-for-time]\nopen = false\n"
    async with world(tmp_path, toml=TOML) as board:
        await (await newcomer(board, "Bob")).close()
        ada = await newcomer(board, "Ada")
        await ada.send("td20\ry").until("deposited")
        await ada.send("qducBob\r10\ry").until("You have challenged Bob")
        await ada.close()
        await board.at_rest()
    async with world(tmp_path, toml=toml, now=NOON.replace(hour=13)) as board:
        ada = await board.call()
        await log_on(ada, "Ada")
        await board.pass_time(60)
        assert duel_of(board).outcome == "called off"
        assert banked(board)["Ada"] == 20
        await ada.send(" d").until("You haven't played it yet.")
        assert "D<U>els" not in ada.picture


def test_equal_coins_are_said_to_be_decided_by_the_cost() -> None:
    ada = SimpleNamespace(record=SimpleNamespace(id=1), console=None)
    duel = SimpleNamespace(other=lambda _number: SimpleNamespace(name="Bob"))
    placed = [ContestResult(1, "Ada", 10, 5, (), 1), ContestResult(2, "Bob", 10, 9, (), 2)]
    page = DuelPage(cast("Board", None), cast("Caller", ada), "seal")
    overview = DuelOverview(cast("Duel", duel), None, placed, "won", "")
    said = "You have won against Bob. The coins are equal, and the smaller cost wins."
    assert page.place_words(overview) == said
    ahead = replace(overview, placed=[placed[0]._replace(score=20), placed[1]])
    assert page.place_words(ahead) == "You have won against Bob."
