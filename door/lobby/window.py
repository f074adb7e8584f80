"""The screen of the bank's window: ours, or the sysop's drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ansi import art
from ansi.canvas import Canvas
from ansi.width import text_width
from door import wording
from door.call.markup import literal, wrap
from door.call.scene import LAYOUT_COLUMNS, WholeWidth
from door.lobby import texts
from door.lobby.amounts import MovementWords
from timebank.language import N_, _
from timebank.window import teller
from timebank.window.allowance import NO_WINDOW
from timebank.window.teller import BankOperation

if TYPE_CHECKING:
    from ansi.art import Art
    from door.call.caller import Caller
    from door.call.scene import Area, Scene
    from timebank.window.teller import Allowance


@dataclass(frozen=True)
class FilledScreen(WholeWidth):
    picture: Art
    values: dict[str, str]

    def paint(self, canvas: Canvas, area: Area) -> None:
        left, rows = area.centred(), area.rows
        # Painted apart first: the drawing may move the cursor beyond the rows of the scene.
        scratch = Canvas(canvas.columns, rows)
        art.paint(scratch, self._filled(), 0, left)
        for row in range(rows):
            for column, character in enumerate(scratch.text(row)):
                canvas.put(row, column, character, scratch.style_at(row, column))

    def lines(self) -> Sequence[str]:
        return texts.lines(self._filled())

    def _filled(self) -> Art:
        return texts.filled(self.picture, self.values)


SCREEN = "bank"  # bank.ans and bank.asc in the sysop's texts folder
HEADER = "time-bank"


def mode_words(caller: Caller) -> str:
    return str(NO_WINDOW.get(caller.bank_settings.mode, ""))


def window(caller: Caller, allowance: Allowance, choices: Mapping[str, str]) -> Scene:
    """Return the window for this caller; `choices` are the commands that they may use."""
    values = field_values(caller, allowance)
    picture = texts.find(caller.console, caller.config.board.texts, SCREEN)
    if picture is not None:
        return FilledScreen(picture, values)
    mode = caller.bank_settings.mode
    bank = BANK if mode == "built-in" else LEFT_OVER
    allowed = tuple(ALLOWED.values()) if mode == "built-in" else ()
    closing = caller.purse.posted.closing
    event = "" if closing is None else str(closing.name)
    header = texts.find(caller.console, caller.config.board.texts, HEADER)
    return WindowScene(
        values, (bank, *HOLDINGS), allowed, mode_words(caller), choices, event, header
    )


def mode_notice(caller: Caller, scene: Scene) -> str:
    """Return the words about the bank's mode if the scene is a drawing, which lacks them."""
    return mode_words(caller) if isinstance(scene, FilledScreen) else ""


def field_values(caller: Caller, allowance: Allowance) -> dict[str, str]:
    """Return the fields of the window as text; docs/guide/screens.md lists them."""
    purse = caller.purse.posted
    clock = wording.clock_time
    return {
        "NAME": caller.record.name,
        "BALANCE": clock(purse.bank),
        "TIMELEFT": clock(caller.purse.time_left()),
        "HELD": clock(purse.held),
        "LOAN": clock(-purse.loan),
        **{field.name: clock(allowance[each].seconds) for each, field in ALLOWED.items()},
        "EVENT": caller.purse.event_words() or _("none"),
        "AUTO": _("yes") if caller.prefers(teller.AUTO_DEPOSIT) else _("no"),
    }


@contextmanager
def ticking(caller: Caller) -> Iterator[None]:
    """Count the time left down in the window while it is on the screen."""

    def tick() -> None:
        before()
        scene = caller.console.display.view().scene
        if isinstance(scene, WindowScene | FilledScreen):
            scene.values["TIMELEFT"] = wording.clock_time(caller.purse.time_left())
            caller.console.display.refresh()

    before = caller.clock.on_tick
    caller.clock.on_tick = tick
    try:
        yield
    finally:
        caller.clock.on_tick = before


class Field(NamedTuple):
    label: str
    name: str
    meaning: str


