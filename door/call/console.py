"""A caller's console: the only way rooms and tables meet a line.

A coroutine reads top to bottom: `choice = await console.prompt.ask(...)`. A console is made of a
screen, a keyboard, a pager and a prompt. Each uses those before it, and knows none of the others.
"""

from __future__ import annotations

from ansi.charset import spelling
from door.call.keyboard import Keyboard
from door.call.pager import Pager
from door.call.prompt import Prompt
from door.call.screen import Display, Look, Screen
from door.clock import Clock
from door.errors import CarrierLost, Hangup
from door.lines.line import Line
from timebank.language import Viewer

PARTING_SECONDS = 2.0  # how long the last words may take to leave


class Console:
    def __init__(self, line: Line, look: Look, clock: Clock) -> None:
        """Take over `line`; the display is plain lines until `Screen.paint_screens`."""
        self.line = line
        self.clock = clock
        self.viewer = Viewer(spelling=spelling(look.charset))  # who reads here
        self.wants_lines = False  # whether they asked for plain lines, or their terminal did
        self.is_look_chosen = False  # by the caller, or for their call
        self.screen = Screen(line, look, self.viewer)
        self.keyboard = Keyboard(line, self.screen, clock)
        self.pager = Pager(self.keyboard, self.screen)
        self.prompt = Prompt(self.keyboard, self.screen, self.pager)
        line.attach(self)

    @property
    def display(self) -> Display:
        """What the screen is drawn on now, until the window or the look changes."""
        return self.screen.display

    def use_look(self, look: Look) -> None:
        self.screen.use_look(look)
        self.keyboard.use_charset(look.charset)

    # What the line tells us.

    def received(self, data: bytes) -> None:
        self.keyboard.received(data)

    def hung_up(self, reason: str) -> None:
        self.keyboard.interrupt(CarrierLost(reason))

    def resized(self, columns: int, rows: int) -> None:
        self.screen.resized()

    async def part(self) -> None:
        """Let the last words leave, then hang up; what is said later is not heard."""
        self.screen.close()
        self.keyboard.let_go()
        try:
            await self.line.drain(PARTING_SECONDS)
            self.line.hang_up()
        except Hangup:
            pass
