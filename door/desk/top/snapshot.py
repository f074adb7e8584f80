"""The content of `door top`, read from the running servers and the books, and its words.

Call the methods of `BoardWatch` in threads, as they wait for servers and books.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from door.errors import NoAnswer
from door.server import control_client
from timebank.callers import sysop_log
from timebank.calls.calls import open_calls
from timebank.errors import TimeBankError
from timebank.keeping.events import EventAsked
from timebank.ledger.schema import instant
from timebank.reports import ledger_pages
from timebank.reports.ledger_pages import Sought
from timebank.reports.statements import amount
from timebank.words import clock, clock_time, title

if TYPE_CHECKING:
    from door.config.config import Config
    from door.desk.pages.operations import OnCaller, SysopActs
    from door.desk.pages.queries import BooksReader, Today
    from timebank.callers.sysop_log import LogEntry
    from timebank.ledger.database import Desk
    from timebank.ledger.transfers import Extract
    from timebank.settings.schedule import Schedule

MOST_NEW = 100  # transfers shown of those between two looks
LOG_LINES = 50
LOOK_SECONDS = 1.0  # between two looks
TODAY_SECONDS = 10.0  # between two sums of the day, which take longer


@dataclass(frozen=True)
class NewMove:
    """A transfer, in words."""

    at: datetime  # by the board's clock
    caller: str
    amount: str
    why: str


@dataclass(frozen=True)
class BoardSeen:
    """The results of one look. `problem` says why some of them are missing."""

    nodes: Mapping[str, Any]
    refused: Mapping[str, Any]
    moved: Sequence[NewMove]
    log: Sequence[LogEntry]
    problem: str = ""


NOTHING: Mapping[str, Any] = {"nodes": (), "servers": (), "log_ons": 0, "draining": False}
NOBODY_HELD: Mapping[str, Any] = {"held": (), "more": 0, "names": 0}


class BoardWatch:
    """Looks at the board, and remembers which transfers have been shown."""

    def __init__(self, config: Config, reading: BooksReader, doing: SysopActs) -> None:
        self.config = config
        self.doing = doing
        self._reading = reading
        self._last: int | None = None  # number of the last transfer that was shown

    def look(self) -> BoardSeen:
        """Look at servers and books; failures are put into `problem`, none is raised."""
        nodes, refused, problem = NOTHING, NOBODY_HELD, ""
        try:
            nodes = self._ask("nodes")
            refused = self._ask("refused")
        except NoAnswer as error:
            problem = str(error)
        try:
            moved, log = self._reading.look(self._look_into)
        except TimeBankError as error:
            return BoardSeen(nodes, refused, (), (), problem or str(error))
        silent = " ".join(nodes.get("silent", ()))
        return BoardSeen(nodes, refused, moved, log, problem or silent)

    def today(self) -> Today | None:
        """Add up the day; return None if the books do not answer, which `look` reports."""
        try:
            return self._reading.today()
        except TimeBankError:
            return None

    def on(self, node: int) -> OnCaller:
        """Return the caller on a node now; raises `NoAnswer` if there is none."""
        calls = self._reading.look(open_calls)
        call = next((call for call in calls if call.live and call.node == node), None)
        on = None if call is None else self.doing.find(call.caller_id)
        if on is None:
            raise NoAnswer(f"Nobody is on node {node} any more.")
        return on

    def _ask(self, command: str) -> Mapping[str, Any]:
        return control_client.ask_server(self.config.path, None, command, {})

    def _look_into(self, desk: Desk) -> tuple[list[NewMove], list[LogEntry]]:
        rows = ledger_pages.leaf(desk, Sought(), None, MOST_NEW).rows
        last = self._last
        new = [row for row in rows if last is None or row.number > last]
        if rows:
            self._last = rows[0].number
        return [self._moved(row) for row in reversed(new)], sysop_log.entries(desk, None, LOG_LINES)

    def _moved(self, row: Extract) -> NewMove:
        at = self.config.bank.schedule.local(instant(row.at))
        caller = row.source_caller or row.target_caller or ""
        return NewMove(at, caller, amount(row.amount, row.unit), str(row.why))


# Rows and lines for the screen; they need no Textual.


# Columns and their widths: the first six fit on 80 columns, all of them on 132.
COLUMNS = {
    "Node": 4,
    "Caller": 24,
    "Where": 20,
    "Idle": 6,
    "Left": 8,
    "Since": 5,
    "Server": 16,
    "Address": 28,
}
NARROW_COLUMNS = 6
_EVENT = re.compile(r"(?P<name>.*?)(?:\s+for (?P<minutes>\d{1,5}))?(?:\s+in (?P<notice>\d{1,4}))?")


def head(board: str, answer: Mapping[str, Any], today: Today | None) -> str:
    """Return the top line: the board, how many callers are on, and the next event."""
    parts = [board, f"{len(answer['nodes'])} online"]
    if answer["log_ons"]:
        parts.append(f"{answer['log_ons']} logging on")
    if answer["draining"]:
        parts.append("draining")
    event = answer.get("event") or ("" if today is None else today.event)
    return "  ".join([*parts, event]).rstrip()


def node_rows(answer: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each caller, in the order of COLUMNS."""
    return [
        (
            *(str(on["node"]), on["name"], on["where"], _span(on["idle"]), _span(on["left"])),
            "-" if on["since"] is None else f"{datetime.fromisoformat(on['since']):%H:%M}",
            *(on.get("server") or "-", on["address"]),
        )
        for on in answer["nodes"]
    ]


