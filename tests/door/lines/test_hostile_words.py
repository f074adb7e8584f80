"""Text that one person types never acts on another one's terminal.

Each text below is typed where another person reads it: at the log-on (the log), as words that cut
the cards (`door hand`), as a message with a transfer (the receiver's screens, the `timebank`
command), as a name in the header of another board (the log, the list of callers). The tests check
every byte that reaches a terminal or a log.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from door.cli.main import main as door
from tests.door.banking import at_the_window, hears, sends
from tests.door.playing import Table, sit_down
from tests.door.visiting import MENU, Guest, known, sysop_toml, visitor
from tests.terminal import MODERN, PATIENCE, REFUSING, SYNCTERM, Profile, Terminal
from tests.world import PASSWORD, World, world
from timebank.cli.main import main as timebank
from verify.fuzz.oracles import assert_harmless, assert_one_line

# The letters of each would do something if they went out as they came in.
EVIL = (
    b"\x1b]0;title\x07a\x1b[6n\x1b[c\x1b[21t",  # a title, and queries whose answers are keys
    b"\x05\x1bZ\x9bc\x9d0;t\x9c",  # answerback, and the same as single bytes
    b"\xc2\x9b2J\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf",  # C1 as UTF-8, bidi, line end, BOM
    b"|16|12red|07 \\x1b[2J %s {0}",  # pipe codes, and escapes of other programs
    b"e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xe2\x80\x8b\xcc\x85",  # accents upon accents
)
UNREADABLE = EVIL[1]  # to a terminal that speaks UTF-8
READABLE = tuple(evil for evil in EVIL if evil != UNREADABLE)
OPEN = sysop_toml(timebank="known_days = 0")
RLOGIN = """
[[listeners]]
kind = "rlogin"
host = "127.0.0.1"
port = 0
[boards.moth]
addresses = ["127.0.0.1"]
"""
QUESTIONS = (b"\x1b[6n", b"\x1b[c", b"\x1b[0c", b"\x1b[5n", b"\x05", b"\x1bZ", b"t\x1b\\")


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Every line of the log, from the least important one upwards."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler, root = Keep(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield lines
    root.setLevel(level)
    root.removeHandler(handler)
    for line in lines:
        assert_one_line(line)


def assert_clean(*terminals: Terminal) -> None:
    for terminal in terminals:
        cp437 = terminal.profile.charset == "cp437"
        sent = bytes(terminal.received).replace(b"\a", b"")  # the board's own bell
        assert_harmless(sent, cp437=cp437)
        for question in QUESTIONS:
            # In CP437 the clubs are byte 5, and SyncTERM draws them.
            assert question not in sent or (cp437 and question == b"\x05")


def assert_told_clean(command: click.Command, board: World, *words: str) -> str:
    """Check that a command's output is nothing but lines of text."""
    result = CliRunner().invoke(command, [*words, "--config", str(board.config.path)])
    assert result.exit_code == 0, result.output
    for line in result.output.split("\n"):
        assert_one_line(line)
    return result.output


@pytest.mark.parametrize("evil", READABLE, ids=range(len(READABLE)))
async def test_names_and_passwords_typed_at_the_log_on_stay_out_of_the_log(
    tmp_path: Path, log: list[str], evil: bytes
) -> None:
    async with world(tmp_path) as board:
        board.enter("Ada")
        terminal = await board.call()
        for name, password in ((evil, PASSWORD.encode()), (b"Ada", evil), (b"Ada" + evil, b"x")):
            await terminal.until("Name:")
            terminal.send(name)
            await terminal.send(b"x\r").until("Password:")
            terminal.send(password)
            terminal.send(b"y\r")
        await terminal.until("third try")
        assert_clean(terminal)
        assert log
        assert not any(PASSWORD in line for line in log)


async def test_bytes_that_are_no_letters_are_refused_at_the_log_on_and_in_no_log(
    tmp_path: Path, log: list[str]
) -> None:
    async with world(tmp_path) as board:
        board.enter("Ada")
        terminal = await board.call()
        await terminal.until("Name:")
        await terminal.send(UNREADABLE + b"x\r").until("looks right")
        await terminal.send(b"2").until("Name:")
        await terminal.send(b"Ada\r").until("Password:")
        await terminal.send(UNREADABLE + b"x\r").until("can't be read here")
        # The boxes to choose from have the suits of CP437.
        assert_harmless(bytes(terminal.received).replace(b"\a", b""), cp437=True)


