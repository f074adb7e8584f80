"""sysop.toml as a whole: read once, checked, and frozen.

The time bank reads its own part (`timebank.settings.settings`), and each game its section
(`settings.py` in its folder). This module reads the board's own keys, and refuses unknown ones. A
missing table or key has its default. meanings.toml explains each key.

Imports no database and no network, because light commands read the settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from door.config.boards import NAMES, HostBoard, is_name, read_boards
from door.config.defence import HOME, Defences
from door.config.listeners import HealthSettings, is_taken, read_health, read_listeners
from door.config.pages import PagesSettings, read_pages
from door.config.public import EXAMPLE, LONGEST_ADDRESS, PublicSettings, read_public
from door.games.engine.game import HOUSE_SETS
from door.games.engine.settings import StakeSettings, read_keys
from door.games.registry import GAMES
from door.lines.addresses import NETWORKS, Network
from door.lines.registry import KINDS, ListenerSettings
from timebank.errors import NameRefused
from timebank.language import ENGLISH, LANGUAGES, N_, catalogue
from timebank.names import names
from timebank.settings.forms import Number, OneOf, Text, Texts, TrueOrFalse, setting
from timebank.settings.quoting import guess
from timebank.settings.settings import BankSettings, read_bank
from timebank.settings.toml import TomlTable, open_table

# For translators: what new callers type instead of a name. NEW works in every language.
NEW_CALLER = N_("NEW")
LONGEST_BOARD_NAME = 40
LONGEST_SERVER_NAME = 40
MOST_NODES = 9999
DAY_SECONDS = 24 * 60 * 60

# How fast cards and banners appear at a table.
Pace = Literal["normal", "fast", "off", "still"]

CHECK_PAGE = "check.html"  # the page that checks hands, at ports of kind "web"
_PAGE = re.compile(r"https?://[a-zA-Z0-9.\-\[\]:]+(/[!$-~]*)?")  # without #, which we append


START_FOR_DOORS, DOORS_MINUTES = "start_for_doors_minutes", 10
DOORS_ARE_SERVED = "every `door run` hands its caller to the server, and starts one if none runs"
NO_NAME = "Sysop"  # the default, which is no caller's name


def means_new(name: str) -> bool:
    """Return whether a name is what new callers type instead of one, in any language."""
    words = (catalogue(language).gettext(NEW_CALLER) for language in LANGUAGES)
    return names.fold(name) in map(names.fold, words)


def _sysop(text: str) -> str:
    try:
        name = names.check(text)
    except NameRefused as refusal:
        reason = f"must be a name a caller can have: {str(refusal).rstrip('.')}"
        raise ValueError(reason) from None
    if means_new(name):
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
    data_mode: int = setting(Text(_mode), "0700")  # as for chmod
    # For callers who have chosen no language, on terminals that name none.
    language: str = setting(OneOf(tuple(LANGUAGES)), ENGLISH)
    animation: Pace = setting(OneOf(get_args(Pace)), "normal")  # for callers who have chosen none

    @property
    def sysop_shown(self) -> str:
        """The sysop's name for callers; "" until the sysop has set one."""
        return "" if names.is_same(self.sysop, NO_NAME) else self.sysop


@dataclass(frozen=True)
class Calls:
    nodes: int = setting(Number(1, MOST_NODES), 16)
    idle_warning_seconds: int = setting(Number(1, DAY_SECONDS), 240)
    idle_limit_seconds: int = setting(Number(2, DAY_SECONDS), 300)
    logon_seconds: int = setting(Number(1, DAY_SECONDS), 180)


