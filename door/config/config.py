"""sysop.toml, whole: read once, checked, and frozen.

The time bank reads its own part (`timebank.settings.settings`), each game its section
(`settings.py` in its folder); this adds the board's own keys, and refuses unknown ones. A missing
table or key is the default. docs/guide/settings.md and the comments in sysop.toml say what each
means.

No database and no network here: light commands read this.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from door.config.boards import HostBoard, read_boards
from door.config.defence import HOME, Defences
from door.config.listeners import (
    HealthSettings,
    is_taken,
    read_health,
    read_listeners,
)
from door.config.pages import PagesSettings, read_pages
from door.config.public import EXAMPLE, LONGEST_ADDRESS, PublicSettings, read_public
from door.games.engine.settings import StakeSettings
from door.games.registry import GAMES
from door.lines.registry import ListenerSettings
from door.lines.rlogin.trust import NETWORKS, Network
from timebank.errors import NameRefused
from timebank.language import ENGLISH, LANGUAGES
from timebank.names import names
from timebank.settings.forms import Number, OneOf, Text, TrueOrFalse, setting
from timebank.settings.quoting import guess
from timebank.settings.settings import BankSettings, read_bank
from timebank.settings.toml import TomlTable, open_table

NEW_CALLER = "NEW"  # typed in place of a name by new callers
LONGEST_BOARD_NAME = 40
LONGEST_SERVER_NAME = 40
MOST_NODES = 9999
DAY_SECONDS = 24 * 60 * 60

# How long cards and banners take at a table.
Pace = Literal["normal", "fast", "off"]

CHECK_PAGE = "check.html"  # as ports of kind "web" name the page that checks hands
_PAGE = re.compile(r"https?://[a-zA-Z0-9.\-\[\]:]+(/[!$-~]*)?")  # no #: what checks is behind it


# Hashing a chain of so many seeds through takes a tenth of a millisecond: the writer does it.
MOST_SHOES_AHEAD = 500


STAYS, DOORS_MINUTES = "start_for_doors_minutes", 10
TAKES_DOORS = "takes_doors"  # of release 1.0, as `start_for_doors_minutes = 0` was
_METRICS = {"host": "127.0.0.1", "port": 9523}  # of release 1.0, with a port of their own
_BEACON = ("beacon", "beacon_urls", "beacon_wait_seconds")
NO_NAME = "Sysop"  # of a sysop who has set none


def _sysop(text: str) -> str:
    try:
        name = names.check(text)
    except NameRefused as refusal:
        reason = f"must be a name a caller can have: {str(refusal).rstrip('.')}"
        raise ValueError(reason) from None
    if names.fold(name) == names.fold(NEW_CALLER):
        raise ValueError("is what new callers type; choose another")
    return name


def _mode(text: str) -> int:
    if re.fullmatch("0?7[0157][0145]", text) is None:
        raise ValueError(
            'must be the mode of a folder such as "0700" (its owner alone), "0750" (its group may'
            ' read) or "0770" (its group may write); others may never write'
        )
    return int(text, 8)


@dataclass(frozen=True)
class BoardSettings:
    name: str = setting(Text(str, LONGEST_BOARD_NAME), "Black Jack For Time")
    sysop: str = setting(Text(_sysop), NO_NAME)  # a caller's name, as `names.check` keeps it
    data: Path = setting(Text(Path), "data")
    texts: Path = setting(Text(Path), "texts")  # need not exist
    data_mode: int = setting(Text(_mode), "0700")  # as chmod has it
    # Of whoever has not chosen one, nor whose terminal.
    language: str = setting(OneOf(tuple(LANGUAGES)), ENGLISH)
    animation: Pace = setting(OneOf(get_args(Pace)), "normal")  # of whoever has not chosen one

    @property
    def sysop_shown(self) -> str:
        """The sysop's name for callers; empty until one is set that is more than "Sysop"."""
        return "" if names.is_same(self.sysop, NO_NAME) else self.sysop


@dataclass(frozen=True)
class Calls:
    nodes: int = setting(Number(1, MOST_NODES), 16)
    idle_warning_seconds: int = setting(Number(1, DAY_SECONDS), 240)
    idle_limit_seconds: int = setting(Number(2, DAY_SECONDS), 300)
    logon_seconds: int = setting(Number(1, DAY_SECONDS), 180)


