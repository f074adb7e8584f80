"""Callers sent by other boards by rlogin, at a whole board: trust and identity."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from door.call.terminal import ASK_LETTERS
from door.server import rlogin_calls
from tests.door.lines.host import FarEnd
from tests.door.visiting import visitor
from tests.terminal import Profile, Terminal
from tests.world import BOARD, World, world

XIBALBA = """
[[listeners]]
kind = "rlogin"
host = "127.0.0.1"
port = 0
[boards.Xibalba]
addresses = ["127.0.0.1"]
secret = "jaguar"
minutes = 45
"""
PARTY = """
[boards.Party]
addresses = ["127.0.0.1"]
convention = "doorparty"
tag = "ACME"
"""
ANSI = Profile(charset="cp437", answers=False)
ANSWERING = replace(ANSI, reports_cursor=True, columns=100, rows=40)
UNICODE = replace(ANSWERING, charset="utf-8")
TOUR = "Take a one-minute tour?"
SAID = b"\0jaguar\0Ada\0syncterm/115200\0"


class Sent(Terminal):
    """A caller's terminal behind another board, which says the header for them."""

    async def says(self, header: bytes) -> None:
        self.send(header)
        await self.wait_for(lambda _: bool(self.received), "an answer")
        assert self.received[:1] == b"\0"


@asynccontextmanager
async def board(folder: Path, toml: str = BOARD + XIBALBA) -> AsyncIterator[World]:
    async with world(folder, toml=toml) as here:
        yield here


async def sent(
    here: World, header: bytes, host: str = "127.0.0.1", profile: Profile = ANSI
) -> Sent:
    terminal = Sent(profile)
    await terminal.connect(here.server.ports[1], host=host)
    here.terminals.append(terminal)
    await terminal.says(header)
    return terminal


async def is_refused(here: World, header: bytes) -> bytes:
    """Say a header, and return all that comes until the board hangs up."""
    with socket.create_connection(("127.0.0.1", here.server.ports[1])) as wire:
        far = FarEnd(wire.detach())
    far.types(header)
    await far.until_ended()
    far.close()
    return bytes(far.shown)


async def test_a_believed_boards_caller_brings_its_minutes_and_needs_no_password(tmp_path) -> None:
    async with board(tmp_path) as here:
        terminal = await sent(here, SAID)
        await terminal.until(TOUR)
        assert terminal.shows("Ada@Xibalba")
        assert terminal.shows("You bring 45 minutes from Xibalba.")
        await terminal.send("n").until("oodbye")
        assert terminal.shows("Time left 45:00")
        assert "assword" not in terminal.transcript
        await terminal.send("y").until("Your settings")
        assert not terminal.shows("assword")


@pytest.mark.usefixtures("ipv6")
@pytest.mark.parametrize("network", ["::1", "::/64"])
async def test_a_board_may_call_over_ipv6_and_be_known_by_its_network(tmp_path, network) -> None:
    toml = XIBALBA.replace('["127.0.0.1"]', f'["{network}"]').replace("127.0.0.1", "::1")
    async with board(tmp_path, BOARD + toml) as here:
        terminal = await sent(here, SAID, host="::1")
        await terminal.until("Ada@Xibalba")


async def test_a_guest_is_not_the_local_caller_of_that_name(tmp_path) -> None:
    async with board(tmp_path) as here:
        here.enter("Ada", saved=600)
        terminal = await sent(here, SAID)
        await terminal.until("Ada@Xibalba")
        with here.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT name, board, board_key FROM callers ORDER BY id"
            ).all()
        assert [tuple(row) for row in rows] == [
            ("Ada", None, None),
            ("Ada@Xibalba", "Xibalba", "name:ada"),
        ]
        assert here.balances("Ada@Xibalba")["bank"] == 0


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"\0puma\0Ada\0ansi\0", "the secret is not the one that was agreed on"),
        (b"\0jaguar\0[ACME]Ada\0ansi\0", "no board at this address has the tag of its callers"),
    ],
)
async def test_others_are_refused_with_a_reason_for_the_log_alone(
    tmp_path, caplog, header, reason
) -> None:
    async with board(tmp_path) as here:
        with caplog.at_level(logging.WARNING):
            shown = await is_refused(here, header)
        assert shown.replace(b"\x80", b"") == (
            b"\0This port takes callers of boards that are known here, and yours is not.\r\n"
        )
        assert f"rlogin 127.0.0.1: refused: {reason}" in caplog.messages
        with here.books() as desk:
            assert desk.connection.exec_driver_sql("SELECT * FROM callers").all() == []


