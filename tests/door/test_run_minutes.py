"""Whose minutes they are, from the drop file to what the host is given back."""

from __future__ import annotations

import pytest

from tests.door.hosting import END, GENEROUS, HANG_UP, KILL, MISERLY, Host, Visit, hosted

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
    """Play until more was won than lost; return how many whole minutes are his then."""
    host.house(**GENEROUS)
    visit = await at_the_table(host)
    await visit.plays_until(is_ahead)
    return visit, host.won // MINUTE


async def test_what_he_won_goes_back_to_his_own_bank_with_synchronet(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit, minutes = await wins(host)
        await visit.gets_up()
        assert await visit.goes() == 0
        assert visit.terminal.shows(f"{minutes} minutes go back to Xibalba.")
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]
        assert host.balances(NAME)["bank"] == 0


@pytest.mark.parametrize("number", [HANG_UP, END])
async def test_a_host_that_ends_the_call_finds_it_within_two_seconds(tmp_path, number) -> None:
    async with hosted(tmp_path) as host:
        visit, minutes = await wins(host)
        visit.gets(number)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]
        assert host.balances(NAME)["online"] == 0


async def test_the_signals_of_a_host_that_hurries_change_nothing(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit, minutes = await wins(host)
        for number in (HANG_UP, END, HANG_UP, END):
            visit.gets(number)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes


async def test_a_door_that_was_killed_gives_it_back_at_the_next_visit(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit, minutes = await wins(host)
        visit.gets(KILL)
        await visit.ends()
        assert host.moduser() is None
        again = await host.on_terminal("--dropfile", str(host.door32()))
        await again.prompt("Press any key")
        assert again.terminal.shows("Your last call here was cut off")
        assert again.terminal.shows(f"{minutes} minutes of an earlier visit go back to Xibalba")
        again.gets(HANG_UP)
        assert await again.ends() == 0
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]


async def test_who_loses_and_comes_again_earns_nothing(tmp_path) -> None:
    """He loses thirty minutes, comes again with the sixty of the host, and wins some back."""
    async with hosted(tmp_path) as host:
        host.house(**MISERLY)
        visit = await at_the_table(host)
        await visit.plays_until(lambda host: host.won <= -30 * MINUTE, coins=10)
        await visit.gets_up()
        assert await visit.goes() == 0
        lost = -host.won
        host.house(**GENEROUS)
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.prompt("Press any key")
        assert visit.terminal.shows(f"{lost // MINUTE} minutes that you lost here today")
        visit.presses(" ")
        await visit.prompt("ood-bye")
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
        assert again.terminal.shows("are in your time bank here.")
        assert host.moduser() is None


async def test_he_is_never_shown_minutes_that_the_host_does_not_give_him(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit, minutes = await wins(host)
        assert visit.time_left <= 60 * MINUTE
        pot, _ = visit.figure("Pot").split()
        assert int(pot) in (59 + minutes, 60 + minutes), "what he won can be bet all the same"
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
