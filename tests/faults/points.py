"""Every point of an evening where the books may fail a caller, and the messages there.

A `Point` is one caller: they reach it before the trouble, try an act during it, read the message,
and go on afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.door.banking import WINDOW
from tests.door.processes import Served
from tests.door.visiting import MENU, Guest
from tests.world import PASSWORD

UNWRITTEN = "The books can't be written right now. Nothing has changed."
WINDOWLESS = "The books can't be written right now ("
TURNED_AWAY = "The board's books can't be opened just now. Please call again later."
SOON = 120.0  # seconds: the longest wait for a lock, twice, on a very busy machine
HANDS = 60  # one of them asks a question; the shuffles are fixed, so it is always the same one


class Point(Guest):
    """A caller at the main menu who opens the list of callers."""

    async def comes(self) -> None:
        """Come to the point, while all is well."""
        await self.visits()

    def tries(self) -> None:
        """Press the key that needs the books."""
        self.presses("w")

    async def is_told(self) -> None:
        """Read that the books cannot be used, where they cannot even be read; else the answer."""
        await self.sees_one_of(WINDOWLESS, "Who is on")

    async def goes_on(self) -> None:
        """Repeat the act, which succeeds."""
        await self.leaves_any_list(MENU)
        self.presses("w")
        await self.leaves_any_list()

    async def leaves_any_list(self, *others: str) -> None:
        """Leave the list of callers, with or without tables to watch, or answer its question."""
        asked = ("Press any key", "<W>atch", *others)
        await self.terminal.wait_for(
            lambda _: any(words in self.prompt for words in asked), "the list", SOON
        )
        if MENU not in self.prompt:
            self.presses("q")
            await self.is_asked(MENU)

    async def finds_all_again(self) -> None:
        """Call a board that was started again, and find everything as it was left."""
        await self.calls()
        await self.goes_on_to(MENU)

    async def sees_one_of(self, *texts: str) -> str:
        await self.terminal.wait_for(
            lambda _: any(text in self.screen for text in texts), f"one of {texts}", SOON
        )
        return next(text for text in texts if text in self.screen)

    async def reads_slowly(self, text: str) -> None:
        """Wait for a text as long as books that are locked may take."""
        await self.sees_one_of(text)

    async def comes_back(self) -> None:
        """Call again; a call that could not be closed is taken over."""
        await self.calls()
        await self.terminal.wait_for(
            lambda _: any(words in self.prompt for words in ("continue here?", "any key", MENU)),
            "the menu",
        )
        if "continue here?" in self.prompt:
            self.presses("y")
            await self.terminal.wait_for(lambda _: "continue here?" not in self.prompt, "the menu")
        await self.goes_on_to(MENU)


class BeforeABet(Point):
    """Asks for the seal of a shoe."""

    async def comes(self) -> None:
        await self.visits()
        await self.sits_down()

    def tries(self) -> None:
        self.presses("b")

    async def is_told(self) -> None:
        await self.reads_slowly(UNWRITTEN)
        await self.is_asked("<Q>uit")

    async def goes_on(self) -> None:
        self.presses("b")
        await self.is_asked("Coins to bet")


class ABet(BeforeABet):
    """Has seen the seal, and bets."""

    async def comes(self) -> None:
        await super().comes()
        self.presses("b")
        await self.is_asked("Coins to bet")

    def tries(self) -> None:
        self.presses("2\r")


class InAHand(Point):
    """Has a hand of Black Jack For Time in play."""

    ASKED = ("<S>ta", "<N>o")

    async def comes(self) -> None:
        await self.visits()
        await self.sits_down()
        for _ in range(HANDS):
            self.presses("b")
            await self.is_asked("Coins to bet")
            self.presses("1\r")
            await self.one_of("<Q>uit", *self.ASKED)
            if "<Q>uit" not in self.prompt:
                return
        raise AssertionError("every hand was over when it was dealt")

    def tries(self) -> None:
        self.presses("n" if "<N>o" in self.prompt else "s")

    async def is_told(self) -> None:
        await self.reads_slowly(UNWRITTEN)
        await self.is_asked("Let's try again.")

    async def goes_on(self) -> None:
        self.presses(" ")
        while True:
            await self.one_of("<Q>uit", *self.ASKED)
            if "<Q>uit" in self.prompt:
                return
            asked = self.prompt
            self.tries()
            await self.terminal.wait_for(lambda _, asked=asked: self.prompt != asked, "an answer")

    async def finds_all_again(self) -> None:
        await self.calls()
        await self.one_of(*self.ASKED)

    async def one_of(self, *prompts: str) -> None:
        await self.terminal.wait_for(
            lambda _: any(prompt in self.prompt for prompt in prompts), f"one of {prompts}"
        )


class AtTheWindow(Point):
    """Is about to deposit five minutes."""

    async def comes(self) -> None:
        await self.visits()
        await self.goes_to_the_bank()
        self.presses("d")
        await self.is_asked("Deposit how much")
        self.presses("5\r")
        await self.is_asked("Deposit 5 minutes?")

    def tries(self) -> None:
        self.presses("y")

    async def is_told(self) -> None:
        await self.reads_slowly(WINDOWLESS)
        await self.terminal.wait_for(
            lambda _: WINDOW in self.prompt or MENU in self.prompt, "a menu", SOON
        )

    async def goes_on(self) -> None:
        assert self.has["bank"] == 0
        if WINDOW not in self.prompt:
            await self.goes_to_the_bank()
        self.presses("d")
        await self.is_asked("Deposit how much")
        self.presses("5\r")
        await self.is_asked("Deposit 5 minutes?")
        self.presses("y")
        await self.sees("5 minutes deposited.")
        assert self.has["bank"] == 300


class LogsOff(Point):
    """Says goodbye."""

    def tries(self) -> None:
        self.presses("gy")

    async def is_told(self) -> None:
        await self.terminal.until_closed(SOON)
        await self.sees("Goodbye, ")

    async def goes_on(self) -> None:
        await self.comes_back()


class LogsOn(Point):
    """Is at the question for a name."""

    async def comes(self) -> None:
        await self.dials()

    def tries(self) -> None:
        self.presses(f"{self.name}\r{PASSWORD}\r")

    async def is_told(self) -> None:
        await self.terminal.until_closed(SOON)
        await self.sees(TURNED_AWAY)

    async def goes_on(self) -> None:
        await self.comes_back()


class Calls(LogsOn):
    """Calls when it is too late."""

    async def comes(self) -> None:
        """Do nothing yet."""

    async def dials_in(self) -> None:
        await self.dials()


POINTS: tuple[type[Point], ...] = (
    Point,
    BeforeABet,
    ABet,
    InAHand,
    AtTheWindow,
    LogsOff,
    LogsOn,
    Calls,
)


async def household(board: Served, kinds: Iterable[type[Point]] = POINTS) -> list[Point]:
    """Bring a caller to each of these points in turn."""
    points = []
    for kind in kinds:
        board.enter(kind.__name__)
        point = kind(board, kind.__name__)
        await point.comes()
        points.append(point)
    return points


async def all_try(points: Iterable[Point]) -> None:
    """Have all of them need the books at the same moment and read the message."""
    for point in points:
        if isinstance(point, Calls):
            await point.dials_in()
        point.tries()
    async with asyncio.TaskGroup() as group:
        for point in points:
            group.create_task(point.is_told())
