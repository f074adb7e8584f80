"""Other boards, whose callers come here: their clocks, and their files.

A host's clock really ticks while its caller is logged on there, at whatever place, and whatever
happens to the process that serves them here. When that has ended, the host reads its files.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from tests.door.dropfiles.writers import bbsdev, door32, door_sys, pascal, remote_access, text, word
from verify.simulate.people import Person
from verify.simulate.wire import TELEPHONES, Telephone

HOUR, MINUTE = 3600, 60
MINUTES = 60  # of a day for callers without a host's clock
SECRET = "xyzzy"
CREDIT = 42  # the line of DOOR.SYS
TIME_LIMIT = 1293  # the byte of EXITINFO.BBS
NO_EVENT = "00:00"


class Guest(Person):
    """A caller of another board. Amounts are seconds."""

    def __init__(
        self,
        board: str,
        number: int,
        alias: str,
        telephone: Telephone,
        chance: random.Random,
        others: Callable[[], list[str]],
    ) -> None:
        super().__init__(f"{alias}@{board}", telephone, chance, others)
        self.board, self.number, self.alias = board, number, alias
        self.kind = KINDS[board]
        self._left = 0.0  # on the clock of their board, when it was looked at
        self._looked: float | None = None  # the monotonic instant; None while they are logged off
        self._day: date | None = None  # on which they were last given their minutes
        self.given = 0  # minutes that their board has read in our files, all together

    @property
    def key(self) -> str:
        """The key that identifies them in the books here."""
        return self.kind.key.format(number=self.number, alias=self.alias.casefold())

    def left(self, now: float) -> int:
        """Return the time on their board's clock."""
        if self._looked is not None:
            self._left = max(0.0, self._left - (now - self._looked))
            self._looked = now
        return int(self._left)

    def logs_on(self, now: float, today: date) -> None:
        """Log on to their board, which gives them an hour a day."""
        if self._looked is None and (self._day is None or today > self._day):
            self._left, self._day = HOUR * self.chance.choice((1, 1, 0.1, 2)), today
        self._looked = self._looked or now

    def logs_off(self, now: float) -> None:
        self.left(now)
        self._looked = None

    def reads(self, minutes: int) -> None:
        """Have their board apply the value it read in our file: to its clock, or to an account."""
        self.given += minutes
        if self.kind.shows_losses or self.chance.random() < 0.5:
            self._left = max(0.0, self._left + minutes * MINUTE)


@dataclass(frozen=True)
class Handed:
    """A host's files for a call, and its checks when the call is over.

    `until` is the start of its next event. `ends` is the monotonic instant at which its clock runs
    out. `minutes` is the number that we may change, 0 if there is none.
    """

    folder: Path
    file: Path
    until: datetime | None
    ends: float | None
    minutes: int

    def read(self) -> int:
        """Return the minutes that the host finds in the files when the door has ended."""
        minutes = self.found()
        (self.folder / "MODUSER.DAT").unlink(missing_ok=True)
        return minutes

    def found(self) -> int:
        """Return the minutes that the files give now."""
        moduser = self.folder / "MODUSER.DAT"
        if moduser.exists():
            return int(moduser.read_text().splitlines()[8])
        content = self.file.read_bytes()
        if self.file.name == "EXITINFO.BBS":
            return int.from_bytes(content[TIME_LIMIT : TIME_LIMIT + 2], "little") - self.minutes
        if self.file.name == "DOOR.SYS":
            return int(content.split(b"\r\n")[CREDIT - 1]) - self.minutes
        return 0


@dataclass(frozen=True)
class Call:
    """A host's data about a call that it hands over; `left` is seconds."""

    guest: Guest
    node: int
    left: int
    event: str
    paints: bool


def _synchronet(call: Call) -> tuple[str, bytes, int]:
    lines = door32(
        number=f"{call.guest.number}",
        alias=call.guest.alias,
        left=f"{call.left // MINUTE}",
        emulation=f"{int(call.paints)}",
        node=f"{call.node}",
    )
    return "DOOR32.SYS", text(*lines, end="\n"), 0


def _gap(call: Call) -> tuple[str, bytes, int]:
    lines = door_sys(
        node=f"{call.node}",
        name=call.guest.alias,
        alias=call.guest.alias,
        number=f"{call.guest.number}",
        seconds=f"{call.left}",
        minutes=f"{call.left // MINUTE}",
        graphics="GR" if call.paints else "NG",
        event=call.event,
    )
    return "DOOR.SYS", text(*lines), 15


