"""What must be equal on all servers of a board, and which releases go together.

Games, calls, the bank, events and names are the board's: a caller's minutes may not depend on which
server they reach. Where things lie, how callers and other machines reach a server, and how it
defends itself is each machine's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import time
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from timebank.settings.forms import declared

if TYPE_CHECKING:
    from door.config.boards import HostBoard
    from door.config.config import Config
    from timebank.servers.registry import ServerRecord
    from timebank.settings.settings import BankSettings

# Each key that must be equal, as the sysop finds it, and its value as JSON.
Terms = Mapping[str, str]

# What of [board] and [timebank] is each machine's own; the sysop's name is read of both.
OWN_OF_BOARD = frozenset({"data", "texts", "data_mode"})
OWN_OF_BANK = frozenset(
    {"database", "server", "thebank_ext", "imports", "sysop"}
    # These have keys in other tables, or tables of their own.
    | {"zone", "events", "limits", "retention", "tournament"}
)
# Which of its rules a game lets a sysop set: another release may have more.
OWN_OF_RULES = frozenset({"keys"})
_RELEASE = re.compile(r"(\d+)\.(\d+)(?!\d)")
_MOST_NAMED = 8  # keys in one sentence


def terms_of(config: Config) -> dict[str, str]:
    """Give what must be equal of these settings. Secrets are not in it, but a digest of each."""
    found: dict[str, object] = {
        **_named("[board]", config.board, OWN_OF_BOARD),
        **_named("[calls]", config.calls),
        **_named("[company]", config.company),
        **_named("[tournament]", config.tournament),
        **_of_bank(config.bank),
    }
    for name, game in config.games.items():
        found |= _flat(f"[games.{name}]", game)
    found["[boards]"] = sorted(config.boards)
    for name, board in config.boards.items():
        found |= _of_host(f"[boards.{name}]", board)
    return {key: json.dumps(_plain(value), sort_keys=True) for key, value in found.items()}


def _named(table: str, settings: Any, own: frozenset[str] = frozenset()) -> dict[str, object]:
    """Name the fields of a class of settings by their keys in the file."""
    keys = declared(settings)
    found: dict[str, object] = {}
    for field in fields(settings):
        if field.name not in own:
            key = keys.get(field.name)
            place = f"[{key.table}]" if key and key.table else table
            value = getattr(settings, field.name)
            found[f"{place} {key.key if key else field.name}"] = value
    return found


def _flat(table: str, settings: Any) -> dict[str, object]:
    """Name the settings of a game, and its rules among them, by their keys."""
    found: dict[str, object] = {}
    for key, value in _named(table, settings).items():
        found |= _named(table, value, OWN_OF_RULES) if is_dataclass(value) else {key: value}
    return found


def _of_bank(bank: BankSettings) -> dict[str, object]:
    return {
        **_named("[timebank]", bank, OWN_OF_BANK),
        **_named("[timebank]", bank.limits),
        **_named("[timebank]", bank.retention),
        **_named("[tournament]", bank.tournament),
        "[board] time_zone": bank.zone,
        "[[events]]": bank.events,
    }


def _of_host(table: str, board: HostBoard) -> dict[str, object]:
    found = _named(table, board, frozenset({"name", "trusted", "agreed"}))
    found |= _named(table, board.trusted, frozenset({"name"}))
    secret = board.trusted.secret
    found[f"{table} secret"] = sha256(secret.encode()).hexdigest()[:8] if secret else ""
    return found


def _plain(value: Any) -> object:
    """Turn a setting into what JSON has; equal settings give the same."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, ZoneInfo):
        return value.key
    if isinstance(value, time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((_plain(each) for each in value), key=str)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value)  # a network


def encode(terms: Terms) -> str:
    """Return the text that a server's row keeps of its terms."""
    return json.dumps({"used": terms}, separators=(",", ":"))


def terms_in(row: ServerRecord) -> Terms:
    """Return the terms in a server's row; a row without any agrees with all others."""
    used: Terms = json.loads(row.settings).get("used", {})
    return used


def differing(one: Terms, other: Terms) -> list[str]:
    """Name the keys that are not equal; of two releases, those that both of them know."""
    return [key for key in one if key in other and one[key] != other[key]]


def go_together(one: str, other: str) -> bool:
    """Tell whether servers of two versions may serve from the same books.

    They are of the same release, or of two that follow one another; releases are told apart by
    the first two numbers. The first release of a new first number follows none of before.

    >>> go_together("1.2.0", "1.2.7"), go_together("1.2.0", "1.3.1"), go_together("1.2.0", "1.4.0")
    (True, True, False)
    >>> go_together("1.9.0", "2.0.0")
    False
    """
    first, second = _RELEASE.match(one), _RELEASE.match(other)
    if first is None or second is None:
        return one == other
    return first[1] == second[1] and abs(int(first[2]) - int(second[2])) <= 1


def objections(version: str, own: Terms, others: Iterable[ServerRecord]) -> Iterator[str]:
    """Say why a server of this version and these terms cannot serve beside others, one by one."""
    for other in others:
        if not go_together(version, other.version):
            yield (
                f"The server {other.name} is of version {other.version}, and this one of {version}:"
                " servers of one board are of the same release or of two that follow one another."
            )
            continue
        keys = differing(own, terms_in(other))
        if keys and not other.draining:  # one that drains makes room for new settings
            yield f"The server {other.name} serves with other settings: {listed(keys)}."


def listed(keys: Sequence[str]) -> str:
    """Name some keys in a sentence.

    >>> listed(["[calls] nodes"]), listed(["[calls] nodes", "[[events]]"])
    ('[calls] nodes', '[calls] nodes and [[events]]')
    """
    shown = list(keys[:_MOST_NAMED])
    if len(keys) > len(shown):
        shown.append(f"{len(keys) - len(shown)} more")
    *before, last = shown
    return f"{', '.join(before)} and {last}" if before else last
