"""What Prometheus is told, and the port at which it asks.

The servers are asked what they alone know (`server/tally.py`), the books for the rest, by a reading
connection: whoever asks how the board is holds up nobody on it. Nothing here names a caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import BytesParser
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from door.defence.counts import Networks
from door.errors import CannotListen, NoAnswer
from door.lines.flow import LineLimits
from door.lines.port.questions import QUESTION, QuestionGate, QuestionPort, http
from door.server.control_client import ask_server
from door.server.tally import LAGS
from timebank.callers import callers
from timebank.calls import calls
from timebank.errors import BooksFailed
from timebank.keeping import last_audit, last_copy
from timebank.keeping.last_audit import LastAudit
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.engines import books_of
from timebank.reports import extracts
from timebank.thebank import outbox
from timebank.wagers import journal

if TYPE_CHECKING:
    from door.clock import Clock
    from door.config.config import Config
    from door.lines.rlogin.trust import Network
    from timebank.ledger.database import Database

# What the books say to whoever watches the board: few rows, however old the books are.


@dataclass(frozen=True)
class Watched:
    """Amounts are seconds of callers' time; play money is left out. `transfers`, `hands` and
    `calls` are the numbers of the last ones."""

    granted: int
    used: int
    transfers: int
    hands: int
    calls: int
    callers: int
    accounts: dict[str, int]  # by their kind
    houses: dict[str, int]  # by their game
    outbox_waiting: int
    outbox_in_doubt: int
    last_copy: float | None  # seconds since 1970
    last_audits: dict[str, LastAudit]  # by the command that audits


def watched(desk: Desk) -> Watched:
    kinds, houses = defaultdict[str, int](int), dict[str, int]()
    for balance in transfers.balances(desk):
        if balance.unit == "second":
            kinds[balance.kind] += balance.amount
            if balance.kind == "house" and balance.game is not None:
                houses[balance.game] = balance.amount
    records = outbox.undelivered(desk)
    doubtful = sum(record.state == "doubtful" for record in records)
    copy = last_copy.last_copy(desk.settings)
    return Watched(
        granted=-kinds["allotment"],
        used=kinds["elapsed"],
        transfers=extracts.last_number(desk),
        hands=journal.last_round(desk),
        calls=calls.last_number(desk),
        callers=callers.count(desk),
        accounts=dict(sorted(kinds.items())),
        houses=houses,
        outbox_waiting=len(records) - doubtful,
        outbox_in_doubt=doubtful,
        last_copy=None if copy is None else copy.at.timestamp(),
        last_audits={
            command: found
            for command in last_audit.NAMES
            if (found := last_audit.last_audit(desk.settings, command)) is not None
        },
    )


AT_ONCE = 16  # who may ask at the same time
_LIMITS = LineLimits(unsent=1024 * 1024, farewell=5.0)

# Numbers of a server, by their names in its tally: what each is called, says, and how many of its
# units make one of ours.
GAUGES = {
    "callers": ("callers", "Callers who are on.", 1),
    "log_ons": ("logons", "Lines on their way to a log-on.", 1),
    "draining": ("draining", "Whether it takes no more calls.", 1),
    "queue": ("writer_waiting", "Operations that wait for the writer.", 1),
}
COUNTERS = {
    "keys": ("keys", "Keys that were pressed.", 1),
    "let_in": ("calls", "Calls that were let in.", 1),
    "groups": ("writer_commits", "Groups of operations that the writer has committed.", 1),
    "operations": ("writer_operations", "Operations of the writer.", 1),
    "writing": ("writer_seconds", "Time that groups of the writer took.", 1000),
}


class WatchedBoard(Collector):
    """The board as it is whenever it is asked for."""

    def __init__(self, config: Config, database: Database) -> None:
        self._config = config
        self._database = database

    def collect(self) -> Iterator[Metric]:
        servers = self._servers()
        yield GaugeMetricFamily("bjft_up", "Whether a server answers.", value=bool(servers))
        yield from _of_servers(servers)
        found = self._watched()
        yield GaugeMetricFamily("bjft_books_up", "Whether the books answer.", value=bool(found))
        if found is not None:
            yield from _of_books(found)

    def _servers(self) -> list[Mapping[str, Any]]:
        try:
            return list(ask_server(self._config.path, None, "tally", {})["servers"])
        except NoAnswer:
            return []

    def _watched(self) -> Watched | None:
        try:
            with self._database.reading(self._config.bank, datetime.now(UTC)) as desk:
                return watched(desk)
        except BooksFailed:
            return None


def _of_servers(servers: Iterable[Mapping[str, Any]]) -> Iterator[Metric]:
    families: list[Metric] = []
    for kind, known in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
        for key, (name, words, parts) in known.items():
            family = kind(f"bjft_{name}", words, labels=("server",))
            for each in servers:
                family.add_metric((each["name"],), each[key] / parts)
            families.append(family)
    refusals = CounterMetricFamily(
        "bjft_refusals", "Who was not let in or not believed.", labels=("server", "fault")
    )
    lag = HistogramMetricFamily(
        "bjft_loop_lag_seconds", "By how much the event loop is late.", labels=("server",)
    )
    for each in servers:
        lag.add_metric((each["name"],), *_histogram(each["lag"]))
        for key, fault in (("refused", "caller"), ("turned_away", "board")):
            refusals.add_metric((each["name"], fault), each[key])
    return iter([*families, refusals, lag])


def _histogram(lag: Mapping[str, Any]) -> tuple[list[tuple[str, float]], float]:
    """Add up classes of delays as Prometheus has them, each with all that are below it."""
    buckets, so_far = list[tuple[str, float]](), 0
    ends = (*(f"{each / 1000:g}" for each in LAGS), "+Inf")
    for end, count in zip(ends, lag["classes"], strict=True):
        so_far += count
        buckets.append((end, so_far))
    return buckets, lag["sum"] / 1000


def _of_books(found: Watched) -> Iterator[Metric]:
    for name, words, number in (
        ("granted_seconds", "Time that was granted to callers.", found.granted),
        ("used_seconds", "Time that callers have used.", found.used),
        ("transfers", "Transfers in the books.", found.transfers),
        ("hands", "Hands that were dealt.", found.hands),
        ("calls_in_books", "Calls, by doors too.", found.calls),
    ):
        yield CounterMetricFamily(f"bjft_{name}", words, value=number)
    accounts = GaugeMetricFamily(
        "bjft_account_seconds", "What accounts of a kind hold together.", labels=("kind",)
    )
    for kind, seconds in found.accounts.items():
        accounts.add_metric((kind,), seconds)
    yield accounts
    houses = GaugeMetricFamily(
        "bjft_house_seconds", "What the house has won at a table.", labels=("table",)
    )
    for table, seconds in found.houses.items():
        houses.add_metric((table,), seconds)
    yield houses
    for name, words, count in (
        ("registered_callers", "Callers who are registered.", found.callers),
        ("outbox_waiting", "Records that THEBANK.EXT does not have yet.", found.outbox_waiting),
        ("outbox_in_doubt", "Records of which nobody knows it.", found.outbox_in_doubt),
    ):
        yield GaugeMetricFamily(f"bjft_{name}", words, value=count)
    if found.last_copy is not None:
        words = "When the books were last copied, in seconds since 1970."
        yield GaugeMetricFamily("bjft_last_backup_timestamp_seconds", words, value=found.last_copy)
    audited = GaugeMetricFamily(
        "bjft_last_audit_timestamp_seconds",
        "When the books were last audited, in seconds since 1970.",
        labels=("command",),
    )
    wrong = GaugeMetricFamily(
        "bjft_last_audit_findings", "What the last audit found wrong.", labels=("command",)
    )
    for command, audit in found.last_audits.items():
        audited.add_metric((command,), audit.at.timestamp())
        wrong.add_metric((command,), audit.wrong)
    yield audited
    yield wrong


# The port.


class MetricsPort(QuestionPort):
    """Answers addresses in `allow`. Others are hung up on, and take nobody's place."""

    def __init__(
        self, allow: Iterable[Network], registry: CollectorRegistry, clock: Clock | None = None
    ) -> None:
        async def answer(question: bytes) -> bytes:
            return await asyncio.to_thread(answer_to, question, registry)

        gate = QuestionGate(Networks(allow).hold, AT_ONCE)
        super().__init__("metrics", gate, answer, _LIMITS, clock)