# The event loop of a server: uvloop's if it is installed, or always asyncio's own.
Loop = Literal["auto", "asyncio"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True)
class ServerSettings:
    # How long a server that a door has started stays without callers.
    start_for_doors_minutes: int = setting(Number(1, DAY_SECONDS // 60), DOORS_MINUTES)
    loop: Loop = setting(OneOf(get_args(Loop)), "auto")
    log_format: LogFormat = setting(OneOf(get_args(LogFormat)), "text")
    # The name of this server among several; the host name if empty.
    name: str = setting(Text(str, LONGEST_SERVER_NAME, may_be_empty=True), "")
    # The address at which front ends ask for the server's state.
    health: HealthSettings | None = setting(Text(read_health, 60, may_be_empty=True), "")


@dataclass(frozen=True)
class TournamentSettings:
    """The board's part of `[tournament]`; the time bank reads its times and prizes."""

    hands: int = setting(Number(1, 50), 10)


# Whose cards the daily deal has.
DealKind = Literal["world", "board"]


@dataclass(frozen=True)
class DealSettings:
    """`[deal]`: the daily deal."""

    kind: DealKind = setting(OneOf(get_args(DealKind)), "world")


@dataclass(frozen=True)
class SocialSettings:
    """`[company]`: what callers may say to each other, learn of each other and watch."""

    messages: bool = setting(TrueOrFalse(), True)  # whether callers may write to each other
    messages_a_day: int = setting(Number(1, 1000), 100)
    messages_waiting: int = setting(Number(1, 500), 30)
    one_liners: bool = setting(TrueOrFalse(), True)  # whether they may leave a line on the menu
    # Log-ons and log-offs are announced to the callers online.
    announces_arrivals: bool = setting(TrueOrFalse(), True, "comings")
    watching: bool = setting(TrueOrFalse(), True)  # whether callers may watch each other's tables


@dataclass(frozen=True)
class MetricsSettings:
    """The addresses that may read the metrics, besides this machine and front ends."""

    allow: tuple[Network, ...] = setting(NETWORKS, HOME)


@dataclass(frozen=True)
class NotifySettings:
    # The command and its arguments that get the sysop's warnings, a sentence on each line.
    command: tuple[str, ...] = setting(Texts(str), [])


@dataclass(frozen=True)
class NewcomerSettings:
    """The board's part of `[callers]`; the bank reads whether the sysop approves new callers."""

    # Asked of new callers, who must know one of the answers; empty for no question.
    question: str = setting(Text(str, may_be_empty=True), "")
    answers: tuple[str, ...] = setting(Texts(names.fold), [])


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
    social: SocialSettings = field(default_factory=SocialSettings)
    deal: DealSettings = field(default_factory=DealSettings)
    tournament: TournamentSettings = field(default_factory=TournamentSettings)
    pages: PagesSettings = field(default_factory=PagesSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    newcomers: NewcomerSettings = field(default_factory=NewcomerSettings)
    public: PublicSettings = field(default_factory=PublicSettings)
    # The address of the page that checks hands, from the sysop; see `check_page`.
    check_address: str = ""
    # The status of the file when it was read, to recognize a later change.
    file_status: os.stat_result | None = field(default=None, compare=False)
    text: str = field(default="", compare=False, repr=False)  # of the file
    # Sentences about keys of earlier releases, which have no effect.
    retired: tuple[str, ...] = field(default=(), compare=False)

    @property
    def database(self) -> Path:
        return self.bank.database

    @property
    def check_page(self) -> str:
        """The address of the page that checks hands: the sysop's own, else on the board's port for
        browsers, "" if neither is known."""
        if self.check_address or not self.public.address:
            return self.check_address
        has_page = any(KINDS[each.kind].has_pages for each in self.listeners)
        return f"{self.public.address}/{CHECK_PAGE}" if has_page else ""

    @property
    def coin(self) -> int:
        """The seconds of the coin in which amounts are counted outside the tables."""
        return next(iter(self.games.values())).coin_minutes * 60


def load(path: Path) -> Config:
    """Read and check a sysop.toml; raise `SettingsError` with all its mistakes."""
    status = None
    with suppress(OSError, ValueError):  # `open_table` says why it cannot be read
        status = path.stat()
    root = open_table(path)
    config = read(root, path)
    root.finish()
    return replace(config, file_status=status)


def read(root: TomlTable, path: Path) -> Config:
    """Read a parsed file; note its problems in `root`, for the caller of this function to raise."""
    games, fairness = root.table("games"), root.table("fairness")
    listeners, bank = read_listeners(root), read_bank(root)
    _retire(root)
    own = _own_rules(root)
    settings = {name: game.read_settings(games.table(name), own) for name, game in GAMES.items()}
    if not settings["black-jack-for-time"].open:
        bank = replace(bank, most_duel=0)
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
        social=root.table("company").fill(SocialSettings),
        deal=root.table("deal").fill(DealSettings),
        tournament=root.table("tournament").fill(TournamentSettings),
        pages=read_pages(root.table("pages"), bank),
        metrics=root.table("metrics").fill(MetricsSettings),
        notify=root.table("notify").fill(NotifySettings),
        newcomers=_newcomers(root.table("callers")),
        public=read_public(root.table("public"), listeners),
        check_address=fairness.read("check_address", CHECK_ADDRESS, ""),
        text=root.problems.text,
        retired=tuple(root.problems.notes),
    )


def _own_rules(root: TomlTable) -> dict[str, TomlTable]:
    """Return the tables [rules.NAME]. Each may have the keys of all games."""
    own = root.named_tables("rules")
    for name, table in own.items():
        if name in HOUSE_SETS or not is_name(name):
            reason = f"must have another name: {NAMES}, and not {' or '.join(HOUSE_SETS)}"
            root.table("rules").refuse(name, reason)
        for game in GAMES.values():
            read_keys(table, game.kind, game.kind.base)
    return {name: table for name, table in own.items() if is_name(name) and name not in HOUSE_SETS}


def _check_address(text: str) -> str:
    if not text or _PAGE.fullmatch(text):
        return text
    example = f'{EXAMPLE[:-1]}/{CHECK_PAGE}"'
    reason = f"must be the address of the page that checks hands, such as {example}"
    raise ValueError(f"{reason}, without a # in it")


CHECK_ADDRESS = Text(_check_address, LONGEST_ADDRESS, may_be_empty=True)


def _retire(root: TomlTable) -> None:
    """Accept the keys of older releases, and note those that no longer do what they say."""
    fairness, server, metrics = map(root.table, ("fairness", "server", "metrics"))
    for table in root.tables("listeners"):
        own = 'telnet over TLS has a port of its own, with kind = "telnets"'
        table.retire("telnet", False, own)
    fairness.retire("beacon", "none", "no shoe waits for a round of drand")
    fairness.part(("beacon_urls", "beacon_wait_seconds"))
    fairness.retire("shoes_ahead", 500, "the seeds of all shoes are sealed ahead, 500 in a chain")
    server.retire("link", "", "servers know of each other by their books alone; close its port")
    server.retire("takes_doors", None, DOORS_ARE_SERVED)
    own = "the server itself tells its numbers, at `health` of [server] under /metrics"
    metrics.retire("host", "127.0.0.1", own)
    metrics.retire("port", 9523, own)
    own = "after `wrong_passwords` wrong ones, one more is tried each half hour"
    root.table("defence").retire("try_minutes", None, own)


def _server(table: TomlTable, listeners: Sequence[ListenerSettings]) -> ServerSettings:
    old: dict[str, object] = {}
    value = table.part((START_FOR_DOORS,)).get(START_FOR_DOORS)
    if value == 0 and value is not False:  # of release 1.0, whose doors served callers alone
        table.retire(
            START_FOR_DOORS, None, f"0 counts as {DOORS_MINUTES}, because {DOORS_ARE_SERVED}"
        )
        old = {START_FOR_DOORS: DOORS_MINUTES}
    server = table.fill(ServerSettings, **old)
    place = server.health
    if place is not None and is_taken(place.host, place.port, listeners):
        reason = f"has port {place.port}, which one of the [[listeners]] takes"
        table.refuse("health", reason)
    return server


def _newcomers(table: TomlTable) -> NewcomerSettings:
    newcomers = table.fill(NewcomerSettings)
    if newcomers.question and not newcomers.answers and table.is_sound("answers"):
        table.refuse("answers", "must have at least one answer to `question`")
    return newcomers


def _calls(table: TomlTable) -> Calls:
    calls = table.fill(Calls)
    warning, limit = calls.idle_warning_seconds, calls.idle_limit_seconds
    if table.is_sound("idle_warning_seconds", "idle_limit_seconds") and warning >= limit:
        key = "idle_warning_seconds" if "idle_warning_seconds" in table else "idle_limit_seconds"
        reason = f"the warning after {warning} seconds must come before the log-off after {limit}"
        table.refuse(key, reason)
    return calls
