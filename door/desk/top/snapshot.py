"""What `door top` shows, gathered from the running servers and the books; all of it waits for one
or the other, so it is for threads beside the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from door.errors import NoAnswer
from door.server import control_client
from timebank.callers import sysop_log
from timebank.calls.calls import open_calls
from timebank.errors import TimeBankError
from timebank.ledger.schema import instant
from timebank.reports import ledger_pages
from timebank.reports.ledger_pages import Sought
from timebank.reports.statements import amount

if TYPE_CHECKING:
    from door.config.config import Config
    from door.desk.pages.operations import Doing, OnCaller
    from door.desk.pages.queries import Reading, Today
    from timebank.callers.sysop_log import LogEntry
    from timebank.ledger.database import Desk
    from timebank.ledger.transfers import Extract

MOST_NEW = 100  # transfers that are shown of what came between two looks
LOG_LINES = 50
FEW_SECONDS, MANY_SECONDS = 1.0, 10.0  # between two looks; the second for what takes longer


@dataclass(frozen=True)
class NewMove:
    """A transfer: when by the board's clock, whose time it is, how much of it, and why."""

    at: datetime
    caller: str
    shown: str  # the amount
    why: str


@dataclass(frozen=True)
class BoardSeen:
    """What a look found. `problem` says why the rest is what it was before."""

    nodes: Mapping[str, Any]
    refused: Mapping[str, Any]
    moved: Sequence[NewMove]
    log: Sequence[LogEntry]
    problem: str = ""


NOTHING: Mapping[str, Any] = {"nodes": (), "servers": (), "log_ons": 0, "draining": False}
NOBODY_HELD: Mapping[str, Any] = {"held": (), "more": 0, "names": 0}


class Watching:
    def __init__(self, config: Config, reading: Reading, doing: Doing) -> None:
        self.config = config
        self.doing = doing
        self._reading = reading
        self._last: int | None = None  # number of the last transfer that was shown

    def look(self) -> BoardSeen:
        """Look at servers and books; whatever fails is said, and nothing is raised."""
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
        """Add up the day; None where the books do not answer, which `look` says."""
        try:
            return self._reading.today()
        except TimeBankError:
            return None

    def on(self, node: int) -> OnCaller:
        """Find who is on a node now; raises `NoAnswer` where nobody is."""
        calls = self._reading.look(open_calls)
        found = next((call for call in calls if call.live and call.node == node), None)
        on = None if found is None else self.doing.find(found.caller_id)
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