def moved_lines(moved: Iterable[NewMove]) -> list[str]:
    return [
        f"{each.at:%H:%M:%S}  {each.caller:<16.16}{each.amount:>11}  {each.why}" for each in moved
    ]


def refused_lines(answer: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{each['address']:<40}{_span(each['wait']):>8}  {each['why']}" for each in answer["held"]
    ]
    if answer["more"]:
        lines.append(f"And {answer['more']} more.")
    if answer["names"]:
        names = "1 name" if answer["names"] == 1 else f"{answer['names']} names"
        lines.append(f"Strangers have to wait for {names}.")
    return lines or ["Nobody has to wait."]


def house_lines(today: Today | None) -> list[str]:
    """Return the results of the house today, and how minutes have moved."""
    if today is None:
        return ["The books do not answer."]
    lines = [*today.warnings]
    if today.house:
        lines.append(f"{'Table':<22}{'Hands':>7}{'Staked':>14}{'House won':>14}")
    lines += [
        f"{title(game.game):<22.22}{game.hands:>7,}{amount(game.staked, game.unit):>14}"
        f"{amount(game.house, game.unit):>14}"
        for game in today.house
    ]
    if today.flows is None:
        return [*lines, "Nothing has been moved today."]
    flows = (f"{name} {clock(seconds)}" for name, seconds in today.flows.moved.items())
    return [*lines, "Minutes: " + ", ".join(flows)]


def log_lines(log: Sequence[LogEntry], schedule: Schedule) -> list[str]:
    """Return the sysop's log, the newest line first."""
    return [
        f"{schedule.local(each.at):%m-%d %H:%M}  {each.by}: "
        + (f"{each.caller}: {each.what}" if each.caller else each.what)
        for each in log
    ] or ["Nothing was done by hand yet."]


def event_asked(typed: str) -> EventAsked:
    """Parse the line that starts an event: its name, how long, and how soon.

    >>> event_asked("")
    EventAsked(name=None, minutes=None, notice=1)
    >>> event_asked("Mail hour for 30 in 5")
    EventAsked(name='Mail hour', minutes=30, notice=5)
    """
    match = _EVENT.fullmatch(f" {typed.strip()}")
    assert match is not None  # a name may be anything
    name, minutes, notice = match["name"].strip(), match["minutes"], match["notice"]
    usual = EventAsked().notice
    return EventAsked(
        name or None,
        None if minutes is None else int(minutes),
        usual if notice is None else int(notice),
    )


def _span(seconds: int | None) -> str:
    return "-" if seconds is None else clock_time(seconds)
