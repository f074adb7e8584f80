"""Whole evenings at the Vegas table, by chance: whatever callers do, the books and the table agree.

Every evening follows from the number it is given, so that one that fails can be had again.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random

import pytest

from door.errors import NotNow
from door.games.vegas.room import table_of
from door.games.vegas.round import affordable
from tests.door.seated import (
    BELL,
    NAMES,
    RESUME,
    TURN,
    Party,
    Sitter,
    arrives,
    on_a_call,
    settled,
    vegas,
)
from tests.world import World, world
from timebank.callers import callers
from timebank.errors import Refused
from timebank.ledger.sqlite import high_water

pytestmark = pytest.mark.long

STEPS = 150


class Evening:
    """Callers who come, bet, decide, fall silent, drop and come back, as chance has it."""

    def __init__(self, here: World, chance: Random) -> None:
        self.here = here
        self.chance = chance
        self.here_now: dict[str, Sitter] = {}  # at the table
        self.in_the_lobby: dict[str, Sitter] = {}  # on a call, not at the table
        self.known: set[str] = set()
        self.audited = -1  # how many commits there were when the books were audited last

    @property
    def party(self) -> Party:
        return Party(self.here, list(self.here_now.values()))

    async def step(self) -> None:
        """One thing happens, and the table does all that follows from it."""
        often = {
            self.comes: 4,
            self.bets: 6,
            self.all_are_ready: 4,
            self.decides: 12,
            self.waits: 2,
        }
        seldom = {self.drops: 1, self.gets_up: 1, self.is_taken_over: 1, self.talks: 1}
        weights = {**often, **seldom, self.crashes_or_not: 1}
        (does,) = self.chance.choices(list(weights), list(weights.values()))
        with contextlib.suppress(NotNow, Refused):
            await does()
        await settled(self.here.server.board)
        self.agrees()

    async def comes(self) -> None:
        name = self.chance.choice(NAMES)
        if name in self.here_now:
            return
        if name not in self.known:
            self.known.add(name)
            guest = await arrives(self.here, name)
        elif name in self.in_the_lobby:
            guest = self.in_the_lobby.pop(name)
        else:
            guest = await on_a_call(self.here.server.board, self.record(name))
        self.here_now[name] = guest
        await guest.table.find(guest.caller.record.id)
        await guest.sits()

    def record(self, name: str) -> callers.CallerRecord:
        with self.here.books() as desk:
            record = callers.find(desk, name)
        assert record is not None
        return record

    def somebody(self) -> Sitter | None:
        return self.chance.choice(sorted(self.here_now.values(), key=lambda s: s.name) or [None])

    async def bets(self) -> None:
        if guest := self.somebody():
            guest.table.wake(guest)
            await guest.bets(self.chance.randint(1, 10))

    async def all_are_ready(self) -> None:
        for guest in list(self.here_now.values()):
            with contextlib.suppress(NotNow):
                await guest.bets(1)

    async def decides(self) -> None:
        seat = table_of(self.here.server.board).state.at_turn
        hand = table_of(self.here.server.board).state.in_play
        if seat is not None and seat.name in self.here_now and hand is not None:
            guest = self.here_now[seat.name]
            action = self.chance.choice(affordable(hand, guest.caller))
            await guest.does(str(action))

    async def waits(self) -> None:
        await self.party.pass_time(self.chance.choice((1, 5, BELL, TURN)))

    async def drops(self) -> None:
        if guest := self.somebody():
            del self.here_now[guest.name]
            await guest.drops()

    async def gets_up(self) -> None:
        if guest := self.somebody():
            self.in_the_lobby[guest.name] = self.here_now.pop(guest.name)
            await guest.gets_up()

    async def is_taken_over(self) -> None:
        if guest := self.somebody():
            guest.table.hand_over(guest)
            await guest.board.close_call(guest.caller, "taken over")
            again = await on_a_call(guest.board, guest.caller.record)
            self.here_now[guest.name] = again
            await again.sits()

    async def talks(self) -> None:
        if guest := self.somebody():
            with contextlib.suppress(Exception):
                guest.says("hello")

    async def crashes_or_not(self) -> None:
        """Now and then the server ends, with whatever lies on the table."""
        if self.chance.random() > 0.2:
            return
        for guest in (*self.here_now.values(), *self.in_the_lobby.values()):
            await guest.board.close_call(guest.caller, "carrier lost")
        self.here_now, self.in_the_lobby = {}, {}
        await self.here.server.stop("The board is closing.")
        self.here.database.close()
        await self.here.open()

    async def ends(self) -> None:
        """Everybody goes, and the round on the table is played to its end."""
        for guest in list(self.here_now.values()):
            await guest.drops()
        self.here_now = {}
        await self.party.pass_time(RESUME + TURN)

    def agrees(self) -> None:
        """What the table, the callers and the books think is the same."""
        state = table_of(self.here.server.board).state
        with self.here.books() as desk:
            commits = high_water.count_of(desk.connection)
        if commits != self.audited:  # books that have not changed are in order still
            assert self.here.findings() == []
            self.audited = commits
        for guest in (*self.here_now.values(), *self.in_the_lobby.values()):
            accounts = self.here.balances(guest.name)
            purse = guest.caller.purse.posted
            in_play = state.place_of(guest.caller.record.id) is not None
            assert (accounts["stake"] > 0) == in_play, guest.name
            assert (purse.online, purse.stake) == (accounts["online"], accounts["stake"])
        for guest in self.here_now.values():
            sits, stands = state.seat_of(guest.caller.record.id), guest in state.standing
            assert (sits is not None and sits.guest is guest) != stands
        seat = state.at_turn
        if seat is not None:
            alone = not state.has_company and seat.guest is not None
            assert alone or state.alarm is not None, f"nothing ends the turn of {seat.name}"


@pytest.mark.parametrize("number", range(5))
async def test_whatever_callers_do_table_and_books_agree(tmp_path: Path, number: int) -> None:
    toml = vegas(turns_per_day=0, decks=1, penetration=50)
    async with world(tmp_path, toml=toml) as here:
        evening = Evening(here, Random(number))
        for _ in range(STEPS):
            await evening.step()
        await evening.ends()
        for name in sorted(evening.known):
            assert here.balances(name)["stake"] == 0
        assert evening.party.rounds_dealt() > 3
