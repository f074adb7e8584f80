"""sysop.toml, whole: read once, checked, and frozen.

The time bank reads its own part (`timebank.settings.settings`), the games say which variations they
know (`door.games`); this adds the board's own keys, and refuses what nobody knows. A missing table
or key is the default, so an empty file is a valid board. docs/sysop-guide.md and the comments in
sysop.toml say what each key means.

Kept light, because a door process reads this before its first screen: no database, no network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, get_args

from door.config.boards import HostBoard, read_boards
from door.config.defence import Defences, read_defence
from door.config.listeners import Listener, read_listeners
from door.games.baccarat import rules as baccarat_rules
from door.games.baccarat.rules import BACCARAT
from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    MOST_SEATS,
    VEGAS,
    Rules,
    RulesRefused,
    rules_from_mapping,
)
from timebank.names import names
from timebank.settings.settings import BankSettings, SettingsError, Table, open_table, read_bank

__all__ = [
    "Baccarat",
    "BlackJackForTime",
    "Board",
    "Calls",
    "Config",
    "Listener",
    "SettingsError",
    "Stakes",
    "UnixBj",
    "Vegas",
    "load",
    "read",
]

Language = Literal["english", "french"]

NEW_CALLER = "NEW"  # typed for a name by who has none yet
LONGEST_BOARD_NAME = 40
DATA_MODE = "0700"  # of the data folder, unless the sysop says otherwise
MOST_NODES = 9999
MOST_COINS = 1440  # a day of the smallest coins
DAY_SECONDS = 24 * 60 * 60
LONGEST_WAIT = 600  # seconds at a table where others wait as well


@dataclass(frozen=True)
class Board:
    """Whose board it is, and where it keeps its things.

    `sysop` is a caller's name as `names.check` keeps it. `texts` need not exist. `data_mode` is the
    mode of the folder `data`, as chmod has it.
    """

    name: str
    sysop: str
    data: Path
    texts: Path
    data_mode: int


@dataclass(frozen=True)
class Calls:
    """How many callers at once, and how patient the board is with each."""

    nodes: int
    idle_warning_seconds: int
    idle_limit_seconds: int
    logon_seconds: int


@dataclass(frozen=True)
class Stakes:
    """What is wagered at a table that is played for time: its coin, and bets in coins.

    `turns_per_day` is 0 where there is no limit; `open` whether callers may sit down.
    """

    open: bool
    coin_minutes: int
    smallest_bet: int
    largest_bet: int
    turns_per_day: int


class _StakeValues(TypedDict):
    open: bool
    coin_minutes: int
    smallest_bet: int
    largest_bet: int
    turns_per_day: int


@dataclass(frozen=True)
class BlackJackForTime(Stakes):
    """The table of Black Jack For Time, with the house's variations."""

    rules: Rules


@dataclass(frozen=True)
class Baccarat(Stakes):
    """The baccarat table; the stakes are those of the game for time."""

    language: Language  # of a caller who has not chosen one
    rules: baccarat_rules.Rules


@dataclass(frozen=True)
class UnixBj:
    """The teletype of UNIX bj; a coin and turns count where it is played for minutes."""

    open: bool
    stakes: Literal["play money", "minutes"]
    prompts: Literal["1975", "1971"]
    coin_minutes: int
    turns_per_day: int


@dataclass(frozen=True)
class Vegas(Stakes):
    """The table where callers sit together; waits are in seconds."""

    seats: int
    bell_seconds: int
    turn_seconds: int
    resume_wait: int
    rules: Rules


@dataclass(frozen=True)
class Config:
    """All of one sysop.toml."""

    path: Path
    board: Board
    listeners: tuple[Listener, ...]
    calls: Calls
    bank: BankSettings
    black_jack_for_time: BlackJackForTime
    baccarat: Baccarat
    unix_bj: UnixBj
    vegas: Vegas
    boards: Mapping[str, HostBoard]  # by name
    defence: Defences

    @property
    def database(self) -> Path:
        """The file of the books."""
        return self.bank.database


def load(path: Path) -> Config:
    """Read and check a sysop.toml; raises `SettingsError` with everything that is wrong with it."""
    root = open_table(path)
    config = read(root, path)
    root.finish()
    return config


def read(root: Table, path: Path) -> Config:
    """Read a file that is open; its problems are noted in `root`, which is yet to be finished."""
    games = root.table("games")
    return Config(
        path=path,
        board=_board(root.table("board")),
        listeners=read_listeners(root),
        calls=_calls(root.table("calls")),
        bank=read_bank(root),
        black_jack_for_time=_black_jack_for_time(games.table("black-jack-for-time")),
        baccarat=_baccarat(games.table("baccarat")),
        unix_bj=_unix_bj(games.table("unix-bj")),
        vegas=_vegas(games.table("vegas")),
        boards=read_boards(root),
        defence=read_defence(root.table("defence")),
    )


