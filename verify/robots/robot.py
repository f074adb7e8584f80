"""A caller that is a program: it reads its screen, thinks for a while, and presses a key."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from dataclasses import dataclass, replace

from verify.robots import phone, phrases
from verify.robots.choices import ENTER, ESCAPE, Chooser
from verify.robots.phone import Phone, Program
from verify.robots.seen import Seen
from verify.robots.watcher import Watcher

PASSWORD = "open sesame"
ALONE = 0.5  # seconds from Esc to the next key
GOOD_BYE = 20.0  # seconds that a robot takes to leave in peace, at most


@dataclass(frozen=True)
class Pace:
    """A robot's speed in seconds; occasional acts are a chance at each key."""

    think: tuple[float, float]  # from a screen to a key: the least and the most
    typing: float  # from one letter of a word to the next
    stays: tuple[float, float]  # on the board, before it thinks of leaving
    away: tuple[float, float]  # from one call to the next
    hangs_up: float
    takes_over: float
    patience: float = 20.0  # seconds without anything to answer after which a key is tried


HUMAN = Pace(
    think=(1.0, 5.0),
    typing=0.15,
    stays=(1800.0, 7200.0),
    away=(2.0, 20.0),
    hangs_up=0.004,
    takes_over=0.001,
)
RESTLESS = replace(HUMAN, stays=(60.0, 600.0), away=(5.0, 120.0))
HASTY = Pace(
    think=(0.02, 0.08),
    typing=0.0,
    stays=(20.0, 60.0),
    away=(0.02, 0.3),
    hangs_up=0.01,
    takes_over=0.005,
)


@dataclass
class _Line:
    """One of the lines that a robot is on: two, while it takes over a call of its own."""

    phone: Phone
    watcher: Watcher
    answered: float  # when the robot last pressed a key there, or dialled
    asked: float  # the same, without the keys that were pressed because nothing came
    # Seconds from then to the next question, the question before, the screen then, and the time.
    slowest: tuple[float, str, str, float] = (0.0, "", "", 0.0)
    came: int = 0  # bytes received by then
    prompt: str = ""  # the question answered by the robot


