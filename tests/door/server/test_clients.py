"""Callers with common telnet programs: Debian's telnet, telnetlib3's client, and TinTin++.

They run on a pseudo-terminal, as in a window; pyte reads their output.
"""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pyte
import pytest

from tests.door.processes import OPEN_ALL_DAY, Served, command, served
from tests.terminal import PATIENCE
from tests.world import PASSWORD

pytestmark = pytest.mark.long

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip


class Window:
    """A program in a terminal window of 80 columns and 24 rows."""

    def __init__(self, *words: str | Path) -> None:
        self.screen = pyte.Screen(80, 24)
        self.output = ""  # since the last keys
        self._stream = pyte.Stream(self.screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._keyboard, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._program = subprocess.Popen(
            words,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        os.close(inside)
        self._ended = False
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._keyboard, self._read)

    def types(self, keys: str) -> Self:
        self.output = ""
        os.write(self._keyboard, keys.encode())
        return self

    async def until(self, reached: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not reached():
                    assert not self._ended, f"ended before {what}:\n{self.picture}"
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{PATIENCE} s without {what}:\n{self.picture}") from None

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.picture, repr(text))

    async def says(self, words: str, *answers: str) -> str:
        """Send words as a line; return which of the answers came behind their echo."""

        def came() -> str:
            answer = self.output.partition(f"{words}\r\n")[2]
            return next((each for each in answers if each in answer), "")

        await self.types(f"{words}\n").until(lambda: came() != "", repr(answers))
        return came()

    async def asks(self, *questions: str) -> str:
        """Wait until the row above the status line, or the last one, asks one of these."""
        await self.until(lambda: self._asked(questions) != "", repr(questions))
        return self._asked(questions)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window and notify the program."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._program.send_signal(signal.SIGWINCH)

    async def closes(self) -> int:
        """Wait for the end of the program; return its status."""
        await self.until(lambda: self._ended, "the end of the program")
        return self._program.wait(PATIENCE)

    def close(self) -> None:
        if not self._ended:
            self._end()
        self._program.kill()
        self._program.wait()

    @property
    def picture(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display)

    def _asked(self, questions: tuple[str, ...]) -> str:
        rows = [row for row in self.picture.split("\n") if row][-2:]
        return next((asked for asked in questions if any(asked in row for row in rows)), "")

    def _read(self) -> None:
        try:
            data = os.read(self._keyboard, 65536)
        except OSError:  # how Linux reports that the other side is closed
            data = b""
        if data:
            text = self._decoder.decode(data)
            self.output += text
            self._stream.feed(text)
        else:
            self._end()
        self._news.set()

    def _end(self) -> None:
        self._ended = True
        asyncio.get_running_loop().remove_reader(self._keyboard)
        os.close(self._keyboard)


def debian_telnet() -> Path:
    program = shutil.which("telnet")
    if program is None:
        assert NEED_CLIENTS not in os.environ, "telnet is not installed"
        pytest.skip(f"telnet is not installed; {NEED_CLIENTS} makes that a failure")
    return Path(program)


def tintin() -> Path:
    program = shutil.which("tt++", path=f"{os.environ['PATH']}:/usr/games")
    if program is None:
        assert NEED_CLIENTS not in os.environ, "tintin++ is not installed"
        pytest.skip(f"tintin++ is not installed; {NEED_CLIENTS} makes that a failure")
    return Path(program)


def telnetlib3_client() -> Path:
    return command("telnetlib3-client")


@pytest.mark.parametrize("program", [debian_telnet, telnetlib3_client])
async def test_a_caller_registers_plays_a_hand_and_logs_off(
    tmp_path: Path, program: Callable[[], Path]
) -> None:
    telnet = program()
    async with served(tmp_path, toml=OPEN_ALL_DAY) as board:
        window = Window(telnet, "127.0.0.1", str(board.port))
        try:
            await registers(window, "Grace")
            await plays_a_hand(window)
            await window.types("q").asks("oodbye")
            await window.types("g").asks("Bank your")
            await window.types("y").shows("Goodbye, Grace. Call again!")
            await window.closes()
        finally:
            window.close()
        await board.logs("Grace left node 1: log-off")
        the_hand_is_in_the_books(board)


async def registers(window: Window, name: str) -> None:
    await window.asks("Name:")
    await window.types("new\r").asks("The name you want:")
    await window.types(f"{name}\r").asks("A password (at least 6 characters):")
    await window.types(f"{PASSWORD}\r").asks("Once more:")
    assert PASSWORD not in window.picture
    await window.types(f"{PASSWORD}\r").asks("It is valid as soon as you go on.")
    window.types(" ")
    # The terminal named itself xterm-256color: the second box is right, and Enter takes it.
    await window.asks("Your choice (Enter for 2)?")
    assert "│ A♠  10♥ │" in window.picture
    await window.types("\r").asks("Take a one-minute tour?")
    await window.types("n").asks("oodbye")


async def plays_a_hand(window: Window) -> None:
    await window.types("b").asks("<B>et")
    await window.types("b").asks("Coins to bet")
    window.types("2\r")
    if await window.asks("<B>et", "Insurance for", "<H>it") == "Insurance for":
        window.types("n")
    if await window.asks("<B>et", "<H>it") == "<H>it":
        assert re.search(r"│(10|[A2-9JQK])[♥♠♦♣] .*│░▒▓▒░│", window.picture)
        window.types("s")
    await window.asks("<B>et")
    await window.types("f").shows("Seed of the last shoe")
    assert re.search(r"^ ?[0-9a-f]{64}$", window.picture, re.MULTILINE)
    window.types("q")  # there may be another page
    await window.asks("<B>et")


def the_hand_is_in_the_books(board: Served) -> None:
    with board.books() as desk:
        rows = desk.connection.exec_driver_sql(
            "SELECT bet, settled IS NULL FROM rounds WHERE unit = 'second'"
        )
        assert [tuple(row) for row in rows] == [(120, 0)]


async def test_a_mud_client_plays_an_evening_by_words_alone(tmp_path: Path) -> None:
    program = tintin()
    async with served(tmp_path, toml=OPEN_ALL_DAY) as board:
        script = tmp_path / "reader.tin"
        script.write_text(
            "#config {screen reader} {on}\n"
            "#event {IAC WILL GMCP} {#send {\\xFF\\xFD\\xC9\\}}\n"
            "#event {IAC SB GMCP} {#variable {vitals} {%2}}\n"
            f"#session board 127.0.0.1 {board.port}\n"
        )
        window = Window(program, "-G", script)
        try:
            await window.asks("Name:")
            for words, asked in (
                ("new", "The name you want:"),
                ("Grace", "A password (at least 6 characters):"),
                (PASSWORD, "Once more:"),
                (PASSWORD, "It is valid as soon as you go on. Press Enter"),
                ("", "one-minute tour?"),
                ("no", "Goodbye (G)"),
                ("bank", "Your choice"),
                ("deposit 5", "Deposit 5 minutes?"),
                ("yes", "Your choice"),
                ("quit", "or ? for the list:"),
                ("bingo", "or ? for the list:"),
                ("black jack", "Quit (Q)"),
                ("rules", "Next (N, Enter)"),
                ("quit", "All keys (?)"),
            ):
                await window.types(f"{words}\n").asks(asked)
            asked = "bet 2"
            while word := {"bet 2": "bet 2", "Insure": "no", "Hit": "stand"}.get(asked):
                await window.types(f"{word}\n").until(
                    lambda echo=word: (
                        window.picture.endswith(")") and f") {echo}\n" in window.picture
                    ),
                    "the next question",
                )
                menu = window.picture.rpartition("\n\n")[2]
                asked = next((each for each in ("Insure", "Hit") if each in menu), "")
            await window.types("leave\n").asks("or ? for the list:")
            await plays_the_daily_deal(window)
            await window.says("unix bj", "Play (P, Enter)")
            await window.says("play", "? ")
            await window.says("help", "The word quit ends the game")
            await window.says("quit", "Press Enter")
            await window.says("", "Play (P")
            await window.says("quit", "or ? for the list:")
            await window.says("#showme {$vitals}", '"pot": ')
            await window.types("goodbye\n").asks("Bank your")
            await window.types("no\n").shows("Goodbye, Grace. Call again!")
            assert PASSWORD not in window.picture
        finally:
            window.close()
        await board.logs("Grace left node 1: log-off")
        the_hand_is_in_the_books(board)


async def plays_the_daily_deal(window: Window) -> None:
    answers = {"Copy this": "", "Insure (I)": "no", "Hit (H)": "stand", "Press Enter": " "}
    await window.says("daily", "Play (P)")
    words, hands = "play", 0
    while words:
        asked = await window.says(words, *answers)
        words, hands = answers[asked], hands + (asked == "Press Enter")
    assert hands == 10
    await window.says("back", "or ? for the list:")
