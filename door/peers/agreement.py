"""What must be equal on all servers of a board, and which releases go together.

Games, calls, the bank, events and names are the board's: a caller's minutes may not depend on which
server they reach. Where things lie, how callers and other machines reach a server, and how it
defends itself is each machine's own.
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

# Each key that must be equal, as the sysop finds it, and its value as JSON.
Terms = Mapping[str, str]

# What is each machine's own.
OWN_TABLES = ("listeners", "server", "defence", "metrics", "public")
OWN = frozenset(
    {
        *("[board] data", "[board] data_mode", "[board] texts"),
        *("[timebank] database", "[timebank] database_password_file"),
        *("[timebank] thebank_ext", "[timebank] import"),
        *("[pages] serve", "[pages] host", "[pages] port", "[pages] certificate", "[pages] key"),
        # A shoe says in the books how it is sealed, and any server deals from it.
        *("[fairness] shoes_ahead", "[fairness] check_address"),
    }
)
_IN_ROW = "set"  # releases up to 1.0 have written other values, under "used"
_RELEASE = re.compile(r"(\d+)\.(\d+)(?!\d)")
_MOST_NAMED = 8  # keys in one sentence


def terms_of(config: Config) -> dict[str, str]:
    """Return the settings that must be equal, by key. Of a secret they have a digest alone."""
    events = [
        (event.name, event.start.isoformat(), sorted(event.days), event.minutes)
        for event in config.bank.events
    ]
    found: dict[str, object] = {"[boards]": sorted(config.boards), "[[events]]": events}
    for setting in schema.noted(config.text, config.path):
        table, name, value = schema.header(setting.table), setting.path[-1], setting.value
        key = f"{table} {name}"
        if setting.path[0] in OWN_TABLES or table in found or key in OWN:
            continue
        if name == "secret" and value:
            value = sha256(str(value).encode()).hexdigest()[:8]
        found[key] = value
    return {key: json.dumps(value, sort_keys=True) for key, value in found.items()}


def encode(terms: Terms) -> str:
    """Return the text that a server's row keeps of its terms."""
    return json.dumps({_IN_ROW: terms}, separators=(",", ":"))


def terms_in(row: ServerRecord) -> Terms:
    """Return the terms in a server's row; a row without any agrees with all others."""
    terms: Terms = json.loads(row.settings).get(_IN_ROW, {})
    return terms


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
