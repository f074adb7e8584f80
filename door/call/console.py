"""A caller's console: the only way rooms and tables meet a line.

A coroutine reads top to bottom: `choice = await console.prompt.ask(...)`. A console is made of a
screen, a keyboard, a pager and a prompt. Each uses those before it, and knows none of the others.
"""

from __future__ import annotations

from dataclasses import replace

from door.call.keyboard import Keyboard
from door.call.pager import Pager
from door.call.prompt import Prompt
from door.call.screen import Display, Look, Screen
from door.clock import Clock
from door.errors import CarrierLost, Hangup
from door.lines.line import Line
from timebank.language import Viewer, _

PARTING_SECONDS = 2.0  # for the last output to be sent


class Console:
    def __init__(self, line: Line, look: Look, clock: Clock) -> None:
        """Take over `line`; the display is plain lines until `Screen.paint_screens`."""
        self.line = line
        self.clock = clock
        self.viewer = Viewer()  # the reader's language, and the spelling of their charset
        self.wants_lines = False  # whether the caller or the terminal asked for plain lines
        self.is_look_chosen = False  # whether the look is settled, so none need be asked for
        self.wrong_answers = 0  # to the question for new callers, also before they went back
        self.screen = Screen(line, look, self.viewer)
        self.keyboard = Keyboard(line, self.screen, clock)
        self.pager = Pager(self.keyboard, self.screen)
        self.prompt = Prompt(self.keyboard, self.screen, self.pager)
        line.attach(self)

    @property
    def display(self) -> Display:
        """The current display; another one after the window or the look has changed."""
        return self.screen.display

    def use_look(self, look: Look) -> None:
        self.screen.use_look(look)
        self.keyboard.use_charset(look.charset)

    def take_lines(self, look: Look) -> None:
        """Use this look of plain lines from now on, and read the open screen in it."""
        if self.wants_lines:
            self.screen.say(_("You have plain lines already."))
            return
        view = self.display.view()
        if not self.screen.is_painted:  # all but the question was read
            view = replace(view, scene=None, messages=())
        self.wants_lines = True
        self.use_look(look)
        self.screen.say(_("Plain lines from now on."))
        self.screen.lay_out_again(view)

    # Called by the line.

    def received(self, data: bytes) -> None:
        self.keyboard.received(data)

    def hung_up(self, reason: str) -> None:
        self.keyboard.interrupt(CarrierLost(reason))

    def resized(self, columns: int, rows: int) -> None:
        self.screen.resized()

    async def part(self) -> None:
        """Send the rest of the output and hang up; later output is dropped."""
        self.screen.close()
        self.keyboard.let_go()
        try:
            await self.line.drain(PARTING_SECONDS)
            self.line.hang_up()
        except Hangup:
            pass
