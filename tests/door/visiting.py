"""A caller of the board in tests: actions, screen and balances."""

from __future__ import annotations

import re
from typing import Any, Self

from door.call.caller import Caller
from tests.door.playing import hand
from tests.terminal import MODERN, Profile, Terminal, pressing_enter
from tests.world import BOARD, World, log_on
from verify.robots.screen import marked

MINUTE = 60
MENU = "<G>oodbye"
SHORT_MENU = "Your game, or ? for the list:"
TABLE = "bank  <Q>uit"  # the end of the menu, also on two rows
AT_TABLE = "Tal<k>"
KEYS_OF_TABLE = "All keys"
# The end of a prompt after the first time on plain lines.
SHORT = {MENU: SHORT_MENU, TABLE: KEYS_OF_TABLE, AT_TABLE: KEYS_OF_TABLE}
PATIENT = {"idle_warning_seconds": 86_399, "idle_limit_seconds": 86_400}
NO_EVENTS = "events = []\n"


def sysop_toml(
    *, events: str | None = None, timebank: str = "", zone: str = "UTC", **calls: int
) -> str:
    """Return a sysop.toml for callers who never idle out; `events` None keeps the default."""
    lines = [f"{key} = {value}" for key, value in {**PATIENT, **calls}.items()]
    board = BOARD.replace("[board]", f'[board]\ntime_zone = "{zone}"')
    head, tail = (NO_EVENTS, "") if events == "" else ("", events or "")
    return "\n".join((head, board, "[calls]", *lines, "[timebank]", timebank, tail))


def event(name: str, time: str, minutes: int = 60) -> str:
    """A table of `[[events]]` for every day."""
    return f'[[events]]\nname = "{name}"\ntime = "{time}"\nminutes = {minutes}\n'


