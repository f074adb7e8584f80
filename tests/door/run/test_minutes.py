"""Whose minutes they are, from the drop file to what the host is given back."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta

import pytest

from tests.door.dropfiles.writers import door_sys, remote_access, text
from tests.door.hosting import END, GENEROUS, HANG_UP, KILL, MISERLY, Host, Visit, hosted
from tests.door.processes import open_a_hand
from tests.door.run.conftest import Hosts

MINUTE = 60
NAME = "Moth@Xibalba"


async def at_the_table(host: Host, node: int = 1) -> Visit:
    visit = await host.on_terminal("--dropfile", str(host.door32(node)))
    await visit.comes_in()
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


async def test_what_was_won_goes_back_to_the_guests_own_bank_with_synchronet(
    tmp_path, hosts: Hosts
) -> None:
    async with hosts(tmp_path) as host:
        visit, minutes = await wins(host)
        await visit.gets_up()
        assert await visit.goes() == 0
        assert visit.terminal.shows(f"You take {minutes} minutes back to Xibalba.")
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]
        assert host.balances(NAME)["bank"] == 0


@pytest.mark.parametrize("number", [HANG_UP, END])
async def test_a_host_that_ends_the_call_finds_it_within_two_seconds(
    tmp_path, hosts: Hosts, number
) -> None:
    async with hosts(tmp_path) as host:
        visit, minutes = await wins(host)
        visit.gets(number)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]
        assert host.balances(NAME)["online"] == 0


async def test_the_signals_of_a_host_that_hurries_change_nothing(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit, minutes = await wins(host)
        for number in (HANG_UP, END, HANG_UP, END):
            visit.gets(number)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes


HURRIED = """
import os, signal, sys
from door.cli.run import to_the_end

async def call():
    return 7

status = to_the_end(call())
for number in (signal.SIGHUP, signal.SIGTERM):
    os.kill(os.getpid(), number)
sys.exit(status)
"""


def test_the_signals_that_come_when_the_call_is_over_change_nothing_either() -> None:
    assert subprocess.run([sys.executable, "-c", HURRIED], check=False).returncode == 7


async def test_a_door_that_was_killed_gives_it_back_at_the_next_visit(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit, minutes = await wins(host)
        visit.gets(KILL)
        await visit.ends()
        assert host.moduser() is None
        again = await host.on_terminal("--dropfile", str(host.door32()))
        await again.prompt("Press any key")
        assert again.terminal.shows("Your last call here was cut off")
        assert again.terminal.shows(
            f"From an earlier visit, you take {minutes} minutes back to Xibalba"
        )
        again.gets(HANG_UP)
        assert await again.ends() == 0
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]


async def test_who_loses_and_comes_again_earns_nothing(tmp_path, hosts: Hosts) -> None:
    """They lose thirty minutes, come again with the host's sixty, and win some back."""
    async with hosts(tmp_path) as host:
        host.house(**MISERLY)
        visit = await at_the_table(host)
        await visit.plays_until(lambda host: host.won <= -30 * MINUTE, coins=10)
        await visit.gets_up()
        assert await visit.goes() == 0
        lost = -host.won
        host.house(**GENEROUS)
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.prompt("Press any key")
        minutes = lost // MINUTE
        assert visit.terminal.shows(f"after the {minutes} minutes you lost here earlier today")
        visit.presses(" ")
        await visit.prompt("oodbye")
        assert visit.time_left <= 60 * MINUTE - lost
        await visit.sits_down()
        await visit.plays_until(lambda host: host.won > -lost)
        await visit.gets_up()
        assert await visit.goes() == 0
        first, second = host.visits_told()
        assert first["debt_added"] == lost
        assert second["brought"] == 60 * MINUTE - lost
        assert second["debt_paid"] == host.won + lost
        assert (host.moduser(), host.given_back()) == (None, [])
        assert host.balances(NAME)["bank"] == 0


