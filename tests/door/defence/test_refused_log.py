"""The log of refusals: one line each, its cause, and the match by fail2ban."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from door.defence.counts import MANY
from door.lines.blame import Blame
from door.lines.rlogin import rlogin
from tests import ROOT
from tests.certificates import put_into
from tests.door.strangers import CAFE, HOME, VILLAIN, Stranger, defended, refusals
from tests.door.visiting import MENU, event
from tests.world import PASSWORD, World, world
from timebank.callers import callers

SHIPPED = ROOT / "door" / "setup" / "files" / "fail2ban"
PATIENCE = 120.0  # seconds
FLOOD = b"\xff\xf1" * 45_000
TELNETS = (
    '[[listeners]]\nkind = "telnets"\nhost = "127.0.0.1"\nport = 0\n'
    'certificate = "certificate.pem"\nkey = "key.pem"\n'
)
RLOGIN = '[[listeners]]\nkind = "rlogin"\nhost = "127.0.0.1"\nport = 0\n'
BOARD_OF_CAFE = f"""
[boards.Xibalba]
addresses = ["{CAFE}"]
secret = "jaguar"
"""


def every_port(folder: Path, **rules: object) -> str:
    """A sysop.toml for telnet, telnets and rlogin, in this order."""
    put_into(folder)
    return defended(**rules) + TELNETS + RLOGIN


async def throws(board: World, port: int, data: bytes, source: str = VILLAIN) -> None:
    """Send this to a port, and wait until the board hangs up or breaks the connection."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", board.server.ports[port], local_addr=(source, 0)
    )
    writer.write(data)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(reader.read(), return_exceptions=True)
    writer.close()


async def logged(board: World, lines: int) -> list[str]:
    """The log, once it has so many lines: some are written a moment after the line has gone."""
    async with asyncio.timeout(PATIENCE):
        while len(refusals(board)) < lines:
            await board.settled()
    return refusals(board)


async def test_abuse_of_every_port_is_a_line_that_names_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rlogin, "USUAL_LIMITS", replace(rlogin.USUAL_LIMITS, header=0.05))
    async with world(tmp_path, toml=every_port(tmp_path)) as board:
        await throws(board, 0, FLOOD)
        await throws(board, 1, b"GET / HTTP/1.1\r\n\r\n")
        await throws(board, 2, b"GET / HTTP/1.1\r\n\r\n")
        await throws(board, 2, b"\0Ada\0")
        lines = await logged(board, 4)
    assert [re.sub("no TLS: .*", "no TLS", line) for line in lines] == [
        f"refused {VILLAIN}: cut off: more than 500 telnet commands in a burst",
        f"refused {VILLAIN}: cut off: no TLS",
        f"refused {VILLAIN}: cut off: rlogin: it does not begin with a NUL, so it is not rlogin",
        f"refused {VILLAIN}: cut off: rlogin: no header in 0.05 seconds",
    ]


async def test_a_known_board_is_not_banned_for_a_name_of_its_callers(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=every_port(tmp_path) + BOARD_OF_CAFE) as board:
        await throws(board, 2, b"\0jaguar\0\0ansi\0", source=CAFE)
        assert await logged(board, 1) == [
            f"turned away {CAFE}: cut off: rlogin: the log-on name is empty"
        ]


async def test_one_call_is_one_line_whatever_error_it_raises(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(calls_per_minute=3)) as board:
        for _ in range(4):
            await throws(board, 0, FLOOD)
        lines = await logged(board, 4)
    assert (
        lines[:3] == [f"refused {VILLAIN}: cut off: more than 500 telnet commands in a burst"] * 3
    )
    assert lines[3:] == [f"refused {VILLAIN}: too many calls in a minute"]


async def test_a_refusal_is_one_line_that_names_the_cause(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended()) as board:
        for name in ("Ada", "Locked"):
            board.enter(name)
        with board.books() as desk:
            callers.set_locked(desk, callers.number_named(desk, "Locked"), True)
        locked, slow, late = (
            Stranger(board, name, at)
            for name, at in (("Locked", VILLAIN), ("Ada", HOME), ("Ada", CAFE))
        )
        await locked.connects()
        await locked.tries(PASSWORD)
        await locked.is_told("The sysop has locked your name.")
        await slow.connects()
        await slow.is_asked("Name:")
        await board.pass_time(180)
        await slow.is_told("Logging on took too long.")
        board.server.board.draining = True
        await late.connects()
        await late.is_told("The board is closing and takes no more calls.")
        assert refusals(board) == [
            f"refused {VILLAIN}: the name is locked",
            f"turned away {HOME}: the log-on took too long",
            f"turned away {CAFE}: no calls are taken just now",
        ]


