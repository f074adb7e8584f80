"""The Vegas table from a door process: the server's, with everybody."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
import tomlkit

from door.setup import host_boards, new_board
from door.setup.answers import BoardAnswers
from door.setup.host_boards import KINDS, HostSetup
from tests.door.hosting import HANG_UP, Host, Visit, hosted
from tests.door.playing import Table
from tests.door.processes import arrives
from tests.door.shell import Shell
from tests.long import long
from tests.terminal import MODERN
from tests.world import log_on

NAME = "Moth@Xibalba"
AT_TABLE = "Tal<k>"


async def sits_at_vegas(visit: Table) -> None:
    visit.terminal.send("v")
    await visit.prompt(AT_TABLE)


async def at_vegas(host: Host, node: int = 1, user: int = 42, alias: str = "Moth") -> Visit:
    file = host.door32(node, user=user, alias=alias)
    visit = await host.on_terminal("--dropfile", str(file), name=f"{alias}@Xibalba")
    await visit.comes_in()
    await sits_at_vegas(visit)
    return visit


async def local(host: Host, name: str) -> Table:
    """A caller of our own at the same table."""
    host.enter(name)
    table = Table(host, await host.call(MODERN), name)
    await log_on(table.terminal, name)
    await arrives(table)
    await sits_at_vegas(table)
    return table


async def bets(player: Table) -> None:
    player.terminal.send("b")
    await player.prompt("Coins to bet")
    player.terminal.send("1\r")


async def changes(player: Table, prompt: str) -> None:
    await player.terminal.wait_for(lambda _: player.prompt_row != prompt, "what follows")


def set_up(folder: Path, board: str) -> str:
    """The settings of a new board after `door setup`, as the guides have it done."""
    config = folder / "sysop.toml"
    answers = BoardAnswers(name="The Test Board", zone="UTC", port=0, sysop="Sysop")
    made = tomlkit.parse(new_board.settings(answers))
    made.pop("events")
    made["board"]["animation"] = "off"
    config.write_text(f"events = []\n{tomlkit.dumps(made)}", encoding="utf-8")
    result = Shell(config)("setup", board, "--name", "Xibalba")
    assert (result.status, result.error) == (0, "")
    return config.read_text(encoding="utf-8")


async def at_vegas_from(host: Host, board: str, node: int, alias: str) -> Visit:
    setup = HostSetup(KINDS[board], "Xibalba", host.folder)
    lines = host_boards.drop_file(setup).decode("cp437").splitlines()
    lines[4:7], lines[10] = [str(40 + node), alias, alias], str(node)
    file = host.node(node) / host_boards.DROP_FILE
    file.write_text("".join(f"{line}\n" for line in lines), encoding="cp437")
    words = ("--stdio", "--board", "Xibalba", "--dropfile", str(file))
    visit = await host.on_terminal(*words, name=f"{alias}@Xibalba")
    await visit.comes_in()
    await sits_at_vegas(visit)
    return visit


@pytest.mark.parametrize("board", [key for key, kind in KINDS.items() if kind.starts_doors])
async def test_after_a_guided_setup_two_callers_sit_at_one_table(
    tmp_path: Path, board: str
) -> None:
    async with hosted(tmp_path, toml=set_up(tmp_path, board), at_server=True) as host:
        moth = await at_vegas_from(host, board, 1, "Moth")
        bee = await at_vegas_from(host, board, 2, "Bee")
        await moth.terminal.until("Bee@Xibalba")
        await bee.terminal.until("Moth@Xibalba")


async def test_callers_of_a_board_and_of_the_house_sit_at_one_table(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        ada = await local(host, "Ada")
        moth = await at_vegas(host)
        await ada.terminal.until("Moth@Xibalba")
        await moth.terminal.until("Ada")
        await moth.presses("k").prompt("Say:")
        moth.presses("good evening\r")
        await ada.terminal.until("good evening")
        await bets(moth)
        await moth.prompt("Change <b>et")
        await ada.terminal.wait_for(
            lambda terminal: re.search(r"Moth@Xibalba +1 coin", terminal.picture) is not None,
            "the bet",
        )
        await moth.presses("q").prompt("oodbye")
        assert await moth.goes() == 0


@pytest.mark.parametrize("number", [long(HANG_UP), signal.SIGKILL])
async def test_a_caller_who_hangs_up_has_left_the_table(tmp_path: Path, number: int) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        ada = await local(host, "Ada")
        moth = await at_vegas(host)
        await ada.terminal.until("Moth@Xibalba")
        moth.gets(number)
        await moth.ends(within=2.0)
        await ada.terminal.until("Moth@Xibalba has left the table")
