"""Calls that end in mid-hand, whatever the host sends: nothing is lost, and the hand waits."""

from __future__ import annotations

import pytest

from tests.door.hosting import END, HANG_UP, KILL, Host, Visit, hosted
from tests.door.processes import HIT, INSURANCE, open_a_hand, question
from tests.long import long

NAME = "Moth@Xibalba"


async def in_the_hand(visit: Visit) -> None:
    await visit.comes_in()
    await visit.sits_down()
    await open_a_hand(visit, coins=2)


def stakes(host: Host) -> int:
    with host.books() as desk:
        return sum(
            desk.connection.exec_driver_sql(
                "SELECT bet FROM rounds WHERE settled IS NULL"
            ).scalars()
        )


@pytest.mark.parametrize("number", [HANG_UP, long(END), KILL])
async def test_any_signal_or_hang_up_leaves_whole_books_and_the_hand(tmp_path, number: int) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await in_the_hand(visit)
        staked = stakes(host)
        assert staked
        visit.gets(number)
        status = await visit.ends(within=2.0)
        assert status == (-KILL if number == KILL else 0)
        await host.nobody_is_on()
        assert host.balances(NAME)["stake"] == staked
        if number != KILL:
            assert host.balances(NAME)["online"] == 0
        again = await host.on_terminal("--dropfile", str(host.door32()))
        await again.reads_welcome()
        assert await question(again) in (HIT, INSURANCE)
        assert host.visits_told()[-1]["standing"] == staked
        again.gets(HANG_UP)
        assert await again.ends(within=2.0) == 0
        assert host.balances(NAME)["online"] == 0
        assert host.balances(NAME)["stake"] == staked


@pytest.mark.long
async def test_a_terminal_that_is_closed_is_a_hang_up(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_socket("--dropfile", str(host.node(1)))
        await in_the_hand(visit)
        await visit.terminal.close()
        assert await visit.ends(within=2.0) == 0
        assert host.balances(NAME)["stake"] == stakes(host) > 0
        assert host.balances(NAME)["online"] == 0
