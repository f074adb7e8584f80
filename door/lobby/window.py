"""The bank's window as a caller sees it: ours, or the one that the sysop drew."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansi import art
from ansi.canvas import Canvas
from door import wording
from door.call.display import LAYOUT_COLUMNS, wrap
from door.lobby import texts

if TYPE_CHECKING:
    from ansi.art import Art
    from door.call.caller import Caller
    from door.call.display import Area, Scene
    from timebank.window.allowance import Allowance


# Screens that a sysop draws, with named fields that we fill in.
#
# A field stands in the .ANS or .ASC file as its name between at-signs, such as ``@BALANCE@``. What
# we put there is as wide as the field was, so that nothing behind it moves: dots before the second
# at-sign make it wider, ``@NAME................@``. An unknown field is left as it is.

_FIELD = re.compile(r"@([A-Z]+)\.*@")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its fields filled, each as wide as it stands there.

    >>> fill("[@NAME......@] [@WHAT@]", {"NAME": "Alice"})
    '[Alice       ] [@WHAT@]'
    """

    def value(field: re.Match[str]) -> str:
        if field[1] not in values:
            return field[0]
        width = len(field[0])
        return values[field[1]][:width].ljust(width)

    return _FIELD.sub(value, text)


@dataclass(frozen=True)
class FilledScreen:
    picture: Art
    values: Mapping[str, str]

    def paint(self, canvas: Canvas, area: Area) -> None:
        left, rows = area.centred(), area.rows
        # Its cursor movements may lead anywhere; only the rows of a scene are ours to give.
        scratch = Canvas(canvas.columns, rows)
        art.paint(scratch, self._filled(), 0, left)
        for row in range(rows):
            for column, character in enumerate(scratch.text(row)):
                canvas.put(row, column, character, scratch.style_at(row, column))

    def lines(self) -> Sequence[str]:
        return texts.lines(self._filled())

    def _filled(self) -> Art:
        return replace(self.picture, text=fill(self.picture.text, self.values))


Rows = tuple[tuple[str, str], ...]  # labels and the fields behind them

SCREEN = "bank"  # bank.ans and bank.asc in the sysop's texts folder

MODES = {
    "built-in": "",
    "external": "Winnings that an event would cut go, in whole minutes, to the bank that the sysop "
    "runs beside these games; deposit and withdraw there.",
    "none": "This board has no time bank: winnings that would run into an event are trimmed.",
}


def window(caller: Caller, allowance: Allowance, choices: Mapping[str, str]) -> Scene:
    """Return the window for this caller, with the commands that they may use."""
    values = field_values(caller, allowance)
    picture = texts.find(caller.console, caller.config.board.texts, SCREEN)
    if picture is not None:
        return FilledScreen(picture, values)
    mode = caller.bank_settings.mode
    rows = (("Saved" if mode == "built-in" else "Waiting for a minute", "BALANCE"), *HOLDINGS)
    allowed = ALLOWED if mode == "built-in" else ()
    return WindowScene(values, rows, allowed, MODES[mode], choices)


def unsaid(caller: Caller, scene: Scene) -> str:
    """Say what the board's mode does with winnings where the sysop's own screen stands for ours."""
    return MODES[caller.bank_settings.mode] if isinstance(scene, FilledScreen) else ""


def field_values(caller: Caller, allowance: Allowance) -> dict[str, str]:
    """Return the named fields of the window (docs/sysop-guide.md lists them), all as text."""
    purse = caller.purse.posted
    clock = wording.clock_time
    return {
        "NAME": caller.record.name,
        "BALANCE": clock(purse.bank),
        "TIMELEFT": clock(caller.purse.time_left()),
        "HELD": clock(purse.held),
        "LOAN": clock(-purse.loan),
        "DEPOSIT": clock(allowance.deposit.seconds),
        "WITHDRAW": clock(allowance.withdraw.seconds),
        "TRANSFER": clock(allowance.transfer.seconds),
        "BORROW": clock(allowance.borrow.seconds),
        "EVENT": caller.purse.event_words() or "none",
        "AUTO": "yes" if caller.prefers("auto_deposit") else "no",
    }


@dataclass(frozen=True)
class WindowScene:
    values: Mapping[str, str]
    holdings: Rows
    allowed: Rows
    notice: str
    choices: Mapping[str, str]

    def paint(self, canvas: Canvas, area: Area) -> None:
        left = area.centred()
        canvas.put_pipe(0, 0, "|17" + " " * canvas.width)
        canvas.put_pipe(0, left + 1, f"|17|15Time bank|11  {self.values['NAME']}")
        canvas.box(2, left + 1, 38, 12)
        for row, (label, field) in enumerate(self.holdings, 3):
            canvas.put_pipe(row, left + 3, f"|07{label:<24}|15{self.values[field]:>9}")
        if self.allowed:
            canvas.put_pipe(8, left + 3, "|02Still allowed today")
        for row, (label, field) in enumerate(self.allowed, 9):
            canvas.put_pipe(row, left + 3, f"|07{label:<24}|15{self.values[field]:>9}")
        for row, (key, label) in enumerate(self.choices.items(), 3):
            canvas.put_pipe(row, left + 43, f"|08<|15{key}|08>|07 {label}")
        canvas.put_pipe(15, left + 1, f"|07Next event: |15{self.values['EVENT']}")
        for row, line in enumerate(wrap(self.notice, LAYOUT_COLUMNS - 2), 16):
            canvas.put_pipe(row, left + 1, f"|14{line}")

    def lines(self) -> Sequence[str]:
        told = ["|15Time bank", ""]
        told += [f"|07{label:<24}|15{self.values[field]}" for label, field in self.holdings]
        if self.allowed:
            told.append("|02Still allowed today")
        told += [f"|07{label:<24}|15{self.values[field]}" for label, field in self.allowed]
        told.append(f"|07Next event              |15{self.values['EVENT']}")
        if self.notice:
            told.append(f"|14{self.notice}")
        told += ["", *(f"|08<|15{key}|08>|07 {label}" for key, label in self.choices.items())]
        return told


HOLDINGS: Rows = (
    ("Time left", "TIMELEFT"),
    ("Held behind the event", "HELD"),
    ("Owed", "LOAN"),
)
ALLOWED: Rows = (
    ("Deposit", "DEPOSIT"),
    ("Withdraw", "WITHDRAW"),
    ("Transfer", "TRANSFER"),
    ("Borrow", "BORROW"),
)
