"""One key reads a hand again at every table, and a hand that was left is read when taken up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from door.games.baccarat.round import BaccaratAction
from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from tests.door.playing import hand
from tests.door.punting import on_5, seed_where
from tests.door.seated import first_may_hit, shoe
from tests.door.session.test_daily_deal import sealed
from tests.door.tables.red_dog import playing as red_dog
from tests.terminal import MODERN, REFUSING, Terminal
from tests.world import World, newcomer, world
from verify.robots.screen import marked


async def reads_again(ada: Terminal, words: str, prompt: str) -> None:
    """Press the key at a question, and read these words once more, and then the question."""
    await ada.until(prompt)
    before = ada.transcript
    ada.send("=")

    def has_read(_terminal: Terminal) -> bool:
        new = ada.transcript[len(before) :]
        return words in new and prompt in marked(new.partition(words)[2])

    await ada.wait_for(has_read, f"{words!r} again")


@pytest.mark.parametrize(
    ("table", "seed", "keys", "words", "prompt"),
    [
        ("b", lambda: hand(holding=12), "b2\r", "You: ", "<H>it"),
        (
            "r",
            lambda: red_dog.seed_where(lambda dealt: dealt.spread > 0),
            "b2\r",
            "Second: ",
            "<S>tand",
        ),
        ("v", lambda: shoe(1, first_may_hit), "b2\r", "Dealer: ", "<H>it"),
        ("ct", lambda: seed_where(on_5(BaccaratAction.CARD)), "\r2\r", "Player", "Card?"),
    ],
)
async def test_one_key_reads_the_hand_again_at_every_table(
    tmp_path: Path, table: str, seed: Callable[[], bytes], keys: str, words: str, prompt: str
) -> None:
    async with world(tmp_path) as board:
        board.seeds = [seed()]
        ada = await newcomer(board, "Ada", REFUSING)
        await ada.send(table).until("<Q>uit")
        ada.send(keys)
        await reads_again(ada, words, prompt)
        await ada.send("?").until("=  Show or read this screen again.")


async def test_a_painted_table_is_drawn_again(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        board.seeds = [hand(holding=12)]
        ada = await newcomer(board, "Ada", MODERN)
        await ada.send("b b2\r").until("<H>it")
        shown, wire = ada.picture, len(ada.wire)
        await ada.send("=").wait_for(lambda _: len(ada.wire) > wire + 1000, "all of it again")
        assert ada.picture == shown


async def test_a_hand_that_was_left_is_read_when_it_is_taken_up(board: World) -> None:
    ada = await newcomer(board, "Ada", REFUSING)
    await ada.send("d").until("You haven't played it yet.")
    seed, acts = sealed(board).seed, list[str]()
    game = duplicate.replay(BLACK_JACK_FOR_TIME, seed, ())
    await ada.send("p").until("of 10")
    while acts[-1:] != ["hit"]:
        assert game.current is not None
        may_hit = "hit" in game.current.legal()
        hit = duplicate.replay(BLACK_JACK_FOR_TIME, seed, [*acts, "hit"]) if may_hit else game
        is_open = may_hit and len(hit.over) == len(game.over)
        acts.append("hit" if is_open else "stay" if may_hit else "no-insurance")
        game = duplicate.replay(BLACK_JACK_FOR_TIME, seed, acts)
        ada.send(acts[-1][0] + " ")
    await ada.send("q").until("waits for you")
    left = len(ada.transcript)
    await ada.send("p").until_heard("<S>tand")
    assert "Dealer: " in ada.transcript[left:]
    assert "You: " in ada.transcript[left:]
