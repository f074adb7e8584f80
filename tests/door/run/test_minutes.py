"""A guest's minutes, from the drop file to the host's own records."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from tests.door.hosting import GENEROUS, HANG_UP, KILL, Host, Visit, hosted

MINUTE = 60
NAME = "Moth@Xibalba"


async def at_the_table(host: Host, node: int = 1) -> Visit:
    visit = await host.a_visit(node)
    await visit.sits_down()
    return visit


def is_ahead(host: Host) -> bool:
    return host.won > 0


async def wins(host: Host) -> tuple[Visit, int]:
    """Play until more was won than lost; return how many whole minutes are theirs then."""
    host.house(**GENEROUS)
    visit = await at_the_table(host)
    await visit.plays_until(is_ahead)
    return visit, host.won // MINUTE


async def test_winnings_return_to_the_guests_own_bank_with_synchronet(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit, minutes = await wins(host)
        await visit.gets_up()
        assert await visit.goes() == 0
        assert visit.terminal.shows(f"You take {minutes} minutes back to Xibalba.")
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]
        assert host.balances(NAME)["bank"] == 0


async def test_a_host_that_ends_the_call_finds_it_within_two_seconds(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit, minutes = await wins(host)
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]
        assert host.balances(NAME)["online"] == 0


HURRIED = """
import os, signal, sys
from door.run import relay

class Door(relay.Door):
    def _serve_once(self):
        return 7

status = Door({"config": sys.argv[1]}, {}).run()
for number in (signal.SIGHUP, signal.SIGTERM):
    os.kill(os.getpid(), number)
sys.exit(status)
"""


def test_the_signals_that_come_when_the_call_is_over_change_nothing_either(tmp_path) -> None:
    words = [sys.executable, "-c", HURRIED, str(tmp_path / "sysop.toml")]
    assert subprocess.run(words, check=False).returncode == 7


async def test_winnings_of_a_killed_door_stay_in_our_bank(tmp_path) -> None:
    """Only the door may write where its host reads."""
    async with hosted(tmp_path, at_server=True) as host:
        visit, minutes = await wins(host)
        visit.gets(KILL)
        await visit.ends()
        await host.nobody_is_on()
        assert host.moduser() is None
        for _pending in iter(lambda: host.given_back() == [(minutes, "kept")], True):
            await asyncio.sleep(0.05)
        assert host.balances(NAME)["bank"] == host.won