@pytest.mark.parametrize(
    ("profile", "shown"), [(ANSWERING, "cp437, in colour"), (UNICODE, "utf-8, in colour")]
)
async def test_a_terminal_unknown_to_the_header_is_queried(tmp_path, profile, shown) -> None:
    async with board(tmp_path) as here:
        terminal = await sent(here, b"\0jaguar\0Ada\0\0", profile=profile)
        await terminal.until(TOUR)
        assert "Which of these boxes" not in terminal.transcript
        await terminal.send("n").until("oodbye")
        assert "Time left" in terminal.row(profile.rows - 1)
        await terminal.send("y").until(shown)


async def test_with_xtrn_the_table_is_painted_at_once_and_as_large_as_the_window(tmp_path) -> None:
    async with board(tmp_path) as here:
        terminal = await sent(here, b"\0jaguar\0Ada\0xtrn=BJFT\0", profile=ANSWERING)
        await terminal.until(TOUR)
        assert "Which of these boxes" not in terminal.transcript
        await terminal.send("n").until("<B>et")
        assert "Time left" in terminal.row(ANSWERING.rows - 1)


async def test_xtrn_leads_straight_to_a_table_and_home_from_there(tmp_path) -> None:
    async with board(tmp_path) as here:
        terminal = await sent(here, b"\0jaguar\0Ada\0xtrn=bjft\0")
        await terminal.wait_for(lambda _: ASK_LETTERS in terminal.received, "a question")
        await here.clock.advance(rlogin_calls.ANSWER_SECONDS)  # this terminal has no answer
        await terminal.until("Which of these boxes looks right?")
        await terminal.until("Your choice (Enter for 1)?")
        await terminal.send("\r").until(TOUR)
        await terminal.send("n").until("<B>et")
        await terminal.send("q").until("You go back to")
        terminal.send(" ")
        await terminal.until_closed()


async def test_xtrn_without_a_code_leads_to_the_main_menu(tmp_path) -> None:
    async with board(tmp_path) as here:
        terminal = await sent(here, b"\0jaguar\0Ada\0xtrn=\0", profile=ANSWERING)
        await terminal.until(TOUR)
        await terminal.send("n").until("Your game, or")


def test_a_terminal_query_waits_while_synchronet_holds_the_line() -> None:
    """It queries its caller's terminal for three seconds and passes on nothing meanwhile."""
    assert rlogin_calls.ANSWER_SECONDS > 3.0


async def test_a_guest_is_offered_the_tour_once_and_reads_their_own_boards_time(
    tmp_path,
) -> None:
    async with board(tmp_path) as here:
        terminal = await sent(here, SAID)
        await terminal.until(TOUR)
        await terminal.send("y").until("You play with the time you bring from Xibalba.")
        await terminal.send(" ").until("How a hand goes")
        terminal.send(" ")
        await terminal.until("The time you have left when you leave is yours again at Xibalba.")
        assert not terminal.shows("midnight")
        await terminal.send("q").until("<G>oodbye")
        await terminal.send("?").until("Leave the games, with the time that you have left.")
        await terminal.send("q").until("<G>oodbye")
        await terminal.send("g").until("Leave the games?")
        await terminal.send("y").until("You go back to")
        terminal.send(" ")
        await terminal.until_closed()
        terminal = await sent(here, SAID)
        await terminal.until("Press any key")
        assert TOUR not in terminal.transcript


async def test_a_tag_of_a_party_of_boards_names_the_callers_board(tmp_path) -> None:
    async with board(tmp_path, BOARD + XIBALBA + PARTY) as here:
        terminal = await sent(here, b"\0Ada\0[acme]Ada\0syncterm/115200\0")
        await terminal.until(TOUR)
        assert terminal.shows("Ada@Party")
        assert terminal.shows("You bring 60 minutes from Party.")


async def test_a_caller_sent_by_rlogin_can_talk_to_local_callers_at_once(tmp_path) -> None:
    """No clock moves during this."""
    async with board(tmp_path) as here:
        moth = await sent(here, SAID)
        await moth.until(TOUR)
        await moth.send("n").until("oodbye")
        bob = await visitor(here, "Bob")
        bob.presses("/p Ada@Xibalba how is it over there?\r")
        await moth.until("Bob: how is it over there?")
        moth.send("/r full of moths\r")
        await bob.sees("Ada@Xibalba: full of moths")