def _board(table: Table) -> Board:
    name = table.text("name", "Black Jack For Time", LONGEST_BOARD_NAME)
    sysop = table.text("sysop", "Sysop")
    try:
        sysop = names.check(sysop)
        if names.fold(sysop) == names.fold(NEW_CALLER):
            table.refuse("sysop", "is what callers type who have no name yet; choose another")
    except names.NameRefused as refusal:
        table.refuse("sysop", f"must be a name a caller can have: {str(refusal).rstrip('.')}")
    data, texts = table.path("data", "data"), table.path("texts", "texts")
    return Board(name, sysop, data, texts, _mode(table))


def _mode(table: Table) -> int:
    """Read the mode of the data folder: its owner's for all, and others never write."""
    text = table.text("data_mode", DATA_MODE)
    if re.fullmatch("0?7[0157][0145]", text) is None:
        table.refuse(
            "data_mode",
            'must be the mode of a folder such as "0700" (its owner alone), "0750" (its group may'
            ' read) or "0770" (its group may write); others may never write',
        )
        text = DATA_MODE
    return int(text, 8)


def _calls(table: Table) -> Calls:
    calls = Calls(
        nodes=table.whole("nodes", 16, 1, MOST_NODES),
        idle_warning_seconds=table.whole("idle_warning_seconds", 240, 1, DAY_SECONDS),
        idle_limit_seconds=table.whole("idle_limit_seconds", 300, 2, DAY_SECONDS),
        logon_seconds=table.whole("logon_seconds", 180, 1, DAY_SECONDS),
    )
    warning, limit = calls.idle_warning_seconds, calls.idle_limit_seconds
    if table.sound("idle_warning_seconds", "idle_limit_seconds") and warning >= limit:
        key = "idle_warning_seconds" if "idle_warning_seconds" in table else "idle_limit_seconds"
        reason = f"the warning after {warning} seconds must come before the log-off after {limit}"
        table.refuse(key, reason)
    return calls


def _black_jack_for_time(table: Table) -> BlackJackForTime:
    return BlackJackForTime(**_stakes(table), rules=_rules(table, BLACK_JACK_FOR_TIME))


def _baccarat(table: Table) -> Baccarat:
    stakes = _stakes(table)
    language = table.choice("language", "english", get_args(Language))
    try:
        rules = baccarat_rules.rules_from_mapping(table.part(baccarat_rules.SYSOP_KEYS), BACCARAT)
    except RulesRefused as refusal:
        rules = BACCARAT
        for key, reason in refusal.problems:
            table.refuse(key, reason)
    return Baccarat(**stakes, language=language, rules=rules)


def _unix_bj(table: Table) -> UnixBj:
    return UnixBj(
        open=table.flag("open", True),
        stakes=table.choice("stakes", "play money", ("play money", "minutes")),
        prompts=table.choice("prompts", "1975", ("1975", "1971")),
        coin_minutes=table.whole("coin_minutes", 1, 1, MOST_COINS),
        turns_per_day=table.whole("turns_per_day", 20, 0, 9999),
    )


def _vegas(table: Table) -> Vegas:
    return Vegas(
        **_stakes(table),
        seats=table.whole("seats", MOST_SEATS, 1, MOST_SEATS),
        bell_seconds=table.whole("bell_seconds", 20, 1, LONGEST_WAIT),
        turn_seconds=table.whole("turn_seconds", 30, 1, LONGEST_WAIT),
        resume_wait=table.whole("resume_wait", 60, 1, LONGEST_WAIT),
        rules=_rules(table, VEGAS),
    )


def _stakes(table: Table) -> _StakeValues:
    stakes: _StakeValues = {
        "open": table.flag("open", True),
        "coin_minutes": table.whole("coin_minutes", 1, 1, MOST_COINS),
        "smallest_bet": table.whole("smallest_bet", 1, 1, MOST_COINS),
        "largest_bet": table.whole("largest_bet", 10, 1, MOST_COINS),
        "turns_per_day": table.whole("turns_per_day", 20, 0, 9999),
    }
    sound = table.sound("smallest_bet", "largest_bet")
    if sound and stakes["smallest_bet"] > stakes["largest_bet"]:
        reason = f"must not be more than largest_bet, which is {stakes['largest_bet']}"
        table.refuse("smallest_bet", reason)
    return stakes


def _rules(table: Table, base: Rules) -> Rules:
    try:
        return rules_from_mapping(table.part(base.keys), base)
    except RulesRefused as refusal:
        for key, reason in refusal.problems:
            table.refuse(key, reason)
        return base