async def test_a_host_that_takes_nothing_leaves_it_in_our_bank(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit, _ = await wins(host)
        settings = host.config.path
        settings.write_text(
            settings.read_text().replace("[boards.Xibalba]", '[boards.Xibalba]\ngive_back = "bank"')
        )
        visit.gets(KILL)
        await visit.ends()
        again = await host.on_terminal("--dropfile", str(host.door32()))
        await again.comes_in()
        assert await again.goes() == 0
        assert host.balances(NAME)["bank"] == host.won
        assert again.terminal.shows("Your time bank here holds")
        assert host.moduser() is None


async def test_nobody_is_shown_minutes_that_the_host_does_not_give(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit, minutes = await wins(host)
        assert visit.time_left <= 60 * MINUTE
        pot, _ = visit.figure("Pot").split()
        assert int(pot) in (59 + minutes, 60 + minutes), "what was won can be bet all the same"
        visit.gets(HANG_UP)
        assert await visit.ends() == 0


def agreed(host: Host, give_back: str, **keys: object) -> None:
    """Set the rules of the house, and how the host takes gains back."""
    host.house(**keys)
    file = host.config.path
    words = f'[boards.Xibalba]\ngive_back = "{give_back}"'
    file.write_text(file.read_text().replace("[boards.Xibalba]", words))


async def test_the_time_limit_of_exitinfo_shows_what_was_lost_and_what_was_won(
    tmp_path, hosts: Hosts
) -> None:
    async with hosts(tmp_path) as host:
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
        visit.presses(" ")
        await visit.prompt("oodbye")
        await visit.sits_down()
        await visit.plays_until(lambda host: host.won > -lost * MINUTE)
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        gained = host.won // MINUTE + lost
        assert file.read_bytes() == remote_access(minutes=left + gained, status=0)


async def test_the_credits_of_door_sys_are_raised_where_the_board_reads_them_back(
    tmp_path, hosts: Hosts
) -> None:
    async with hosts(tmp_path) as host:
        agreed(host, "door.sys", **GENEROUS)
        file = host.node(1) / "DOOR.SYS"
        file.write_bytes(text(*door_sys(node="1", event="00:00")))
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.comes_in()
        await visit.sits_down()
        await visit.plays_until(is_ahead)
        visit.gets(END)
        assert await visit.ends(within=2.0) == 0
        credits = 15 + host.won // MINUTE
        assert file.read_bytes() == text(*door_sys(node="1", event="00:00", credit=str(credits)))


async def test_nothing_is_written_where_nobody_said_that_it_is_read(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        agreed(host, "auto", **GENEROUS)
        file = host.node(1) / "DOOR.SYS"
        file.write_bytes(before := text(*door_sys(node="1", event="00:00")))
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.comes_in()
        await visit.sits_down()
        await visit.plays_until(is_ahead)
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        assert file.read_bytes() == before
        assert host.balances(NAME)["bank"] == host.won


async def test_a_file_that_has_gone_leaves_it_in_our_bank(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit, minutes = await wins(host)
        (host.node(1) / "DOOR32.SYS").unlink()
        await visit.gets_up()
        assert await visit.goes() == 0
        assert visit.terminal.shows(f"Xibalba can't take your {minutes} minutes just now")
        assert host.given_back() == [(minutes, "kept")]
        assert host.balances(NAME)["bank"] == host.won


async def test_the_hosts_event_ends_the_time_and_stands_in_the_status_line(
    tmp_path, hosts: Hosts
) -> None:
    async with hosts(tmp_path) as host:
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


async def test_a_hand_is_stood_when_the_minutes_brought_are_used_up(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        file = host.door32()
        said = file.read_text().replace("Synchronet 3.20b", "WWIV 5.9")
        file.write_text(said.replace("\n60\n", "\n500\n"))  # which counts seconds
        host.config.path.write_text(
            host.config.path.read_text().replace('["Synchronet"]', '["WWIV"]')
        )
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.comes_in()
        await visit.sits_down()
        await open_a_hand(visit)
        staked = host.balances(NAME)["stake"]
        assert staked == MINUTE
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
        debt = host.visits_told()[0]["debt_added"]
        assert isinstance(debt, int)
        file.write_text(said.replace("\n60\n", f"\n{debt + staked + 8}\n"))
        again = await host.on_terminal("--dropfile", str(file))
        await again.prompt("Press any key")
        again.presses(" ")
        # Whether the caller goes on after it is for the cards to say.
        await again.terminal.wait_for(
            lambda _: host.balances(NAME)["stake"] == 0, "the hand that is stood", 60
        )
        again.gets(HANG_UP)
        assert await again.ends() == 0
