"""`door run` as each host starts it: on a terminal, on a socket handed down, called back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests import ROOT
from tests.door.hosting import ANSI, BOARD, HANG_UP, Host, Visit, hosted
from tests.door.processes import HIT, open_a_hand, question, stand
from tests.door.run.conftest import Hosts

REAL = ROOT / "tests/door/dropfiles/data"
ENIGMA, MAGICKA = REAL / "enigma" / "door32.sys", REAL / "magicka" / "door.sys"


def actions(host: Host) -> int:
    """How often anybody has done something at a table."""
    with host.books() as desk:
        found = desk.connection.exec_driver_sql("SELECT count(*) FROM actions")
        count: int = found.scalar_one()
        return count


async def a_second_passes(visit: Visit) -> None:
    before = visit.terminal.row(23)
    await visit.terminal.wait_for(lambda here: here.row(23) != before, "the next second")


async def test_a_caller_on_a_terminal_plays_and_takes_time_home(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.prompt("Take a one-minute tour?")
        assert visit.terminal.shows("Moth@Xibalba")
        assert visit.terminal.shows("You bring 60 minutes from Xibalba.")
        visit.presses("n")
        await visit.prompt("oodbye")
        assert 3500 < visit.time_left <= 3600
        assert "Node 1 " in visit.terminal.row(23)
        visit.presses("b")
        await visit.prompt("<B>et")
        await open_a_hand(visit)
        await stand(visit)
        await visit.gets_up()
        assert await visit.goes() == 0
        assert host.balances("Moth@Xibalba")["online"] == 0
        (told,) = host.visits_told()
        assert told["brought"] == 3600
        assert told["closed"] is not None


async def test_limits_of_ones_own_hold_in_a_door_process(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.comes_in()
        visit.presses("yom")
        await visit.terminal.until("Minutes you can lose in a day")
        visit.presses("9\r")
        await visit.terminal.until("Today you can stake 9 minutes more.")
        visit.presses("h")
        await visit.terminal.until("Hourly word          on")
        visit.presses("qq")
        await visit.prompt("oodbye")
        await visit.sits_down()
        await visit.asks_to_bet()
        visit.presses("10\r")
        await visit.terminal.until("By the limit you set yourself you can stake 9 minutes more")
        visit.presses("\x1b")
        await visit.prompt("<B>et")
        visit.presses("q")
        await visit.prompt("oodbye")
        visit.presses("yop")
        await visit.terminal.until("Days without a bet")
        visit.presses("2\r")
        await visit.terminal.until("Place no bet for 2 days?")
        visit.presses("y")
        await visit.terminal.until("no bets before")
        visit.presses("qq")
        await visit.prompt("oodbye")
        visit.presses("bb")
        await visit.terminal.until("You've paused yourself: you can bet again at")
        assert host.balances("Moth@Xibalba")["stake"] == 0


async def test_nothing_is_echoed_twice_and_no_line_stairs(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32(emulation=0)))
        await visit.terminal.until("Take a one-minute tour?")
        visit.presses("n")
        await visit.terminal.until("oodbye")
        assert b"\xff" not in visit.terminal.received
        bare = visit.terminal.received.replace(b"\r\n", b"")
        assert b"\n" not in bare
        assert b"\x1b" not in bare, "ASCII means that not one escape sequence is sent"


async def test_a_socket_that_is_handed_down_is_found_by_the_drop_file(
    tmp_path, hosts: Hosts
) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.on_socket("--dropfile", str(host.node(1)))
        await visit.comes_in()
        assert await visit.goes() == 0


async def test_a_host_that_wants_to_be_called_back_is(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.called_back("--dropfile", str(host.door32()))
        await visit.comes_in()
        assert await visit.goes() == 0
        await visit.terminal.until_closed()


async def test_a_window_of_which_the_host_says_nothing_is_asked_for_its_size(
    tmp_path, hosts: Hosts
) -> None:
    window = replace(ANSI, reports_cursor=True, columns=132, rows=36)
    async with hosts(tmp_path) as host:
        visit = await host.called_back("--dropfile", str(host.door32()), profile=window)
        await visit.terminal.wait_for(
            lambda terminal: (
                "one-minute tour?" in terminal.row(34) and "Node 1" in terminal.row(35)
            ),
            "the prompt and the status line in the last two rows",
        )
        visit.gets(HANG_UP)
        assert await visit.ends() == 0


async def test_a_page_length_of_25_is_no_window_of_25_rows(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        file = host.node(1) / "DOOR.SYS"
        file.write_bytes(MAGICKA.read_bytes())
        visit = await host.called_back("--dropfile", str(file), name="Ann@Xibalba")
        await visit.comes_in()
        assert "Node 1 " in visit.terminal.row(23)
        assert "Leave" not in visit.terminal.row(23)
        assert await visit.goes() == 0


async def test_through_enigma_suits_are_letters_and_no_byte_is_a_control(
    tmp_path, hosts: Hosts
) -> None:
    async with hosts(tmp_path, toml=BOARD.replace("aliases", "minutes = 60\naliases")) as host:
        file = host.node(1) / "door32.sys"
        file.write_bytes(ENIGMA.read_bytes())
        visit = await host.on_terminal("--dropfile", str(file), name="Ann@Xibalba")
        await visit.comes_in()
        await visit.sits_down()
        await open_a_hand(visit)
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
        sent = set(visit.terminal.received)
        assert {byte for byte in sent if byte < 0x20} <= set(b"\r\n\x1b\a\b")
        assert {0xB3, 0xC4} <= sent, "boxes are boxes"
        (told,) = host.visits_told()
        assert (told["shown"], told["brought"]) == (None, 3600)


async def test_the_arrows_of_doorway_mode_take_no_card(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()), "--door", "BJFT")
        await visit.reads_welcome()
        await visit.prompt("<B>et")
        while True:
            await open_a_hand(visit)
            if await question(visit) == HIT:
                break
            visit.presses("n")
        before = actions(host)
        await a_second_passes(visit)
        visit.presses("\0H\0P\0S\0D")
        await a_second_passes(visit)
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
        assert actions(host) == before


async def test_the_environment_of_synchronet_is_enough(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        host.door32(2)
        said = {"SBBSNODE": f"{host.node(2)}/", "SBBSNNUM": "2"}
        visit = await host.on_terminal(environment=said)
        await visit.comes_in()
        assert "Node 2 " in visit.terminal.row(23)
        assert await visit.goes() == 0


@pytest.mark.parametrize("code", ["BJFT", "black-jack-for-time", "b"])
async def test_a_code_leads_straight_to_its_table_and_home_from_there(
    tmp_path, hosts: Hosts, code
) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()), "--door", code)
        await visit.reads_welcome()
        await visit.prompt("<B>et")
        visit.presses("q")
        await visit.terminal.until("Press any key to go back")
        visit.presses(" ")
        assert await visit.ends() == 0


async def test_a_caller_nothing_is_known_of_is_asked_once_what_the_screen_shows(
    tmp_path,
    hosts: Hosts,
) -> None:
    async with hosts(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32(emulation="?")))
        await visit.terminal.until("Which of these boxes looks right?")
        await visit.terminal.until("Your choice (Enter for 1)?")
        visit.presses("\r")
        await visit.comes_in()
        assert await visit.goes() == 0
        visit = await host.on_terminal("--dropfile", str(host.door32(emulation="?")))
        await visit.comes_in()
        assert "Which of these" not in visit.terminal.transcript


async def test_time_with_the_host_ends_the_call(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        file = host.door32()
        file.write_text(
            file.read_text().replace("Synchronet 3.20b", "WWIV 5.9").replace("\n60\n", "\n4\n")
        )
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.reads_welcome()
        await visit.terminal.until("Xibalba wants you back: your time here is up.", 60)
        await visit.terminal.until("Press any key to go back")
        visit.presses(" ")
        assert await visit.ends() == 0


async def test_the_second_visit_waits_for_no_lease_of_a_killed_one(tmp_path) -> None:
    async with hosted(tmp_path) as host:
        first = await host.on_terminal("--dropfile", str(host.door32()))
        await first.comes_in()
        first.process.kill()
        await first.ends()
        second = await host.on_terminal("--dropfile", str(host.door32()))
        await second.prompt("Press any key")
        assert second.terminal.shows("Your last call here was cut off")
        second.gets(HANG_UP)
        assert await second.ends() == 0


async def test_a_caller_on_two_nodes_takes_the_call_over(tmp_path, hosts: Hosts) -> None:
    async with hosts(tmp_path) as host:
        first = await host.on_terminal("--dropfile", str(host.door32(1)))
        await first.comes_in()
        second = await host.on_terminal("--dropfile", str(host.door32(2)))
        await second.terminal.until("Drop that call and continue here?")
        second.presses("y")
        await second.comes_in()
        await first.terminal.until("You've logged on from another connection.", seconds=20)
        assert await first.ends() == 0
        assert await second.goes() == 0
