"""An upgrade under callers: the wheel of a new release is installed while they have hands on the
table, and all of them go on at it, also where the two releases no longer understand each other."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from door.lines import hand_over
from door.run import relay
from door.server import server_note
from tests.door.forked import BEGIN
from tests.door.hosting import BOARD, GENEROUS, HANG_UP, Host, Visit, until_gone
from tests.door.playing import Table, with_keys
from tests.door.processes import HIT, INSURANCE, MENU, arrives, open_a_hand, question
from tests.door.setup.test_wheel import install, installed, run, wheel_built_in
from tests.world import log_on

pytestmark = pytest.mark.long

ALIASES = ("Moth", "Ant", "Bee", "Fly")
# A release that speaks as the first one does, and one that does not.
NEXT, AFTER = "1.0.0.post1", "1.0.0.post2"


class Wheels(NamedTuple):
    first: Path
    next: Path
    after: Path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    folder = tmp_path_factory.mktemp("wheels")
    version = ("pyproject.toml", f'version = "{server_note.version()}"')
    speaks = f'VERSION = "{hand_over.VERSION}"', 'VERSION = "next"\nLATER = True'
    # What an old door imports of the new release must not mix with its loaded modules.
    loads = "import os\n", "import os\nfrom door.lines.hand_over import LATER as LATER\n"
    changes = ("door/lines/hand_over.py", *speaks), ("door/closed.py", *loads)
    return Wheels(
        wheel_built_in(folder / "first"),
        wheel_built_in(folder / "next", (*version, f'version = "{NEXT}"')),
        wheel_built_in(folder / "after", (*version, f'version = "{AFTER}"'), *changes),
    )


class Installed(Host):
    """A host board, and a board that is served by an installed release."""

    python: Path

    @property
    def commands(self) -> Path:
        return self.python / "bin"

    def program(self) -> tuple[str, ...]:
        return (str(self.commands / "door"),)

    def door_on(self, terminal: int) -> tuple[str, ...]:
        return (sys.executable, "-c", BEGIN, str(terminal), str(self.commands / "door"))

    async def updates(self, wheel: Path) -> None:
        await asyncio.to_thread(install, wheel, self.python)

    async def comes(self, node: int, alias: str) -> Visit:
        file = self.door32(node, user=40 + node, alias=alias)
        return await self.on_terminal("--dropfile", str(file), name=f"{alias}@Xibalba")

    async def hands(self) -> list[Visit]:
        """Bring in four callers by doors; each has won and has an open hand."""
        visits = [await self.comes(node, alias) for node, alias in enumerate(ALIASES, 1)]
        for visit in visits:
            await visit.comes_in()
            await visit.sits_down()
            await visit.plays_until(lambda host, name=visit.name: won_by(host, name) > 0)
            await open_a_hand(visit)
        return visits


def won_by(host: Host, name: str) -> int:
    with host.books() as desk:
        rows = desk.connection.exec_driver_sql(
            "SELECT coalesce(sum(won - lost), 0) FROM rounds JOIN callers c ON c.id = caller_id"
            " WHERE c.name = ?",
            (name,),
        )
        return int(rows.scalar_one())


def written_for(host: Host, name: str) -> list[int]:
    """The minutes that were written into files of the host's for a caller."""
    with host.books() as desk:
        rows = desk.connection.exec_driver_sql(
            "SELECT minutes, state FROM given_back JOIN callers c ON c.id = caller_id"
            " WHERE c.name = ?",
            (name,),
        ).all()
    assert {state for _, state in rows} <= {"written", "kept"}
    return [minutes for minutes, state in rows if state == "written"]


@asynccontextmanager
async def board_of(wheel: Path, folder: Path) -> AsyncIterator[Installed]:
    python = folder / "python"
    installed(wheel, python)
    toml = with_keys(BOARD, "black-jack-for-time", {"turns_per_day": 0, **GENEROUS})
    (folder / "sysop.toml").write_text(toml, encoding="utf-8")
    host = Installed(folder)
    host.python = python
    try:
        yield host
    finally:
        await host.close()
    config = ("--config", host.config.path)
    for command in ("door", "timebank"):
        run(host.commands / command, "audit", *config, folder=folder)
    for log in (host.config.board.data).glob("*.log"):
        assert "Traceback" not in log.read_text(encoding="utf-8"), log


def cards_of(table: Table) -> tuple[tuple[str | None, ...], ...]:
    return table.cards("Your hand"), table.cards("Dealer")


async def has_the_same(visit: Visit, cards: tuple[tuple[str | None, ...], ...]) -> None:
    """Wait until the hand of before is on the table again."""
    assert await question(visit) in (HIT, INSURANCE)
    assert cards_of(visit) == cards
    assert all(cards)


async def all_hang_up(host: Host, visits: list[Visit]) -> None:
    """End all calls by the host: each finds the winnings in its file, once."""
    for node, visit in enumerate(visits, 1):
        staked = host.balances(visit.name)["stake"]
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        assert host.balances(visit.name)["stake"] == staked > 0
        (minutes,) = written_for(host, visit.name)
        assert host.moduser(node) == minutes > 0


async def test_an_update_moves_all_callers_of_a_server_started_by_a_door(
    wheels: Wheels, tmp_path: Path
) -> None:
    async with board_of(wheels.first, tmp_path) as host:
        data = host.config.board.data
        visits = await host.hands()
        cards = [cards_of(visit) for visit in visits]
        for number, (wheel, release) in enumerate(((wheels.next, NEXT), (wheels.after, AFTER)), 5):
            before = server_note.server_in(data)
            assert before is not None
            await host.updates(wheel)
            another = await host.comes(number, f"Guest{number}")
            for visit, held in zip(visits, cards, strict=True):
                await has_the_same(visit, held)
            await another.comes_in()
            await until_gone(before.process)
            now = server_note.server_in(data)
            assert now is not None
            assert now.version == release
            assert await another.goes() == 0
        await all_hang_up(host, visits)


async def test_an_update_moves_all_callers_of_a_restarted_server(
    wheels: Wheels, tmp_path: Path
) -> None:
    async with board_of(wheels.first, tmp_path) as host:
        await host.serve()
        host.enter("Ada")
        ada = Table(host, await host.call(), "Ada")
        await log_on(ada.terminal, "Ada")
        assert await arrives(ada) == MENU
        ada.terminal.send("b")
        await open_a_hand(ada)
        hers = cards_of(ada)
        visits = await host.hands()
        cards = [cards_of(visit) for visit in visits]
        await host.updates(wheels.after)
        early = await host.comes(5, "Early")
        await early.terminal.until(relay.UP_TO_DATE)
        host.process.terminate()
        assert await host.ends() == 0
        await host.serve()
        for visit, held in zip(visits, cards, strict=True):
            await has_the_same(visit, held)
        await early.comes_in()
        ada = Table(host, await host.call(), "Ada")
        await log_on(ada.terminal, "Ada")
        assert await arrives(ada) in (HIT, INSURANCE)
        assert cards_of(ada) == hers
        assert await early.goes() == 0
        await all_hang_up(host, visits)