def answer_to(question: bytes, registry: CollectorRegistry) -> bytes:
    """Return all numbers as HTTP, in the format that the question accepts."""
    asked = QUESTION.match(question)
    if asked is None:
        return http("400 Bad Request")
    head = BytesParser().parsebytes(question[asked.end() :], headersonly=True)
    encode, kind = choose_encoder(str(head.get("Accept", "")))
    return http("200 OK", encode(registry), kind, has_body=asked[1] != b"HEAD")


def serve(config: Config, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Answer until SIGTERM or SIGINT. Raises `CannotListen`, and as opening the books."""
    with contextlib.closing(books_of(config.bank)) as database:
        database.open_existing()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(WatchedBoard(config, database))
        asyncio.run(_serve(config, host, port, registry, announce))


async def _serve(
    config: Config,
    host: str,
    port: int,
    registry: CollectorRegistry,
    announce: Callable[[str], None],
) -> None:
    listener = MetricsPort(config.metrics.allow, registry)
    try:
        await listener.open(host, port)
    except OSError as error:
        raise CannotListen(
            f"Port {port} on {host} cannot be opened ({error.strerror}). [metrics] in"
            f" {config.path} says where, and --host and --port."
        ) from error
    ends = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ends.set)
    where = f"[{host}]" if ":" in host else host
    announce(f"Metrics: http://{where}:{listener.port}/metrics")
    await ends.wait()
    await listener.finish(0)
