"""Metrics of a server and its books in the text format of Prometheus, without callers' names.

The books are read through a reading connection, so that no caller waits.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from timebank.callers import callers
from timebank.calls import calls
from timebank.errors import BooksFailed
from timebank.keeping import last_runs
from timebank.ledger import transfers
from timebank.reports import extracts
from timebank.thebank import outbox
from timebank.wagers import journal

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.ledger.database import Desk

BOOKS_SECONDS = 5.0  # for the books to answer
# Upper bounds of the histogram's buckets, in milliseconds; one more bucket takes longer delays.
LAGS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
LOOK_SECONDS = 0.25


class LoopLag:
    """How late the event loop runs, which is how long a pressed key waits."""

    def __init__(self) -> None:
        self.classes = [0] * (len(LAGS) + 1)  # the count of each bucket
        self.seconds = 0.0

    async def watch(self) -> None:
        """Measure the delay every `LOOK_SECONDS`, until cancelled."""
        while True:
            due = asyncio.get_running_loop().time() + LOOK_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
            self.count(max(0.0, asyncio.get_running_loop().time() - due))

    def count(self, late: float) -> None:
        """Count one measurement of a delay of `late` seconds."""
        self.classes[bisect_left(LAGS, late * 1000)] += 1
        self.seconds += late


async def numbers(board: Board, lag: LoopLag) -> str:
    """Return all metrics in the text format of Prometheus; leave out the books' if they fail."""
    try:
        async with asyncio.timeout(BOOKS_SECONDS):
            of_books = await board.books.read(_of_books)
    except (BooksFailed, TimeoutError):
        of_books = []
    lines = [
        *_family("gauge", "up", "Whether a server answers.", {"": 1}),
        *_of_server(board),
        *_histogram(lag, board.peers.own_name),
        *_family("gauge", "books_up", "Whether the books answer.", {"": int(bool(of_books))}),
        *of_books,
    ]
    return "".join(f"{line}\n" for line in lines)


def _of_server(board: Board) -> Iterator[str]:
    name, callers_on, load = board.peers.own_name, board.callers(), board.books.load()
    log_ons = max(0, len(board.consoles) - len(callers_on))
    keys = board.keys_of_gone + sum(console.keyboard.keys_received for console in board.consoles)
    for kind, called, words, number in (
        ("gauge", "callers", "Callers who are on.", len(callers_on)),
        ("gauge", "logons", "Lines on their way to a log-on.", log_ons),
        ("gauge", "draining", "Whether it takes no more calls.", int(board.draining)),
        ("gauge", "writer_waiting", "Operations that wait for the writer.", load.waiting),
        ("counter", "keys", "Keys that were pressed.", keys),
        ("counter", "calls", "Calls that were let in.", board.reception.let_in),
        ("counter", "writer_commits", "Groups that the writer has committed.", load.groups),
        ("counter", "writer_operations", "Operations of the writer.", load.operations),
        ("counter", "writer_seconds", "Time that groups of the writer took.", load.seconds),
    ):
        yield from _family(kind, called, words, {_labels(server=name): number})
    refusals = {
        _labels(server=name, fault="caller"): board.reception.refused,
        _labels(server=name, fault="board"): board.reception.turned_away,
    }
    yield from _family("counter", "refusals", "Who was not let in or not believed.", refusals)


def _histogram(lag: LoopLag, server: str) -> Iterator[str]:
    """Yield the lines of the histogram; each bucket includes the smaller ones, as in Prometheus."""
    name, so_far = "bjft_loop_lag_seconds", 0
    yield f"# HELP {name} By how much the event loop is late."
    yield f"# TYPE {name} histogram"
    ends = (*(f"{each / 1000:g}" for each in LAGS), "+Inf")
    for end, count in zip(ends, lag.classes, strict=True):
        so_far += count
        yield f"{name}_bucket{_labels(server=server, le=end)} {so_far}"
    yield f"{name}_count{_labels(server=server)} {so_far}"
    yield f"{name}_sum{_labels(server=server)} {lag.seconds}"


def _of_books(desk: Desk) -> list[str]:
    """Return the metrics of the books. The number of rows read does not grow with the books.

    Amounts are seconds of callers' time; play money is left out.
    """
    kinds, houses = defaultdict[str, int](int), dict[str, int]()
    for balance in transfers.balances(desk):
        if balance.unit == "second":
            kinds[balance.kind] += balance.amount
            if balance.kind == "house" and balance.game is not None:
                houses[balance.game] = balance.amount
    records = outbox.undelivered(desk)
    in_doubt = sum(record.state == "doubtful" for record in records)
    copy = last_runs.last_copy(desk.settings)
    last_audits = ((each, last_runs.last_audit(desk.settings, each)) for each in last_runs.AUDITS)
    audits = {command: audit for command, audit in last_audits if audit is not None}
    at = {command: audit.at.timestamp() for command, audit in audits.items()}
    wrong = {command: audit.wrong for command, audit in audits.items()}
    copied = {} if copy is None else {"": copy.at.timestamp()}
    rows: list[tuple[str, str, str, Mapping[str, float]]] = [
        ("counter", "granted_seconds", "Time that was granted.", {"": -kinds["allotment"]}),
        ("counter", "used_seconds", "Time that callers have used.", {"": kinds["elapsed"]}),
        ("counter", "transfers", "Transfers in the books.", {"": extracts.last_number(desk)}),
        ("counter", "hands", "Hands that were dealt.", {"": journal.last_round(desk)}),
        ("counter", "calls_in_books", "Calls, by doors too.", {"": calls.last_number(desk)}),
        ("gauge", "account_seconds", "What accounts of a kind hold.", _by("kind", kinds)),
        ("gauge", "house_seconds", "What the house has won.", _by("table", houses)),
        ("gauge", "registered_callers", "Callers.", {"": callers.count(desk)}),
        ("gauge", "outbox_waiting", "Records on their way.", {"": len(records) - in_doubt}),
        ("gauge", "outbox_in_doubt", "Records of which nobody knows.", {"": in_doubt}),
        ("gauge", "last_backup_timestamp_seconds", "When the books were copied.", copied),
        ("gauge", "last_audit_timestamp_seconds", "When they were audited.", _by("command", at)),
        ("gauge", "last_audit_findings", "What was wrong in them.", _by("command", wrong)),
    ]
    return [line for row in rows for line in _family(*row)]


def _by(label: str, values: Mapping[str, float]) -> dict[str, float]:
    return {_labels(**{label: each}): value for each, value in values.items()}


def _family(kind: str, name: str, words: str, values: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of one metric; `values` has its values by label."""
    name = f"bjft_{name}_total" if kind == "counter" else f"bjft_{name}"
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for which, value in values.items():
        yield f"{name}{which} {value}"


def _labels(**values: str) -> str:
    r"""Return labels as Prometheus writes them.

    >>> _labels(server='the "north"', le="1")
    '{server="the \\"north\\"",le="1"}'
    """
    pairs = []
    for name, text in values.items():
        escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        pairs.append(f'{name}="{escaped}"')
    return f"{{{','.join(pairs)}}}"
