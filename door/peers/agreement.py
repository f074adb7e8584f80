"""The settings that all servers of a board must share, and the releases that work together.

Games, calls, the bank, events and names belong to the board: a caller's minutes may not depend on
the server. Paths, addresses and defences belong to each machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from door.config import schema

if TYPE_CHECKING:
    from door.config.config import Config
    from timebank.servers.registry import ServerRecord

# Shared settings: the key as sysop.toml spells it, the value as JSON.
Terms = Mapping[str, str]

# Settings that each machine has for itself.
OWN_TABLES = ("listeners", "server", "defence", "metrics", "public")
OWN = frozenset(
    {
        *("[board] data", "[board] data_mode", "[board] texts"),
        *("[timebank] database", "[timebank] database_password_file"),
        *("[timebank] thebank_ext", "[timebank] import"),
        *("[pages] serve", "[pages] host", "[pages] port", "[pages] certificate", "[pages] key"),
        "[fairness] check_address",
    }
)
_IN_ROW = "set"  # releases up to 1.0 write other values under "used"
_RELEASE = re.compile(r"(\d+)\.(\d+)(?!\d)")
_MAX_KEYS = 8  # in one sentence


def terms_of(config: Config) -> dict[str, str]:
    """Return the settings that all servers must share, by key, with secrets as digests."""
    events = [
        (event.name, event.start.isoformat(), sorted(event.days), event.minutes)
        for event in config.bank.events
    ]
    values: dict[str, object] = {"[boards]": sorted(config.boards), "[[events]]": events}
    for setting in schema.keys_in(config.text, config.path):
        table, name, value = schema.header(setting.table), setting.path[-1], setting.value
        key = f"{table} {name}"
        if setting.path[0] in OWN_TABLES or table in values or key in OWN:
            continue
        if name == "secret" and value:
            value = sha256(str(value).encode()).hexdigest()[:8]
        values[key] = value
    return {key: json.dumps(value, sort_keys=True) for key, value in values.items()}


def encode(terms: Terms) -> str:
    """Return shared settings as the text of a server's row."""
    return json.dumps({_IN_ROW: terms}, separators=(",", ":"))


def terms_in(row: ServerRecord) -> Terms:
    """Return the shared settings in a server's row; a row without settings objects to none."""
    terms: Terms = json.loads(row.settings).get(_IN_ROW, {})
    return terms


def differing(one: Terms, other: Terms) -> list[str]:
    """Return the keys with different values; a key that one side lacks does not count."""
    return [key for key in one if key in other and one[key] != other[key]]


def go_together(one: str, other: str) -> bool:
    """Return whether servers of two versions may serve from the same books.

    The versions must be of one release or of two consecutive releases. The first two numbers
    identify a release, and 2.0 does not follow any 1.x.

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
    """Yield a sentence for each other server that this version and these settings conflict with."""
    for other in others:
        if not go_together(version, other.version):
            yield (
                f"The server {other.name} is of version {other.version}, and this one of {version}:"
                " servers of one board are of the same release or of two that follow one another."
            )
            continue
        keys = differing(own, terms_in(other))
        if keys and not other.draining:  # a draining server makes room for new settings
            yield f"The server {other.name} serves with other settings: {listed(keys)}."


def listed(keys: Sequence[str]) -> str:
    """Return keys as an English list of at most `_MAX_KEYS` keys.

    >>> listed(["[calls] nodes"]), listed(["[calls] nodes", "[[events]]"])
    ('[calls] nodes', '[calls] nodes and [[events]]')
    """
    shown = list(keys[:_MAX_KEYS])
    if len(keys) > len(shown):
        shown.append(f"{len(keys) - len(shown)} more")
    *before, last = shown
    return f"{', '.join(before)} and {last}" if before else last
