"""`door run --local`: the sysop at their own machine, with no board around."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from door.lines import hand_over
from door.run import relay
from tests.door.hosting import END, hosted
from tests.door.riding import Rider, started_lock
from tests.terminal import MODERN, Profile
from tests.world import world
from timebank.callers import callers, powers, sysop_log

long = pytest.mark.long

CONSOLE = Profile(charset="utf-8", answers=False)
SPOKEN = {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}


@long
@pytest.mark.parametrize("at_server", [False, True])
async def test_the_caller_is_the_sysop_without_a_drop_file_or_a_password(
    tmp_path: Path, at_server: bool
) -> None:
    async with hosted(tmp_path, at_server=at_server) as host:
        visit = await host.on_terminal("--local", name="Sysop", environment=SPOKEN, profile=CONSOLE)
        await visit.terminal.until("You have sysop powers now.")
        await visit.terminal.until("minutes today")
        await visit.presses(" ").prompt("oodbye")
        assert visit.terminal.shows("Good to see you, Sysop.")
        assert "Node 0 " in visit.terminal.row(23)
        await visit.presses("g").prompt("Bank your")
        visit.presses("n")
        assert await visit.ends() == 0
        assert host.visits_told() == [], "the minutes are the board's own"
        with host.books() as desk:
            assert [record.name for record in powers.holders(desk)] == ["Sysop"]
            (line,) = sysop_log.entries(desk, None, 9)
            assert (line.by, line.caller) == ("the command line", "Sysop")
            assert line.what == "Sysop, caller number 1, was entered, with the sysop's powers"
        assert 3590 <= host.balances("Sysop")["online"] <= 3600


async def test_ctrl_c_ends_a_door_that_waits_for_its_server(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        with started_lock(tmp_path):
            visit = await host.on_terminal("--local", name="Sysop", profile=CONSOLE)
            await visit.terminal.until(relay.ONE_MOMENT)
            visit.presses("\x03")
            assert await visit.ends() == -signal.SIGINT
        assert "Traceback" not in visit.terminal.transcript


@long
async def test_a_name_without_a_password_cannot_log_on_over_the_network(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--local", name="Sysop", environment=SPOKEN, profile=CONSOLE)
        await visit.terminal.until("minutes today")
        visit.gets(END)
        assert await visit.ends() == 0
        caller = await host.call(MODERN)
        await caller.until("Name:")
        await caller.send("sysop\r").until("Password:")
        await caller.send("\r").until("Name:")
        await caller.send("sysop\r").until("Password:")
        await caller.send("nobody has this password\r").until("Wrong name or")


@long
async def test_a_caller_with_a_look_alike_of_the_sysops_name_gets_no_local_call(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        with host.books() as desk:
            other = callers.register_kept(desk, "Sysop", "hash", powers=False).id
            callers.rename(desk, other, "5ysop")
            desk.connection.exec_driver_sql("UPDATE callers SET fold = 'sysop'")
        visit = await host.on_terminal("--local", name="Sysop", environment=SPOKEN, profile=CONSOLE)
        await visit.terminal.until("looks like Sysop, your name in sysop.toml")
        await visit.ends()
        with host.books() as desk:
            assert powers.holders(desk) == []


@pytest.mark.parametrize("is_ours", [True, False])
async def test_at_a_server_only_its_own_user_and_root_are_the_sysop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_ours: bool
) -> None:
    """Other users who may hand over callers get no powers."""
    async with world(tmp_path) as board:
        monkeypatch.setattr(hand_over, "is_of", lambda wire, user: is_ours)
        rider = Rider(board)
        rider.words = {"local": ""}
        rider.dials()
        answer, *why = await rider.asks()
        if is_ours:
            assert (answer, why) == (hand_over.WANTED, [hand_over.STDIO])
        else:
            words = [hand_over.VERSION, "2", "This is for the sysop alone."]
            assert (answer, why[:-1]) == (hand_over.REFUSED, words)
        rider.wire.close()