class Robot:
    """See the package for its promise."""

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        seed: int,
        *,
        pace: Pace = HUMAN,
        coin: int = 60,
        is_known: bool = False,
        program: Program | None = None,
        taste: str | None = None,
        friend: str = "",
    ) -> None:
        chance = random.Random(seed)
        self.name = name
        self.host, self.port = host, port
        self.seen = Seen(name)
        self.noticed = asyncio.Event()  # set at each look; cleared by the waiting task
        self._pace = pace
        self._coin = coin
        self._chance = chance
        self._program = program or chance.choice((phone.SYNCTERM, phone.XTERM, phone.UNKNOWN))
        self._chooser = Chooser(name, PASSWORD, chance, friend=friend, taste=taste)
        self._chooser.is_known = is_known

    @property
    def _paints(self) -> bool:
        return self._program not in (phone.UNKNOWN, phone.MUD)

    async def play(self, stop: asyncio.Event) -> None:
        """Call again and again until `stop` is set, then say goodbye and return."""
        while not stop.is_set():
            with contextlib.suppress(OSError):  # the port is closed, or no port is left here
                await self._call(stop)
            await _unless(stop, self._chance.uniform(*self._pace.away))

    async def _call(self, stop: asyncio.Event) -> None:
        """Make one call, from dialling to the end of the line."""
        first = await self._dial()
        lines = [first]
        try:
            await self._stay(lines, stop)
        finally:
            for line in lines:
                self._put_down(line)

    def _put_down(self, line: _Line) -> None:
        """Look a last time, and hang up."""
        line.watcher.look(line.phone.screen, is_last=True)
        self.seen.waits += line.phone.waits
        self.seen.slowest.append(line.phone.slowest)
        _measure(line, asyncio.get_running_loop().time())
        self.seen.unanswered.append(line.slowest)
        self.seen.taken_over += phrases.TAKEN_OVER.is_in(line.phone.screen.picture)
        line.phone.hang_up()

    async def _dial(self) -> _Line:
        self.seen.calls += 1
        self._chooser.expected = None
        connected = await phone.call(self.host, self.port, self._program)
        now = asyncio.get_running_loop().time()
        watcher = Watcher(self.seen, self._coin)
        return _Line(connected, watcher, now, now)

    async def _stay(self, lines: list[_Line], stop: asyncio.Event) -> None:
        """Answer questions on the newest line until it is gone, or the robot hangs up."""
        loop = asyncio.get_running_loop()
        line = lines[-1]
        goes_at = loop.time() + self._chance.uniform(*self._pace.stays)
        hangs_up_at: float | None = None
        self._chooser.is_leaving = False
        while not await _unless(line.phone.ended, self._chance.uniform(*self._pace.think)):
            line.watcher.look(line.phone.screen)
            self.noticed.set()
            for other in [other for other in lines[:-1] if other.phone.ended.is_set()]:
                lines.remove(other)
                self._put_down(other)
            self._learn(line.phone.screen.picture)
            if stop.is_set() or loop.time() > goes_at:
                self._chooser.is_leaving = True
                hangs_up_at = hangs_up_at or loop.time() + GOOD_BYE
                if loop.time() > hangs_up_at:
                    return
            keys = self._keys(line)
            if not keys:
                continue
            if self._chance.random() < self._pace.hangs_up:
                return
            if self._chance.random() < self._pace.takes_over and self._chooser.is_known:
                _measure(line, loop.time())
                line.asked = math.inf  # no one waits there any more
                line = await self._dial()
                lines.append(line)
                continue
            await self._type(line, keys)
        if not phrases.LAST_WORDS.is_in(line.phone.screen.picture):
            self.seen.lost += 1

    def _keys(self, line: _Line) -> str:
        """Return the next keys; "" while there is no new question."""
        now = asyncio.get_running_loop().time()
        waits = now - line.answered < self._pace.patience
        if waits and line.phone.came == line.came:
            return ""
        screen = line.phone.screen
        if waits and _is_being_answered(line):
            return ""
        keys = self._chooser.keys_at(screen.prompt, paints=self._paints)
        if not keys and not waits:
            keys = ENTER
        if keys:
            if waits:
                _measure(line, now)
                line.asked = now
            line.answered, line.prompt = now, screen.prompt
        return keys

    async def _type(self, line: _Line, keys: str) -> None:
        line.watcher.expected = self._chooser.expected or line.watcher.expected
        self._chooser.expected = None
        self.seen.keys += len(keys)
        if not self._pace.typing or self._program is phone.MUD:
            line.phone.press(keys)
        else:
            for letter in keys[:-1]:
                line.phone.press(letter, is_echoed=True)
                if await _unless(line.phone.ended, self._pace.typing):
                    return
            line.phone.press(keys[-1])
        line.came = line.phone.came  # the echo of the last letters included: an answer is more
        if keys == ESCAPE:
            # With a letter close behind it is another key, as terminals send it with Alt.
            await _unless(line.phone.ended, ALONE)

    def _learn(self, picture: str) -> None:
        """Learn whether the board has the robot's name, and in the menu whether a duel waits.

        It has the name once it confirms it, or refuses it as taken.
        """
        if not self._chooser.is_known:
            self._chooser.is_known = self.seen.is_registered or phrases.IS_TAKEN.is_in(picture)
        if phrases.MAIN_MENU.is_in(picture):
            self._chooser.has_duel = phrases.DUEL_WAITS.is_in(picture)


def _measure(line: _Line, now: float) -> None:
    if not line.watcher.is_in_company:
        waited = (now - line.asked, line.prompt, line.phone.screen.picture, now)
        line.slowest = max(line.slowest, waited)


def _is_being_answered(line: _Line) -> bool:
    """Return whether the question is still shown with the typed answer.

    A line sent too fast stays there, to be sent a little later.
    """
    prompt = line.phone.screen.prompt
    if phrases.NOT_SO_FAST.is_in(line.phone.screen.picture) and phrases.SAY.is_in(prompt):
        return False
    return prompt != line.prompt and bool(line.prompt) and prompt.startswith(line.prompt)


async def _unless(event: asyncio.Event, seconds: float) -> bool:
    """Wait for so many seconds, or until the event; return whether it happened."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
