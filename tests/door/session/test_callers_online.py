"""Callers on line, here and on other servers."""

from pathlib import Path

from tests.door.several import servers
from tests.door.visiting import MENU, seated, sysop_toml, visitor
from tests.terminal import REFUSING
from tests.world import newcomer, world
from timebank.callers import callers
from timebank.calls.calls import open_call


async def test_callers_of_other_processes_are_listed_as_well(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        caller = await newcomer(board, "Alice")
        with board.books() as desk:
            bob = callers.register(desk, "Bob", "no password fits this")
            open_call(
                desk, bob.id, node=7, process="elsewhere:1", address="192.0.2.7", take_over=False
            )
        await caller.send("w").until("Bob")
        rows = [row.split() for row in caller.lines if row.strip()]
        assert ["1", "Alice", "Who", "is", "on", "0:00"] in rows
        assert ["7", "Bob", "on", "another", "line", "0:00"] in rows


async def test_the_list_shows_the_game_of_a_caller_of_another_server(
    tmp_path: Path, bank: str
) -> None:
    async with servers(tmp_path, bank, toml=sysop_toml(events="")) as (here, there):
        ada = await visitor(here, "Ada", profile=REFUSING)

        async def reads_of_bob(place: str) -> None:
            await ada.terminal.wait_for(
                lambda _: f"Bob {place}" in " ".join(ada.screen.split()), f"Bob {place}"
            )

        bob = await seated(there, "Bob")
        ada.presses("w")
        await reads_of_bob("on ")
        await ada.presses(" ").is_asked(MENU)
        await bob.bets(5, "hit")
        ada.presses("w")
        await reads_of_bob("Black Jack For Time")