BANK = Field(N_("Bank"), "BALANCE", N_("what your time bank holds, for any day."))
LEFT_OVER = Field(
    N_("Odd seconds"), "BALANCE", N_("seconds that count once they make a whole minute.")
)
HOLDINGS = (
    Field(N_("Time left"), "TIMELEFT", N_("what you can use and bet now.")),
    Field(
        N_("Available later"),
        "HELD",
        N_("yours, but only once the next event of the board is over."),
    ),
    Field(N_("Owed"), "LOAN", N_("what you have borrowed and not paid back.")),
)


@dataclass(frozen=True)
class Service(MovementWords):
    """An operation of the bank with its words."""

    label: str
    meaning: str
    operation: BankOperation
    # Explains its row in the list "You can still"; "" keeps it off that list.
    most: str = ""


SERVICES = {
    "D": Service(
        question=N_("Deposit how much? Up to {most}, or max (Enter for none):"),
        confirmation=N_("Deposit {amount}?"),
        done=N_("{amount} deposited."),
        label=N_("Deposit"),
        meaning=N_("Put minutes of your time left in the bank, for another day."),
        operation=teller.deposit,
        most=N_("the most that you can put in now."),
    ),
    "W": Service(
        question=N_("Withdraw how much? Up to {most}, or max (Enter for none):"),
        confirmation=N_("Withdraw {amount}?"),
        done=N_("{amount} withdrawn."),
        label=N_("Withdraw"),
        meaning=N_("Take minutes out of the bank, to use them now."),
        operation=teller.withdraw,
        most=N_("the most that you can take out now."),
    ),
    "T": Service(
        question=N_("Send how much? Up to {most}, or max (Enter for none):"),
        confirmation=N_("Send {amount} to {name}?"),
        done=N_("{amount} sent to {name}."),
        label=N_("Transfer"),
        meaning=N_("Send minutes from your account to another caller's."),
        operation=teller.sender_rules,
        most=N_("the most that you can send to others now."),
    ),
    "B": Service(
        question=N_("Borrow how much? Up to {most}, or max (Enter for none):"),
        confirmation=N_("Borrow {amount}?"),
        done=N_("{amount} borrowed."),
        label=N_("Borrow"),
        meaning=N_("Borrow minutes from the bank, to be paid back."),
        operation=teller.borrow,
        most=N_("the most that the bank lends you now."),
    ),
    "R": Service(
        question=N_("Repay how much? Up to {most}, or max (Enter for none):"),
        confirmation=N_("Repay {amount}?"),
        done=N_("{amount} repaid."),
        label=N_("Repay"),
        meaning=N_("Pay a loan back out of your time left."),
        operation=teller.repay,
    ),
}
ALLOWED = {
    each.operation: Field(each.label, each.operation.name.upper(), each.most)
    for each in SERVICES.values()
    if each.most
}
LABEL, AMOUNT = 24, 9  # cells
AFTER = N_("Available after {event}"), N_("After {event}")  # the first one that fits is used