@pytest.mark.parametrize(
    ("profile", "evil"),
    [*product([MODERN], READABLE), *product([SYNCTERM], EVIL)],
    ids=range(len(READABLE) + len(EVIL)),
)
async def test_words_that_cut_the_cards_reach_the_sysop_as_words(
    tmp_path: Path, log: list[str], profile: Profile, evil: bytes
) -> None:
    async with world(tmp_path) as board:
        ada = await sit_down(board, "Ada", profile)
        has_cut = await cuts(ada, evil)
        assert_clean(ada.terminal)
        if has_cut:
            output = assert_told_clean(door, board, "hand", "1")
            assert "Cut " in output


async def cuts(ada: Table, evil: bytes) -> bool:
    """Switch the cut on, cut with these words, and place a bet; False if they are refused."""
    await ada.terminal.send("c").until("asked for")
    ada.terminal.send("b")
    await ada.prompt("Your phrase")
    ada.terminal.send(b"lucky " + evil)
    ada.terminal.send(b" duck\r")
    await ada.terminal.wait_for(
        lambda _: "Coins to bet" in ada.prompt_row or "Try other words" in ada.messages,
        "the bet, or a refusal",
    )
    if "Coins to bet" not in ada.prompt_row:
        return False
    await ada.terminal.send("1\r").until("Turns today: 1 of 20")
    await ada.board.settled()
    return True


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
async def test_a_message_with_minutes_is_nothing_but_a_message(
    tmp_path: Path, log: list[str], evil: bytes
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        board.enter("Bob")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends(ada, "bob", 10, "for the tea " + evil.decode("latin-1"))
        await hears(ada, "10 minutes sent to Bob.")
        bob = Guest(board, "Bob")
        await bob.calls(SYNCTERM)
        await bob.sees("for the tea")
        await bob.goes_on_to(MENU)
        assert_clean(ada.terminal, bob.terminal)
        (why,) = {line.why for line in board.lines("Bob") if "sent by" in line.why}
        assert_one_line(why)
        assert "for the tea" in assert_told_clean(timebank, board, "statement", "Bob")


@pytest.mark.parametrize("evil", READABLE, ids=range(len(READABLE)))
async def test_messages_of_callers_contain_printable_text_only(
    tmp_path: Path, log: list[str], evil: bytes
) -> None:
    """A message, to a painted screen and to lines; a line on the wall; talk and a whisper."""
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada")
        bob, cyd = await visitor(board, "Bob", profile=SYNCTERM), Guest(board, "Cyd")
        board.enter("Cyd")
        await cyd.visits(REFUSING)
        typed = b"begins " + evil + b" ends"

        async def types(keys: str, back_to: str) -> None:
            ada.terminal.send(keys.encode() + typed)
            await ada.terminal.wait_for(lambda _: "ends" in ada.screen, "all of it typed")
            await ada.presses("\r").is_asked(back_to)

        for reader in (bob, cyd):
            await types(f"/p {reader.name} ", MENU)
            await reader.sees("Ada: begins")
        await ada.presses("m").is_asked("<W>rite")
        await types("o", "<W>rite")
        await ada.presses("q").is_asked(MENU)
        for each in (ada, bob, cyd):
            await each.presses("v").is_asked("Tal<k>")
        await types("k", "Tal<k>")
        for reader in (bob, cyd):
            await reader.sees("Ada says: begins")
        await types("/bob ", "Tal<k>")
        await bob.sees("Ada whispers to you: begins")
        assert_clean(ada.terminal, bob.terminal, cyd.terminal)


async def is_let_in(wire: socket.socket) -> bool:
    """Read on until the board has admitted the guest or refused the header."""
    wire.setblocking(False)
    output = b""
    async with asyncio.timeout(PATIENCE):
        while not any(asked in output for asked in (b"looks right", b"any key", b"tour?")):
            more = await asyncio.get_running_loop().sock_recv(wire, 4096)
            if not more:
                return False
            output += more
    return True


@pytest.mark.parametrize(
    "name",
    ["A\u0301\u0302\u0303\u0304da", "\u202eada", "Ada|16\\x1b", "\u05d0\u05d1 Ada", "日本 Ada"],
)
async def test_a_name_from_another_board_is_nothing_but_a_name(
    tmp_path: Path, log: list[str], name: str
) -> None:
    async with world(tmp_path, toml=OPEN + RLOGIN) as board:
        bob = known(board, "Bob")
        await bob.visits()
        port = board.server.ports[1]
        with socket.create_connection(("127.0.0.1", port)) as wire:
            wire.sendall(b"\0me\0" + name.encode() + b"\0ansi/9600\0")
            if await is_let_in(wire):
                await bob.presses("w").sees("@moth")
                assert_clean(bob.terminal)
            else:
                assert not name.isprintable()
                assert any("refused" in line for line in log)
        assert_told_clean(timebank, board, "ledger")
