"""`door run` as each host starts it: on a terminal, on a socket handed down, called back."""

from __future__ import annotations

from tests import ROOT
from tests.door.hosting import BOARD, HANG_UP, Host, Visit, hosted
from tests.door.processes import HIT, open_a_hand, question, stand

ENIGMA = ROOT / "tests/door/dropfiles/data/enigma/door32.sys"


def actions(host: Host) -> int:
    """Return how many actions were taken at the tables."""
    with host.books() as desk:
        rows = desk.connection.exec_driver_sql("SELECT count(*) FROM actions")
        count: int = rows.scalar_one()
        return count


async def a_second_passes(visit: Visit) -> None:
    before = visit.terminal.row(23)
    await visit.terminal.wait_for(lambda here: here.row(23) != before, "the next second")


async def test_a_caller_on_a_terminal_plays_and_takes_time_home(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.prompt("Take a one-minute tour?")
        assert visit.terminal.shows("Moth@Xibalba")
        assert visit.terminal.shows("You bring 60 minutes from Xibalba.")
        await visit.presses("n").prompt("oodbye")
        assert 3500 < visit.time_left <= 3600
        assert "Node 1 " in visit.terminal.row(23)
        await visit.presses("b").prompt("<B>et")
        await open_a_hand(visit)
        await stand(visit)
        await visit.gets_up()
        assert await visit.goes() == 0
        assert host.balances("Moth@Xibalba")["online"] == 0
        (told,) = host.visits_told()
        assert told["brought"] == 3600
        assert told["closed"] is not None


async def test_nothing_is_echoed_twice_and_no_line_stairs(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32(emulation=0)))
        await visit.terminal.until("Take a one-minute tour?")
        visit.presses("n")
        await visit.terminal.until("oodbye")
        assert b"\xff" not in visit.terminal.received
        bare = visit.terminal.received.replace(b"\r\n", b"")
        assert b"\n" not in bare
        assert b"\x1b" not in bare, "ASCII means that not one escape sequence is sent"


async def test_a_host_that_wants_to_be_called_back_is(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.called_back("--dropfile", str(host.door32()))
        await visit.comes_in()
        assert await visit.goes() == 0
        await visit.terminal.until_closed()


async def test_through_enigma_suits_are_letters_and_no_byte_is_a_control(tmp_path) -> None:
    toml = BOARD.replace("aliases", "minutes = 60\naliases")
    async with hosted(tmp_path, at_server=True, toml=toml) as host:
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


async def test_the_arrows_of_doorway_mode_take_no_card(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
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


async def test_a_code_leads_straight_to_its_table_and_home_from_there(tmp_path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()), "--door", "b")
        await visit.reads_welcome()
        await visit.prompt("<B>et")
        visit.presses("q")
        await visit.terminal.until("You go back to")
        visit.presses(" ")
        assert await visit.ends() == 0
