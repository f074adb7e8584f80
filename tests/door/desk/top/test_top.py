"""`door top` on a running board, its keys pressed by Textual's pilot, and once at a terminal."""

from __future__ import annotations

import asyncio
import errno
import os
import shlex
import shutil
from pathlib import Path
from unittest import mock

import pytest
from textual.app import App
from textual.pilot import Pilot

from door.call.shoulder import Chat
from door.desk.pages.operations import SysopActs
from door.desk.pages.queries import BooksReader
from door.desk.top.app import CallerScreen, Top
from door.desk.top.snapshot import BoardWatch
from tests.door.processes import command
from tests.door.shell import Shell
from tests.door.visiting import event, sysop_toml, visitor
from tests.terminal import PATIENCE
from tests.world import World, world

pytestmark = pytest.mark.long

LOOKS = 0.01  # seconds of the machine between two looks of a test


def top(board: World) -> Top:
    reading = BooksReader(board.config, board.database, board.clock)
    return Top(BoardWatch(board.config, reading, SysopActs(reading)), "jane (command line)")


def shown(app: App[None]) -> str:
    """Return all text of the top screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def until(board: World, pilot: Pilot[None], *words: str) -> None:
    """Follow the screen until it shows all of these texts.

    The board's clock runs only during a look over a shoulder, which it times.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            while not all(each in shown(pilot.app) for each in words):
                if isinstance(pilot.app.screen, CallerScreen):
                    await board.clock.advance(0.2)
                await pilot.pause(LOOKS)
    except TimeoutError:
        raise AssertionError(f"no {words} on:\n{shown(pilot.app)}") from None


async def test_a_sysop_watches_the_board_and_acts(tmp_path: Path) -> None:
    async with world(tmp_path, toml=sysop_toml(events=event("Mail hour", "18:00"))) as board:
        ada = await visitor(board, "Ada")
        app = top(board)
        async with app.run_test(size=(80, 24)) as pilot:

            async def sees(*words: str) -> None:
                await until(board, pilot, *words)

            async def answers(key: str, question: str, *keys: str) -> None:
                await pilot.press(key)
                await sees(question)
                await pilot.press(*keys)

            await sees("1 online", "Mail hour is from 18:00", "Ada", "Main menu")
            await sees("60 minutes for 20 November")
            await ada.sits_down()
            await ada.bets(5)
            await ada.stays()
            await sees("Bet 5 minutes at")
            await answers("s", "say to Ada?", *"Hello", "enter")
            await sees("Ada can read it.")
            await ada.sees("The sysop: Hello")
            await answers("f", "Freeze Ada's account?", *"Odd", "enter")
            await sees("Ada's account is frozen.")
            await answers("e", "Which system event", *"Mail hour for 30 in 5", "enter")
            await sees("Mail hour closes the board from 12:0", "30 minutes, in")
            await pilot.press("y")
            await sees("Mail hour is from 12:0")
            await answers("e", "was started early. Take it back?", "y")
            await sees("is taken back")
            hung_up = BrokenPipeError(errno.EPIPE, "Broken pipe")
            with mock.patch("door.desk.top.app.Conversation", side_effect=hung_up):
                await pilot.press("l")
                await sees("The server does not answer (Broken pipe). `door nodes` says more.")
            await pilot.press("l")
            await sees("BLACKJACK PAYS", "c talks to them")
            await ada.sees("The sysop is looking over your shoulder.")
            (caller,) = board.server.board.callers()
            other = Chat(caller, "bob (command line)", lambda: None)
            await pilot.press("c")
            await sees("bob (command line) talks to Ada now. Esc leaves.")
            other.end()
            await pilot.press("c")
            await sees("You are talking to Ada")
            await pilot.press(*"Hi", "enter")
            await ada.sees("Hi")
            ada.presses("Hello!\r")
            await sees("Hello!")
            await pilot.press("escape")
            await sees("c talks to them")
            await pilot.press("escape")
            await sees("1 Minutes and bets")
            await pilot.press("4")
            await sees("jane (command line): Ada: Looked over their shoulder")
            await answers("k", "End Ada's call?", *"Enough", "enter")
            await ada.is_sent_off("Enough")
            watching = asyncio.to_thread(Shell(board.config.path), "nodes", "--watch")
            with mock.patch("time.sleep", side_effect=[None, KeyboardInterrupt]):
                assert (await watching).output.count("Nobody is online.") == 2
            await answers("d", "Take no more calls", "y")
            await sees("The board is closing.")
            assert board.server.board.draining


async def tmux(folder: Path, *words: str) -> str:
    """Run a command of the test's own tmux; return its output, "" if it has ended."""
    process = await asyncio.create_subprocess_exec(
        *("tmux", "-S", str(folder / "tmux"), "-f", "/dev/null", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    out, _ = await process.communicate()
    return out.decode()


async def test_the_command_draws_at_a_terminal_and_leaves_it(tmp_path: Path) -> None:
    """A process of its own under tmux, at 132 by 50."""
    if shutil.which("tmux") is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "tmux must be here"
        pytest.skip("tmux is not here")
    async with world(tmp_path, toml=sysop_toml(events="")) as board:
        await visitor(board, "Ada")
        line = "env -u COLUMNS -u LINES " + shlex.join(
            [str(command("door")), "top", "--config", str(board.config.path)]
        )
        await tmux(tmp_path, "new-session", "-d", "-x", "132", "-y", "50", line)
        async with asyncio.timeout(PATIENCE):
            screen = ""
            while not ("Main menu" in screen and "4 The sysop's log" in screen):
                screen = await tmux(tmp_path, "capture-pane", "-p")
            assert "127.0.0.1" in screen  # of the columns that a wide terminal has
            await tmux(tmp_path, "send-keys", "q")
            while await tmux(tmp_path, "list-sessions"):
                pass