@dataclass(frozen=True)
class WindowScene(WholeWidth):
    values: dict[str, str]
    holdings: tuple[Field, ...]
    allowed: tuple[Field, ...]
    notice: str
    choices: Mapping[str, str]
    event: str = ""  # the name of the next event
    header: Art | None = None  # drawn above if there is room

    def paint(self, canvas: Canvas, area: Area) -> None:
        if area.is_narrow:
            canvas.put_pipe(0, 0, "|17" + " " * canvas.width)
            self._paint_narrow(canvas, area)
            return
        left = area.centred()
        notice = wrap(self.notice, LAYOUT_COLUMNS - 2) if self.notice else ()
        held = len(self.holdings) + (2 + len(self.allowed) if self.allowed else 0)
        event_row = max(held, len(self.choices)) + 3  # below the top of the frame
        name = f"|11{literal(self.values['NAME'])}"
        top = 0 if self.header is None else texts.header_rows(self.header)
        if self.header is not None and top + event_row + len(notice) < area.rows:
            texts.paint_header(canvas, self.header, area)
            canvas.put_pipe(top, left + 43, name)
        else:
            top = 2
            canvas.put_pipe(0, 0, "|17" + " " * canvas.width)
            canvas.put_pipe(0, left + 1, f"|17|15{_('Time bank')}  {name}")
        canvas.box(top, left + 1, 38, held + 2)
        self._rows(canvas, top + 1, left + 3, self.holdings)
        if self.allowed:
            row = top + 2 + len(self.holdings)
            canvas.put_pipe(row, left + 3, f"|10{_('You can still')}")
            self._rows(canvas, row + 1, left + 3, self.allowed)
        for row, (key, label) in enumerate(self.choices.items(), top + 1):
            canvas.put_pipe(row, left + 43, f"|08<|15{key}|08>|07 {label}")
        row = top + event_row
        canvas.put_pipe(row, left + 1, f"|07{_('Next event:')} |15{self.values['EVENT']}")
        for number, line in enumerate(notice, row + 1):
            canvas.put_pipe(number, left + 1, f"|14{line}")

    def _paint_narrow(self, canvas: Canvas, area: Area) -> None:
        """Paint without a frame; a mode without amounts has its notice in their place."""
        left = area.left + 1
        canvas.put_pipe(0, left, f"|17|15{_('Time bank')}|11  {literal(self.values['NAME'])}")
        self._rows(canvas, 1, left, self.holdings)
        row = 1 + len(self.holdings)
        if self.allowed:
            canvas.put_pipe(row, left, f"|10{_('You can still')}")
            self._rows(canvas, row + 1, left, self.allowed)
            row += 1 + len(self.allowed)
        for line in wrap(self.notice, area.columns - 2) if self.notice else ():
            canvas.put_pipe(row, left, f"|14{line}")
            row += 1
        for number, (key, label) in enumerate(self.choices.items()):
            canvas.put_pipe(
                row + number // 2, left + number % 2 * 19, f"|08<|15{key}|08>|07 {label}"
            )
        row += (len(self.choices) + 1) // 2
        event = f"|07{_('Next event:')} |15{self.values['EVENT']}"
        for number, line in enumerate(wrap(event, area.columns - 2)[: area.rows - row], row):
            canvas.put_pipe(number, left, line)

    def _rows(self, canvas: Canvas, top: int, left: int, fields: Sequence[Field]) -> None:
        for row, field in enumerate(fields, top):
            value = self.values[field.name]
            room = LABEL + AMOUNT - len(value)
            canvas.put_pipe(row, left, f"|07{self._label(field, room - 1):<{room}}|15{value}")

    def _label(self, field: Field, room: int) -> str:
        """Return the label of a field in at most `room` cells; held time is named by its event."""
        if field.name != "HELD" or not self.event:
            return _(field.label)
        event = literal(self.event)
        long, short = (_(words).format(event=event) for words in AFTER)
        return long if text_width(long) <= room else short[:room]

    def lines(self) -> Sequence[str]:
        rows = [f"|15{_('Time bank')}", "", *self._field_lines(self.holdings)]
        if self.allowed:
            # One text: plain lines tell the heading again with a row that has changed.
            rows.append("\n".join((f"|10{_('You can still')}", *self._field_lines(self.allowed))))
        rows.append(f"|07{_('Next event'):<{LABEL}} |15{self.values['EVENT']}")
        if self.notice:
            rows.append(f"|14{self.notice}")
        return [*rows, "", *(f"|08<|15{key}|08>|07 {word}" for key, word in self.choices.items())]

    def _field_lines(self, fields: Sequence[Field]) -> list[str]:
        return [
            f"|07{self._label(each, LABEL + AMOUNT):<{LABEL}} |15{self.values[each.name]}"
            for each in fields
        ]

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        fields = (*self.holdings, *self.allowed)
        text = _("{field}: {meaning}")
        return [
            text.format(field=f"|15{self._label(each, LABEL + AMOUNT)}|07", meaning=_(each.meaning))
            for each in fields
        ]
