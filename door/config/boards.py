"""[boards.NAME] of sysop.toml: the boards whose callers come here.

Callers come through drop files, which name the caller and the time left. Or they come by rlogin,
which proves neither and is believed only from known addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from door.dropfiles.dropfile import folded, lasting
from door.errors import AmbiguousBoard
from door.lines.addresses import NETWORKS
from door.lines.rlogin.trust import Convention, TrustedBoard
from timebank.settings.forms import Number, OneOf, Text, Texts, setting
from timebank.settings.toml import TomlTable

GiveBackWay = Literal["auto", "moduser", "door.sys", "exitinfo", "thebank.ext", "bank"]
Door32Time = Literal["auto", "minutes", "seconds"]
EventTrust = Literal["trust", "ignore"]

LONGEST_NAME = 24
LONGEST_SECRET = 64
NAMES = f"1 to {LONGEST_NAME} characters, and no @ or |"
DAY_MINUTES = 24 * 60


@dataclass(frozen=True)
class HostBoard:
    """One board, and the terms for its callers.

    `minutes` is the time that its callers bring for a day if no host counts it (unlimited time, or
    rlogin). `share` is the percentage of their time left that they may bring. `aliases` are other
    names of the board in its drop files. `trusted` has its terms for rlogin: without addresses, it
    cannot call that way.
    """

    name: str
    trusted: TrustedBoard
    minutes: int = setting(Number(1, DAY_MINUTES), 60)
    share: int = setting(Number(1, 100), 100)
    event: EventTrust = setting(OneOf(get_args(EventTrust)), "trust")
    give_back: GiveBackWay = setting(OneOf(get_args(GiveBackWay)), "auto")
    door32_time: Door32Time = setting(OneOf(get_args(Door32Time)), "auto")
    aliases: tuple[str, ...] = setting(Texts(str), [])
    # The keys that the sysop has written; a default is no agreement.
    agreed: frozenset[str] = frozenset()


def board_named(boards: Mapping[str, HostBoard], name: str) -> HostBoard | None:
    """Return the board with this name or alias, case and spaces folded; None without a table."""
    wanted = folded(name)
    for board in boards.values():
        if wanted in map(folded, (board.name, *board.aliases)):
            return board
    return None


def board_of(boards: Mapping[str, HostBoard], name: str) -> HostBoard | None:
    """Return the board that a drop file calls `name`; None without a table.

    A table's name or alias fits if `name` begins with its words, or differs only in the version and
    the platform. The longest fit wins, and a table's own name wins over an alias. Raises
    `AmbiguousBoard` if two boards fit equally.
    """
    best, fitting = (0, 0), list[HostBoard]()
    for board in boards.values():
        fits = max(
            [_fits(board.name, name, 1), *(_fits(alias, name, 0) for alias in board.aliases)]
        )
        if fits[0] and fits >= best:
            fitting = [*fitting, board] if fits == best else [board]
            best = fits
    if len(fitting) > 1:
        raise AmbiguousBoard(" or ".join(board.name for board in fitting))
    return fitting[0] if fitting else None


def _fits(known: str, name: str, weight: int) -> tuple[int, int]:
    """Return how many words of `name` in a drop file a known name covers, and its weight."""
    words, shown_words = folded(known).split(), folded(name).split()
    if words and (shown_words[: len(words)] == words or lasting(known) == lasting(name)):
        return len(words), weight
    return 0, 0


def is_name(name: str) -> bool:
    """Return whether a board may have this name; its callers are called "Alias@Board" here."""
    # A bar would begin a pipe code on every screen that shows the name.
    return 1 <= len(name) <= LONGEST_NAME and name.isprintable() and not set("@|") & set(name)


def unlisted(name: str) -> HostBoard:
    return HostBoard(name, TrustedBoard(name))


def read_boards(root: TomlTable) -> dict[str, HostBoard]:
    boards = root.named_tables("boards")
    for name in boards:
        if not is_name(name):
            root.table("boards").refuse(name, f"must have another name: {NAMES}")
    return {name: _board(name, table) for name, table in boards.items()}


def _board(name: str, table: TomlTable) -> HostBoard:
    agreed = frozenset(key for key in ("minutes", "share") if key in table)
    return table.fill(HostBoard, name=name, trusted=_trusted(name, table), agreed=agreed)


def _trusted(name: str, table: TomlTable) -> TrustedBoard:
    addresses = table.read("addresses", NETWORKS, [])
    convention = table.read("convention", OneOf(tuple(Convention)), Convention.SYNCHRONET.value)
    tag = table.read("tag", Text(str, LONGEST_NAME, may_be_empty=True), "")
    secret = table.read("secret", Text(str, LONGEST_SECRET, may_be_empty=True), "")
    try:
        return TrustedBoard(name, tag, addresses, secret, convention)
    except ValueError as error:
        table.refuse("convention", f"does not go with `tag` and `secret`: {str(error).rstrip('.')}")
        return TrustedBoard(name)
