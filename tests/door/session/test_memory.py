"""A finished call leaves nothing in the server's memory, without the collector.

The collector visits old objects once in seven million new ones. Until then every call that only it
could free would stay, and memory would grow for hours.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from telnetlib3 import TelnetWriter

from door.call.caller import Caller
from door.call.console import Console
from door.call.keyboard import Keyboard
from door.call.screen import Screen
from door.errors import Closing
from door.lines.flow import StreamLine
from door.lines.telnet.telnet import NegotiatingTelnet
from tests.door.visiting import MENU, Guest, visitor
from tests.long import long
from tests.world import world

OF_A_CALL = (Caller, Console, Keyboard, Screen, StreamLine, NegotiatingTelnet, TelnetWriter)
ROOMS = "bcuvtwny"  # of the main menu: the four tables, and the rest
LOOKS = 100  # many more than it takes


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def in_memory() -> Counter[str]:
    """Count the objects of a call by type; `isinstance` would ask mocks and proxies."""
    counts: Counter[str] = Counter()
    for each, number in Counter(map(type, gc.get_objects())).items():
        counts.update({kind.__name__: number for kind in OF_A_CALL if issubclass(each, kind)})
    return counts


async def logs_off(guest: Guest) -> None:
    await guest.logs_off()


async def plays_a_hand_and_logs_off(guest: Guest) -> None:
    await guest.sits_down()
    await guest.bets(5, "stay", ends="win")
    await guest.presses("s").is_asked("<B>et")
    await guest.presses("q").is_asked("oodbye")
    await guest.logs_off()


async def hangs_up_in_a_hand(guest: Guest) -> None:
    await guest.sits_down()
    await guest.bets(5, "stay", ends="win")
    await guest.drops_carrier()


def hangs_up_in_room(letter: str) -> Callable[[Guest], Awaitable[None]]:
    async def ends(guest: Guest) -> None:
        guest.presses(letter)
        await guest.terminal.until_gone(MENU)
        await guest.drops_carrier()

    ends.__name__ = f"hangs_up_in_room_{letter}"
    return ends


async def is_sent_away(guest: Guest) -> None:
    guest.caller.console.keyboard.interrupt(Closing("The board is closing."))
    await guest.terminal.until_closed()


@pytest.mark.parametrize(
    "ends",
    [
        hangs_up_in_a_hand,
        is_sent_away,
        *map(long, [logs_off, plays_a_hand_and_logs_off, *map(hangs_up_in_room, ROOMS)]),
    ],
)
async def test_nothing_of_a_call_outlives_it(
    tmp_path: Path, ends: Callable[[Guest], Awaitable[None]]
) -> None:
    async with world(tmp_path) as board:
        before = in_memory()
        ada = await visitor(board, "Ada")
        serving = [kind.__name__ for kind in OF_A_CALL if kind is not TelnetWriter]
        assert in_memory() - before == dict.fromkeys(serving, 1)
        await ends(ada)
        for _ in range(LOOKS):
            await board.settled()  # the ledger forgets its last act
            if not (left := in_memory() - before):
                break
        assert not left