async def test_a_full_board_and_a_closed_one_turn_callers_away(tmp_path: Path) -> None:
    toml = defended().replace("[calls]", "[calls]\nnodes = 1")
    toml = toml.replace("events = []\n", "") + event("Mail hour", "13:00")
    async with world(tmp_path, toml=toml) as board:
        for name in ("Ada", "Bob"):
            board.enter(name)
        await Stranger(board, "Ada", HOME).is_let_in()
        bob = Stranger(board, "Bob", CAFE)
        await bob.connects()
        await bob.tries(PASSWORD)
        await bob.is_told("Every node is busy.")
        await board.pass_time(60 * 60)
        await bob.connects()
        await bob.is_told("The board is closed for Mail hour")
        assert refusals(board) == [
            f"turned away {CAFE}: every node is taken",
            f"turned away {CAFE}: the board is closed for an event",
        ]


async def test_three_wrong_passwords_are_three_lines_and_a_lost_carrier_is_none(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=defended()) as board:
        await Stranger(board, "Ada", VILLAIN).is_wrong(3)
        gone = Stranger(board, "", CAFE)
        await gone.connects()
        await gone.is_asked("Name:")
        gone.terminal.abort()
        await board.server.stop("The board is closing.")
        assert refusals(board) == [f"refused {VILLAIN}: wrong name or password"] * 3


# fail2ban


ACCOMPLICES = [f"127.0.1.{number}" for number in range(MANY - 1)]
BANNED = [*[VILLAIN] * 5, *ACCOMPLICES, "2001:db8::66"]


async def a_log_of_every_kind(folder: Path) -> Path:
    """VILLAIN and ACCOMPLICES have done something in every line of theirs, CAFE nothing in any."""
    toml = every_port(folder, calls_per_minute=5, wrong_passwords=1)
    async with world(folder, toml=toml) as board:
        board.enter("Ada")
        await throws(board, 0, FLOOD)
        await throws(board, 1, bytes(5000))
        await throws(board, 2, b"Ada\r")
        villain = Stranger(board, "Ada", VILLAIN)
        await villain.is_wrong(1)
        await villain.connects()
        await villain.tries("guessed")
        await villain.waits("30:00")  # which is no line that counts
        another = Stranger(board, "Ada", VILLAIN)
        await another.connects()
        await another.is_told("Too many calls from your address.")
        for address in ACCOMPLICES:
            await Stranger(board, "Ada", address).is_wrong(1)
        await logged(board, 6 + len(ACCOMPLICES))
        ada = Stranger(board, "Ada", CAFE)
        await ada.connects()
        await ada.tries(PASSWORD)
        await ada.waits("3:00")
        await board.clock.advance(3 * 60)
        await ada.goes_on_to(MENU)
        reception = board.server.board.reception
        reception.not_known("2001:db8::66", "no trusted board calls from this address")
        reception.malformed(CAFE, "it does not begin as a PROXY header")
        reception.cut_off(CAFE, Blame("300000 bytes left unread", own_fault=False))
        board.server.board.draining = True
        innocent = Stranger(board, "", CAFE)
        await innocent.connects()
        await innocent.is_told("The board is closing and takes no more calls.")
    return folder / "data" / "refused.log"


def the_filter() -> tuple[str, str]:
    """The expression for a line and the form of its date, as the shipped filter has them."""
    text = (SHIPPED / "filter.d" / "bjft.conf").read_text(encoding="utf-8")
    keys = dict(re.findall(r"^(failregex|datepattern) = (.*)$", text, flags=re.M))
    return keys["failregex"], keys["datepattern"]


async def test_the_filter_matches_refusals_and_skips_callers_turned_away(
    tmp_path: Path,
) -> None:
    log = await a_log_of_every_kind(tmp_path)
    expression, date = the_filter()
    assert date == "^%%Y-%%m-%%dT%%H:%%M:%%S%%z"
    dated = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}")
    line_of = re.compile(expression.replace("<ADDR>", r"(?P<address>[0-9a-f.:]+)"))
    banned = []
    for line in log.read_text(encoding="ascii").splitlines():
        assert dated.match(line), line
        # fail2ban takes the date out of the line before it looks.
        if match := line_of.match(dated.sub("", line)):
            banned.append(match["address"])
    assert banned == BANNED
    text = log.read_text(encoding="ascii")
    assert text.count(CAFE) == 4
    assert f"delayed {CAFE}: wrong passwords for that name or from this address" in text


async def test_fail2ban_itself_reads_the_log_with_the_filter(tmp_path: Path) -> None:
    program = shutil.which("fail2ban-regex")
    if program is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "fail2ban must be here"
        return
    log = await a_log_of_every_kind(tmp_path)
    done = await asyncio.to_thread(
        subprocess.run,
        [program, "--out", "ip", log, SHIPPED / "filter.d" / "bjft.conf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == BANNED, done.stdout + done.stderr
