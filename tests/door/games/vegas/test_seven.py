"""Seven real telnet programs at one table of a real server: the rude ones disturb nobody."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from pathlib import Path

import pytest

from tests.door.company import AT_TABLE, YOUR_TURN, Player
from tests.door.processes import MENU, OPEN_ALL_DAY, Served, served
from tests.terminal import MODERN, REFUSING, SYNCTERM, Profile, Terminal
from tests.world import log_on

pytestmark = pytest.mark.long

READY, INSURANCE = "<B>et (Enter)", "Insurance, up to"
PROMPT_ANSWER = 2.0  # seconds that no answer may take, on a machine that is busy with other tests


def board_toml(**keys: int) -> str:
    lines = (f"{key} = {value}" for key, value in keys.items())
    return "\n".join((OPEN_ALL_DAY, "[games.vegas]", "turns_per_day = 0", *lines, ""))


async def sits_down(board: Served, name: str, profile: Profile = MODERN) -> Player:
    """Call, log on, and take a seat."""
    board.enter(name)
    return await sits_down_again(board, name, profile)


async def sits_down_again(board: Served, name: str, profile: Profile = MODERN) -> Player:
    """Call, log on, and come to the table: by the menu, or to a hand that was left there."""
    player = Player(board, name)
    terminal = player.terminal = Terminal(profile)
    await terminal.connect(board.port, receive_buffer=8192)
    board.terminals.append(terminal)
    await log_on(terminal, name)
    for asked in ("Press any key", MENU):
        await terminal.wait_for(
            lambda _, asked=asked: any(each in player.prompt for each in (asked, MENU, AT_TABLE)),
            asked,
        )
        if AT_TABLE not in player.prompt and asked in player.prompt:
            player.presses("v" if asked == MENU else " ")
    await player.is_asked(AT_TABLE)
    return player


def rounds_of(player: Player) -> int:
    """How many turns the title says that they have had today."""
    found = re.search(r"Turns today: (\d+)", player.terminal.row(0))
    return int(found[1]) if found else 0


async def plays(player: Player, rounds: int) -> float:
    """Be ready, stand, and so on for so many rounds; return the longest wait for an answer."""
    longest = 0.0
    asked = (READY, INSURANCE, YOUR_TURN)
    while True:
        await player.terminal.wait_for(
            lambda _: any(words in player.prompt for words in asked), "a question", 30
        )
        if READY in player.prompt and rounds_of(player) >= rounds:
            return longest
        key = "b\r" if READY in player.prompt else "n" if INSURANCE in player.prompt else "s"
        before = player.prompt
        pressed = time.monotonic()
        player.presses(key)
        await player.terminal.wait_for(
            lambda _, before=before: player.prompt != before, f"an answer to {key!r}"
        )
        longest = max(longest, time.monotonic() - pressed)


async def test_seven_sit_together_and_one_hangs_one_drops_and_one_never_reads(
    tmp_path: Path,
) -> None:
    toml = board_toml(turn_seconds=1, bell_seconds=2)
    async with served(tmp_path, toml=toml) as board:
        profiles = (MODERN, SYNCTERM, MODERN, MODERN)
        names = ("Ada", "Bob", "Cyd", "Dan")
        polite = [await sits_down(board, *each) for each in zip(names, profiles, strict=True)]
        drops = await sits_down(board, "Eve")
        hangs = await sits_down(board, "Fay", REFUSING)
        blind = await sits_down(board, "Gus")
        for rude in (drops, hangs, blind):
            rude.presses("b5\r")
            await polite[0].terminal.wait_for(
                lambda _, rude=rude: (
                    "ready" in polite[0].block(5 + (drops, hangs, blind).index(rude))
                ),
                f"the bet of {rude.name}",
            )
        blind.terminal.stop_reading()
        dropping = asyncio.create_task(drop_at_their_turn(drops))
        waits = await asyncio.gather(*(plays(each, 4) for each in polite))
        await dropping
        assert max(waits) < PROMPT_ANSWER
        assert [rounds_of(each) for each in polite] == [4] * 4
        await polite[0].terminal.wait_for(
            lambda _: "Eve" not in polite[0].block(5), "the chair of who dropped, free"
        )
        assert "Fay" in polite[0].block(6)
        for name in ("Eve", "Fay", "Gus"):
            assert board.balances(name)["stake"] == 0
        eve = await sits_down_again(board, "Eve")
        assert "at Vegas was left open; the dealer stood it for you" in eve.terminal.transcript


async def drop_at_their_turn(player: Player) -> None:
    await player.terminal.wait_for(
        lambda _: YOUR_TURN in player.prompt or INSURANCE in player.prompt, "the turn", 30
    )
    player.terminal.abort()


async def test_a_server_that_is_killed_keeps_every_seat_for_its_caller_and_then_stands_it(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, toml=board_toml(resume_wait=3)) as board:
        names = ("Ada", "Bob", "Cyd")
        players = [await sits_down(board, name) for name in names]
        cards: list[str] = []
        while not cards:
            cards = await dealt(players)
        board.process.kill()
        assert await board.ends() == -signal.SIGKILL
        assert [board.balances(name)["stake"] for name in names] == [120, 120, 120]

        await board.serve()
        ada = await sits_down_again(board, "Ada")
        bob = await sits_down_again(board, "Bob")
        assert [ada.block(1)[:12], bob.block(2)[:12]] == [each[:12] for each in cards[:2]]
        await asyncio.gather(plays(ada, 0), plays(bob, 0))
        for name in names:
            assert board.balances(name)["stake"] == 0
        cyd = await sits_down_again(board, "Cyd")
        assert "at Vegas was left open; the dealer stood it for you" in cyd.terminal.transcript
        assert "at Vegas was left open" not in ada.terminal.transcript + bob.terminal.transcript


async def dealt(players: list[Player]) -> list[str]:
    """Bet, all of them; return what lies at each seat, nothing if it is over."""
    for player in players:
        await player.is_asked(READY)
        player.presses("b2\r")
        await player.terminal.wait_for(
            lambda _, player=player: READY not in player.prompt, "the bet placed"
        )
    asked = (READY, INSURANCE, YOUR_TURN)
    first = players[0]
    await first.terminal.wait_for(
        lambda _: any(words in first.prompt for words in asked), "the cards"
    )
    if READY in first.prompt:
        return []
    return [player.block(chair) for chair, player in enumerate(players, start=1)]
