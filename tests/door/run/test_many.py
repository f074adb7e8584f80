"""Twenty door processes and a server over one database, all at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.door.hosting import HANG_UP, Host, Visit, hosted
from tests.door.processes import open_a_hand, sit_down, stand

pytestmark = pytest.mark.long

DOORS = 20


async def plays(host: Host, number: int) -> Visit:
    """Come in on their own node, play a hand, and leave another one on the table."""
    alias = f"Moth {number}"
    file = host.door32(number, user=number, alias=alias)
    visit = await host.on_terminal("--dropfile", str(file), name=f"{alias}@Xibalba")
    await visit.reads_welcome(seconds=120)
    await visit.terminal.until("oodbye", seconds=120)
    visit.presses("b")
    await visit.terminal.until("<B>et", seconds=120)
    await open_a_hand(visit)
    return visit


@pytest.mark.parametrize("at_server", [False, True], ids=["by themselves", "at the server"])
async def test_twenty_doors_and_a_server_share_one_database(
    tmp_path: Path, at_server: bool
) -> None:
    async with hosted(tmp_path, serves=True, at_server=at_server) as host:
        host.enter("Ada")
        ada = await sit_down(host, "Ada")
        visits = await asyncio.gather(*(plays(host, number) for number in range(1, DOORS + 1)))
        await open_a_hand(ada)
        await stand(ada)
        with host.books() as desk:
            calls = desk.connection.exec_driver_sql(
                "SELECT count(*), count(DISTINCT process) FROM calls WHERE closed IS NULL"
            ).one()
        assert tuple(calls) == (DOORS + 1, 1 if at_server else DOORS + 1)
        for visit in visits:
            visit.gets(HANG_UP)
        ended = await asyncio.gather(*(visit.ends(within=60) for visit in visits))
        assert ended == [0] * DOORS
        told = host.visits_told()
        assert len(told) == DOORS
        assert all(visit["left_staked"] == 60 for visit in told)
        for visit in visits:
            assert host.balances(visit.name)["online"] == 0
            assert host.balances(visit.name)["stake"] == 60
