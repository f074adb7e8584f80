"""Evenings of chance at two tables: bets, decisions, lost lines, and a server that is killed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from door.errors import NotNow
from door.tables.vegas.room import VegasRoom, room_of
from tests.door.seated import NAMES, Sitter, arrives, on_a_call, vegas
from tests.world import World, world
from timebank.errors import Refused

HOUSE = vegas(tables=2, seats=2, bell_seconds=2, turn_seconds=2, resume_wait=3, turns_per_day=0)
STEPS = 80


class Evening:
    """Callers who do what chance says, and what their rounds came to."""

    def __init__(self, here: World, chance: random.Random) -> None:
        self.here = here
        self.chance = chance
        self.sitters: dict[str, Sitter] = {}
        self.nets: dict[int, dict[str, int]] = {}  # in seconds, by rounds and callers
        self.done = Counter[str]()

    @property
    def room(self) -> VegasRoom:
        return room_of(self.here.server.board)

    async def step(self) -> None:
        """Do one thing, and note the rounds that are over then."""
        steps = (self.plays, self.passes_time, self.goes, self.loses_the_line, self.is_killed)
        (step,) = self.chance.choices(steps, (50, 10, 3, 3, 3))
        await step()
        await self.note_rounds()
        self.done[step.__name__] += 1

    async def note_rounds(self) -> None:
        for number in (1, 2):
            await self.room.table(number).resume()
            hand = self.room.table(number).state.hand
            if hand is not None and hand.over:
                totals = map(hand.round.totals_of, range(len(hand.names)))
                nets = {n: each.won - each.lost for n, each in zip(hand.names, totals, strict=True)}
                assert self.nets.setdefault(hand.lead, nets) == nets

    # What may happen.

    async def sits_down(self, sitter: Sitter) -> None:
        sitter.table = await self.room.table_for(sitter.caller)
        self.sitters[sitter.name] = await sitter.sits()

    async def plays(self) -> None:
        """Have everybody bet or decide once, as far as that is open to them."""
        for sitter in list(self.sitters.values()):
            hand = sitter.table.state.in_play
            try:
                if hand is None:
                    await sitter.bets(self.chance.randint(1, 3))
                elif sitter.is_at_turn:
                    await sitter.does(str(self.chance.choice(hand.round.legal())))
            except (NotNow, Refused):
                self.done["refused"] += 1

    async def passes_time(self) -> None:
        await self.here.pass_time(self.chance.randint(1, 3))

    async def goes(self) -> None:
        """Have somebody get up, and sit down again where there is a seat."""
        if self.sitters:
            sitter = self.chance.choice(list(self.sitters.values()))
            await sitter.gets_up()
            await self.sits_down(sitter)

    async def loses_the_line(self) -> None:
        """Cut somebody off, who calls back after a while or at once."""
        sitter = self.chance.choice(list(self.sitters.values()))
        sitter.table.lose(sitter)
        await sitter.board.close_call(sitter.caller, "carrier lost")
        await self.here.pass_time(self.chance.choice((0, 1, 4)))
        await self.sits_down(await on_a_call(sitter.board, sitter.caller.record))

    async def is_killed(self) -> None:
        """Let the tables be gone, and laid again from the journal for who comes back."""
        for number in (1, 2):
            self.room.table(number)._close()
        board = self.here.server.board
        board.shared["vegas"] = VegasRoom(board)  # type: ignore[index]
        await self.room.resume()
        for sitter in self.chance.sample(list(self.sitters.values()), 2):
            await self.sits_down(sitter)
        await self.here.pass_time(4)
        for sitter in self.sitters.values():
            if sitter not in self.room.table(sitter.table.number).state.guests():
                await self.sits_down(sitter)


@pytest.mark.parametrize("number", range(2))
async def test_what_rounds_come_to_is_in_the_books_once(tmp_path: Path, number: int) -> None:
    """The audit at the end replays every hand, and asks for the seed of each shoe that is done."""
    async with world(tmp_path, toml=HOUSE) as here:
        evening = Evening(here, random.Random(number))
        for name in NAMES[:4]:
            await evening.sits_down(await arrives(here, name))
        for _ in range(STEPS):
            await evening.step()
        for sitter in evening.sitters.values():
            sitter.table.leave(sitter)
        await evening.note_rounds()
        with here.books() as desk:
            run = desk.connection.exec_driver_sql
            leads = list(run("SELECT id FROM rounds WHERE lead IS NULL ORDER BY id").scalars())
            assert not run("SELECT count(*) FROM rounds WHERE settled IS NULL").scalar()
        assert sorted(evening.nets) == leads
        for name in evening.sitters:
            moved = here.moved(name)
            won = sum(amount for kind, amount in moved if kind == "won")
            lost = sum(amount for kind, amount in moved if kind == "lost")
            assert won - lost == sum(nets.get(name, 0) for nets in evening.nets.values())
            assert here.balances(name)["stake"] == 0
        assert evening.done["is_killed"]
        assert evening.done["loses_the_line"]
        assert len(leads) > 10
