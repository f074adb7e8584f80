"""Whose minutes they are, from the drop file to what the host is given back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import datetime, timedelta

from tests.door.dropfiles.writers import door_sys, remote_access, text
from tests.door.hosting import GENEROUS, HANG_UP, KILL, MISERLY, Host, Visit, hosted

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


async def test_what_was_won_goes_back_to_the_guests_own_bank_with_synchronet(tmp_path) -> None:
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
    def _at_a_server(self):
        return 7

status = Door({"config": sys.argv[1]}, {}).run()
for number in (signal.SIGHUP, signal.SIGTERM):
    os.kill(os.getpid(), number)
sys.exit(status)
"""


def test_the_signals_that_come_when_the_call_is_over_change_nothing_either(tmp_path) -> None:
    words = [sys.executable, "-c", HURRIED, str(tmp_path / "sysop.toml")]
    assert subprocess.run(words, check=False).returncode == 7


async def test_what_was_won_stays_in_our_bank_when_the_door_is_killed(tmp_path) -> None:
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


def agreed(host: Host, give_back: str, **keys: object) -> None:
    """Set the rules of the house, and how the host takes gains back."""
    host.house(**keys)
    file = host.config.path
    words = f'[boards.Xibalba]\ngive_back = "{give_back}"'
    file.write_text(file.read_text().replace("[boards.Xibalba]", words))


async def test_the_time_limit_of_exitinfo_shows_what_was_lost_and_what_was_won(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        agreed(host, "exitinfo", **MISERLY)
        file = host.node(1) / "EXITINFO.BBS"
        file.write_bytes(remote_access(minutes=60, status=0))
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.comes_in()
        await visit.sits_down()
        await visit.plays_until(lambda host: host.won <= -5 * MINUTE, coins=2)
        await visit.gets_up()
        assert await visit.goes() == 0
        lost = -host.won // MINUTE
        left = 60 - lost
        assert file.read_bytes() == remote_access(minutes=left, status=0)
        agreed(host, "exitinfo", **GENEROUS)
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.prompt("Press any key")
        assert visit.terminal.shows(f"You bring {left} minutes"), "the host has shown the loss"
        await visit.presses(" ").prompt("oodbye")
        await visit.sits_down()
        await visit.plays_until(lambda host: host.won > -lost * MINUTE)
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        gained = host.won // MINUTE + lost
        assert file.read_bytes() == remote_access(minutes=left + gained, status=0)


async def test_a_file_that_has_gone_leaves_it_in_our_bank(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit, minutes = await wins(host)
        (host.node(1) / "DOOR32.SYS").unlink()
        await visit.gets_up()
        assert await visit.goes() == 0
        assert visit.terminal.shows(f"Xibalba can't take your {minutes} minutes just now")
        assert host.given_back() == [(minutes, "kept")]
        assert host.balances(NAME)["bank"] == host.won


async def test_the_hosts_event_ends_the_time_and_stands_in_the_status_line(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        event = datetime.now().astimezone() + timedelta(minutes=30)
        file = host.node(1) / "DOOR.SYS"
        file.write_bytes(text(*door_sys(node="1", event=f"{event:%H:%M}")))
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.comes_in()
        assert visit.time_left <= 30 * MINUTE
        local = host.config.bank.schedule.local(event)
        assert f"Until {local:%H:%M}" in visit.terminal.row(23)
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