class Guest:
    """A person at a terminal, registered as `name`."""

    def __init__(self, board: World, name: str) -> None:
        self.board = board
        self.name = name
        self.terminal: Terminal

    # Actions.

    async def dials(self, profile: Profile = MODERN) -> None:
        """Connect, and read on to the question for the name."""
        self.terminal = await self.board.call(profile)
        await self.is_asked("Name:")

    async def calls(self, profile: Profile = MODERN) -> None:
        """Connect, and type name and password."""
        self.terminal = await self.board.call(profile)
        await log_on(self.terminal, self.name)

    async def visits(self, profile: Profile = MODERN) -> None:
        """Call, read any news, and go to the main menu."""
        await self.calls(profile)
        await self.goes_on_to(MENU)

    async def goes_on_to(self, prompt: str) -> None:
        """Press a key when asked for any, until asked `prompt`."""
        asked = (prompt, "Press any key", "Appuyez sur une touche")
        await self.terminal.wait_for(lambda _: any(map(self._is_at, asked)), prompt)
        if not self._is_at(prompt):
            await self.presses(" ").is_asked(prompt)

    async def reads_that(self, text: str) -> None:
        """Read a page or a message that waits for any key, and press one."""
        await self.sees(text)
        await self.is_asked("Press any key")
        self.presses(" ")

    def presses(self, keys: str) -> Self:
        self.terminal.send(keys)
        return self

    async def sits_down(self) -> None:
        await self.presses("b").is_asked(TABLE)

    async def bets(
        self,
        coins: int,
        *actions: str,
        ends: str = "",
        seed: bytes | None = None,
        asked: str = "<H>it",
    ) -> None:
        """Bet at the table: on `seed`, or on a hand that would go through `actions` and end so."""
        self.board.seeds = [seed or hand(*actions, ends=ends)]
        await self.presses("b").is_asked("Coins to bet")
        await self.presses(f"{coins}\r").is_asked(asked)

    async def stays(self) -> None:
        await self.presses("s").is_asked(TABLE)

    async def goes_to_the_bank(self) -> None:
        """From the main menu to the bank's window."""
        await self.presses("t").is_asked("Your choice")

    async def withdraws(self, minutes: int) -> None:
        """Ask at the bank's window for so many minutes, and confirm it."""
        await self.presses("w").is_asked("Withdraw how much")
        await self.presses(f"{minutes}\r").is_asked(f"Withdraw {minutes} minutes?")
        self.presses("y")

    async def logs_off(self, *, banks: bool = False) -> None:
        """Leave from the main menu, with a deposit of what the bank takes only if `banks`."""
        self.presses("g")
        questions = ("Leave the board?", "Leave the games?", "Bank your")
        await self.terminal.wait_for(
            lambda _: any(each in self.screen for each in questions), "the goodbye"
        )
        self.presses("y" if banks or "Leave the " in self.screen else "n")
        await self.terminal.until_closed()

    async def drops_carrier(self) -> None:
        """Hang up without a word, and wait until the board has noticed."""
        caller = self.caller
        self.terminal.abort()
        await caller.ended.wait()

    # The screen.

    @property
    def prompt(self) -> str:
        """The row their cursor is in, with choices marked as on a painted screen."""
        row = min(self.terminal.screen.cursor.y, len(self.terminal.lines) - 1)
        above = self.terminal.row(row - 1) if row else ""
        in_lines = f"{above} " if above.endswith("),") else ""
        return marked(f"{in_lines}{self.terminal.row(row)}")

    @property
    def screen(self) -> str:
        """All that is on their screen as one text, lines that were broken made whole again."""
        return " ".join(line.strip() for line in self.terminal.lines if line.strip())

    def _is_at(self, prompt: str) -> bool:
        """Whether the cursor is at a prompt; plain lines have a short menu after the first."""
        prompts = (prompt, SHORT.get(prompt, prompt), pressing_enter(prompt))
        return any(each in self.prompt for each in prompts)

    async def is_asked(self, prompt: str) -> None:
        await self.terminal.wait_for(lambda _: self._is_at(prompt), f"the prompt {prompt!r}")

    async def sees(self, text: str) -> None:
        is_choice = "<" in text
        await self.terminal.wait_for(
            lambda _: text in self.screen or (is_choice and text in marked(self.screen)), repr(text)
        )

    async def is_sent_off(self, *words: str) -> None:
        """Read these last words, and find the line closed."""
        await self.terminal.until_closed()
        for text in words:
            assert text in self.screen, self.terminal.picture

    @property
    def status(self) -> str:
        """The last row of their screen."""
        return self.terminal.row(-1)

    @property
    def time_left(self) -> int:
        """The seconds of time left that the status line shows."""
        match = re.search(r"Time left ([\d:]+)", self.status)
        assert match is not None, self.terminal.picture
        seconds = 0
        for part in match[1].split(":"):
            seconds = seconds * 60 + int(part)
        return seconds

    async def sees_time_left(self, seconds: int) -> None:
        await self.terminal.wait_for(lambda _: self.time_left == seconds, f"{seconds} s left")

    # The board's records.

    @property
    def caller(self) -> Caller:
        return next(
            caller
            for caller in self.board.server.board.callers()
            if caller.record.name == self.name
        )

    @property
    def has(self) -> dict[str, int]:
        """Their accounts in seconds."""
        return self.board.balances(self.name)

    @property
    def ledger(self) -> list[tuple[str, int]]:
        """All movements of their accounts: (kind, seconds)."""
        return self.board.moved(self.name)


async def visitor(board: World, name: str, *, saved: int = 0, profile: Profile = MODERN) -> Guest:
    """Register a caller and bring them to the main menu on their first call of the day."""
    guest = known(board, name, saved=saved)
    await guest.visits(profile)
    return guest


async def seated(board: World, name: str, *, saved: int = 0, profile: Profile = MODERN) -> Guest:
    """The same one a little later, at the table of Black Jack For Time."""
    guest = await visitor(board, name, saved=saved, profile=profile)
    await guest.sits_down()
    return guest


def known(board: World, name: str, **what: Any) -> Guest:
    """Register a caller who has not called yet."""
    board.enter(name, **what)
    return Guest(board, name)