# Which event loop a server runs on: uvloop's where that is installed, or always asyncio's own.
Loop = Literal["auto", "asyncio"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True)
class ServerSettings:
    # How long one stays without callers that the first door starts where none runs.
    start_for_doors_minutes: int = setting(Number(1, DAY_SECONDS // 60), DOORS_MINUTES)
    loop: Loop = setting(OneOf(get_args(Loop)), "auto")
    log_format: LogFormat = setting(OneOf(get_args(LogFormat)), "text")
    # Of this one of several; empty for that of its machine.
    name: str = setting(Text(str, LONGEST_SERVER_NAME, may_be_empty=True), "")
    # Where front ends ask how it is.
    health: HealthSettings | None = setting(Text(read_health, 60, may_be_empty=True), "")


@dataclass(frozen=True)
class TournamentSettings:
    """The board's part of `[tournament]`; the time bank reads when it is open and its prizes."""

    hands: int = setting(Number(1, 50), 10)


@dataclass(frozen=True)
class CompanySettings:
    """What callers may say to each other, hear of each other and see."""

    messages: bool = setting(TrueOrFalse(), True)  # whether callers may write to each other
    messages_a_day: int = setting(Number(1, 1000), 100)
    messages_waiting: int = setting(Number(1, 500), 30)
    one_liners: bool = setting(TrueOrFalse(), True)  # whether they may leave a line on the menu
    comings: bool = setting(TrueOrFalse(), True)  # whether they are told who logs on and off
    watching: bool = setting(TrueOrFalse(), True)  # whether one may watch another's table


@dataclass(frozen=True)
class MetricsSettings:
    """Which addresses are told numbers of the board, besides this machine and front ends."""

    allow: tuple[Network, ...] = setting(NETWORKS, HOME)


@dataclass(frozen=True)
class Config:
    path: Path
    board: BoardSettings
    listeners: tuple[ListenerSettings, ...]
    calls: Calls
    server: ServerSettings
    bank: BankSettings
    games: Mapping[str, StakeSettings]  # by name; each game's game.py knows its own
    boards: Mapping[str, HostBoard]  # by name
    defence: Defences
    company: CompanySettings = field(default_factory=CompanySettings)
    tournament: TournamentSettings = field(default_factory=TournamentSettings)
    pages: PagesSettings = field(default_factory=PagesSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    public: PublicSettings = field(default_factory=PublicSettings)
    # How many shoes each chain of seeds seals ahead; 0 where every seed is sealed by itself.
    shoes_ahead: int = MOST_SHOES_AHEAD
    # Of the page that checks hands, as the sysop gives it; check_page says where it is.
    check_address: str = ""
    # What the system says of the file that was read: whether it is another by now.
    found: os.stat_result | None = field(default=None, compare=False)
    text: str = field(default="", compare=False, repr=False)  # of the file
    # What stands in the file and has no effect, a sentence each.
    unheeded: tuple[str, ...] = field(default=(), compare=False)

    @property
    def database(self) -> Path:
        return self.bank.database

    @property
    def check_page(self) -> str:
        """Where the world finds the page that checks hands: where the sysop says, or else on the
        board's own port for browsers; "" where nobody knows."""
        if self.check_address or not self.public.address:
            return self.check_address
        has_page = any(listener.kind == "web" for listener in self.listeners)
        return f"{self.public.address}/{CHECK_PAGE}" if has_page else ""

    @property
    def coin(self) -> int:
        """The seconds of the coin that amounts are counted in away from the tables."""
        return next(iter(self.games.values())).coin_minutes * 60


def load(path: Path) -> Config:
    """Read and check a sysop.toml; raises `SettingsError` with everything that is wrong with it."""
    found = path.stat() if path.exists() else None
    root = open_table(path)
    config = read(root, path)
    root.finish()
    return replace(config, found=found, text=root.problems.text)


def read(root: TomlTable, path: Path) -> Config:
    """Read a file that is open; problems are noted in `root`, which the caller finishes."""
    games, fairness = root.table("games"), root.table("fairness")
    listeners, bank = read_listeners(root), read_bank(root)
    settings = {name: game.read_settings(games.table(name)) for name, game in GAMES.items()}
    for name in games.unknown():
        known = f"is not a game of this house, which has {', '.join(GAMES)}"
        games.refuse(name, known + guess(name, GAMES))
    return Config(
        path=path,
        board=root.table("board").fill(BoardSettings),
        listeners=listeners,
        calls=_calls(root.table("calls")),
        server=_server(root.table("server"), listeners),
        bank=bank,
        games=settings,
        boards=read_boards(root),
        defence=root.table("defence").fill(Defences),
        company=root.table("company").fill(CompanySettings),
        tournament=root.table("tournament").fill(TournamentSettings),
        pages=read_pages(root.table("pages"), bank),
        metrics=root.table("metrics").fill(MetricsSettings),
        public=read_public(root.table("public"), listeners),
        shoes_ahead=fairness.read("shoes_ahead", Number(0, MOST_SHOES_AHEAD), MOST_SHOES_AHEAD),
        check_address=fairness.read("check_address", CHECK_ADDRESS, ""),
        unheeded=_unheeded(root),
    )


def _check_address(text: str) -> str:
    if not text or _PAGE.fullmatch(text):
        return text
    example = f'{EXAMPLE[:-1]}/{CHECK_PAGE}"'
    reason = f"must be the address of the page that checks hands, such as {example}"
    raise ValueError(f"{reason}, without a # in it")


CHECK_ADDRESS = Text(_check_address, LONGEST_ADDRESS, may_be_empty=True)


def _unheeded(root: TomlTable) -> tuple[str, ...]:
    """Let keys of earlier releases stand, and say so where they were set."""
    said, fairness, server = [], root.table("fairness"), root.table("server")
    for number, table in enumerate(root.tables("listeners") or (), 1):
        if table.retired("telnet").get("telnet"):
            said.append(
                f"{table.place('telnet')}: [[listeners]] {number}, telnet has no effect any more:"
                ' telnet over TLS has a port of its own, with kind = "telnets". Take it out.'
            )
    if fairness.retired(*_BEACON).get("beacon", "none") != "none":
        said.append(
            f"{fairness.place('beacon')}: [fairness] beacon has no effect any more: no shoe waits"
            f" for a round of drand. Take it out, with {' and '.join(_BEACON[1:])}."
        )
    if server.retired("link").get("link"):
        said.append(
            f"{server.place('link')}: [server] link has no effect any more: servers know of each"
            " other by their books alone. Take it out, and close its port."
        )
    told = root.table("metrics").retired(*_METRICS)
    if any(value != _METRICS[key] for key, value in told.items()):
        said.append(
            f"{root.table('metrics').place(next(iter(told)))}: [metrics] host and port have no"
            " effect any more: the server itself tells its numbers, at `health` of [server] under"
            " /metrics. Take them out."
        )
    for key in _of_doors(server):
        said.append(
            f"{server.place(key)}: [server] {key} means nothing any more: every `door run` hands"
            " its caller to the server, and starts one where none runs. Take it out."
        )
    return tuple(said)


def _of_doors(server: TomlTable) -> list[str]:
    """Name the keys of release 1.0 by which a door served its caller itself."""
    old = server.retired(TAKES_DOORS, STAYS)
    return [key for key in old if key == TAKES_DOORS or (old[key] == 0 and old[key] is not False)]


def _server(table: TomlTable, listeners: Sequence[ListenerSettings]) -> ServerSettings:
    # 0 minutes of release 1.0 mean nothing, and are told as such.
    old = {STAYS: DOORS_MINUTES} if STAYS in _of_doors(table) else {}
    server = table.fill(ServerSettings, **old)
    place = server.health
    if place is not None and is_taken(place.host, place.port, listeners):
        reason = f"has port {place.port}, which one of the [[listeners]] takes"
        table.refuse("health", reason)
    return server


def _calls(table: TomlTable) -> Calls:
    calls = table.fill(Calls)
    warning, limit = calls.idle_warning_seconds, calls.idle_limit_seconds
    if table.sound("idle_warning_seconds", "idle_limit_seconds") and warning >= limit:
        key = "idle_warning_seconds" if "idle_warning_seconds" in table else "idle_limit_seconds"
        reason = f"the warning after {warning} seconds must come before the log-off after {limit}"
        table.refuse(key, reason)
    return calls