def _remote_access(call: Call) -> tuple[str, bytes, int]:
    minutes = call.left // MINUTE
    has_event = call.event != NO_EVENT
    record = bytearray(
        remote_access(
            minutes=minutes, number=call.guest.number, status=int(has_event), start=call.event
        )
    )
    pascal(record, 507, call.guest.alias)
    record[675] = int(call.paints) << 3
    word(record, TIME_LIMIT, minutes)
    return "EXITINFO.BBS", bytes(record), minutes


def _unlimited(software: str, call: Call) -> tuple[str, bytes, int]:
    lines = bbsdev(
        alias=call.guest.alias,
        key=f"{call.guest.number}",
        columns="80",
        rows="24",
        deadline="",
        charset="IBM437" if call.paints else "US-ASCII",
        software=software,
        board=call.guest.board,
        node=f"{call.node}",
    )
    lines = (*lines[:7], "Y" if call.paints else "N", *lines[8:])
    return "BBSDEV.DRP", text(*lines, charset="utf-8"), 0


@dataclass(frozen=True)
class Kind:
    """A kind of host: its drop file, None for one that calls by rlogin, and its keys of callers.

    `gives` are the ways of giving back that the sysop may have agreed with it.
    """

    write: Callable[[Call], tuple[str, bytes, int]] | None
    key: str
    gives: tuple[str, ...]
    shows_losses: bool = False
    has_clock: bool = True


KINDS = {
    "Xibalba": Kind(_synchronet, "number {number}", ("auto", "moduser", "moduser", "thebank.ext")),
    "Fidelia": Kind(_remote_access, "number {number}", ("exitinfo",), shows_losses=True),
    "Gapville": Kind(_gap, "number {number}", ("door.sys", "door.sys", "bank")),
    "Limitless": Kind(
        lambda call: _unlimited("Synchronet 3.21", call), "key {number}", ("auto",), has_clock=False
    ),
    "Nowhere": Kind(
        lambda call: _unlimited("ENiGMA 0.4.1", call),
        "key {number}",
        ("bank", "thebank.ext"),
        has_clock=False,
    ),
    "Afar": Kind(None, "name:{alias}", ("bank", "thebank.ext"), has_clock=False),
}
ALIASES = ("Gil", "Hal", "Ivy", "Gil")  # two of one board may have the same


def some_guests(number: int, chance: random.Random, others: Callable[[], list[str]]) -> list[Guest]:
    """Return this many callers of other boards."""
    boards = list(KINDS)
    guests = []
    for each in range(number):
        board = boards[each % len(boards)]
        alias = ALIASES[each // len(boards) % len(ALIASES)]
        if KINDS[board].write is None:  # such a board has only names
            alias += str(each)
        telephone = chance.choice((TELEPHONES[0], TELEPHONES[2]))
        guests.append(Guest(board, each + 1, alias, telephone, chance, others))
    return guests


def agreed(chance: random.Random) -> list[str]:
    """Return the tables of sysop.toml with the agreements of the boards."""
    lines = []
    for board, kind in KINDS.items():
        lines += [
            f"[boards.{board}]",
            f"minutes = {MINUTES}",
            f"share = {chance.choice((100, 100, 50))}",
            f'give_back = "{chance.choice(kind.gives)}"',
        ]
        if kind.write is None:
            lines += ['addresses = ["192.0.2.0/24"]', f'secret = "{SECRET}"']
    return lines


def hand_over(guest: Guest, node: int, folder: Path, now: float, wall: datetime) -> Handed:
    """Write the drop file of a call into the folder of its node; `wall` is in the host's zone."""
    guest.logs_on(now, wall.date())
    kind, chance = guest.kind, guest.chance
    assert kind.write is not None  # they do not come by rlogin
    until, event = None, NO_EVENT
    if guest.board in ("Gapville", "Fidelia") and chance.random() < 0.3:
        soon = wall + timedelta(minutes=chance.choice((2, 10, 45)))
        event = f"{soon:%H:%M}"
        if event not in ("00:00", "00:01", "00:05"):  # values of boards without an event
            until = soon.replace(second=0, microsecond=0)
            if until.utcoffset() != wall.utcoffset():  # HH:MM says not which
                until = None
    left, paints = guest.left(now), guest.telephone.paints
    name, content, minutes = kind.write(Call(guest, node, left, event, paints))
    shutil.rmtree(folder, ignore_errors=True)  # with the files of another call of the node
    folder.mkdir(parents=True)
    file = folder / name
    file.write_bytes(content)
    os.utime(file, (wall.timestamp(), wall.timestamp()))
    return Handed(folder, file, until, now + left if kind.has_clock else None, minutes)
