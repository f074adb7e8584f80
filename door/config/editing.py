"""Changes sysop.toml for commands, one key at a time, and keeps all that the sysop wrote around it.

`tomlkit` keeps comments, order and spaces. A change is checked first: a file that it would make
wrong is not written.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.config.boards import NAMES, is_name
from door.config.listeners import USUAL_TABLES
from door.config.schema import ANY, KeyPath, Setting, checked_keys, default_keys, header, keys_in
from door.errors import ChangeRefused
from timebank.settings.settings import USUAL_EVENTS

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

HIDDEN = "secret"  # the last part of keys whose value is shown only on request


@dataclass(frozen=True)
class Change:
    """A change of one key; `old` or `new` is None if the file does not have the key."""

    key: Setting
    old: object
    new: object
    text: str  # of the whole file after the change


# Keys by name


def find(text: str, path: Path, name: str) -> Setting:
    """Return the key of a name like "calls.nodes"; raise `ChangeRefused` if there is none."""
    wanted = _parsed(name)
    keys = keys_in(text, path)
    for key in keys:
        if key.path == wanted:
            return key
    if len(wanted) == 3 and is_name(str(wanted[1])):
        for key in default_keys():
            if key.path == (wanted[0], ANY, wanted[2]):
                return Setting(wanted, key.default, key.default, key.form)
    raise ChangeRefused(_unknown(name, wanted, keys))


def _parsed(name: str) -> KeyPath:
    """Split a dotted key as TOML writes it; a number is an index into a list, from 1."""
    try:
        inner: object = tomllib.loads(f"{name} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        raise ChangeRefused(
            f"{name} is not a key. Write the table and the key with a dot between, as in"
            " calls.nodes or listeners.1.port."
        ) from None
    path: KeyPath = ()
    while isinstance(inner, dict) and inner:
        ((part, inner),) = inner.items()
        of_a_list = path[:1] in (("listeners",), ("events",)) and len(path) == 1
        path = (*path, int(part) - 1 if of_a_list and part.isdecimal() else part)
    return path


def _unknown(name: str, wanted: KeyPath, keys: Iterable[Setting]) -> str:
    names = [key.name for key in keys]
    in_table = [each for each in names if each.startswith(f"{name}.")]
    if in_table:
        return f"{name} is a table. Name one of its keys: {', '.join(in_table)}."
    if len(wanted) == 3 and wanted[0] in ("listeners", "events") and isinstance(wanted[1], int):
        count = len({key.path[1] for key in keys if key.path[0] == wanted[0]})
        if not 0 <= wanted[1] < count:
            return (
                f"{header(wanted[:2])} has {count} in this file, counted from 1. Add another in an"
                " editor."
            )
    if wanted[0] == "boards" and len(wanted) == 3 and not is_name(str(wanted[1])):
        return f"A board's name has {NAMES}."
    near = difflib.get_close_matches(name, names, n=1)
    same = [each for each in names if each.split(".")[-1] == name]
    if same:
        return f"{name} needs its table before it: {' or '.join(same)}."
    hint = f" Did you mean {near[0]}?" if near else " `door config list` has all keys."
    return f"There is no key {name}.{hint}"


# Changes


def changed(text: str, path: Path, name: str, typed: str | None) -> Change:
    """Work out a change: `typed` is the value as a sysop types it, None for back to the default.

    Raises `ChangeRefused` if there is no such key or value, and `SettingsError` if the file is
    wrong after the change. Writes nothing.
    """
    import tomlkit  # noqa: PLC0415 - for this command alone

    key = find(text, path, name)
    written = _written(tomllib.loads(text), key.path)
    document = tomlkit.parse(text)
    value = None if typed is None else key.form.typed(typed)
    try:
        if value is not None:
            _table(document, key.table)[str(key.path[-1])] = value
        elif written is not None:
            del _table(document, key.table)[str(key.path[-1])]
    except TypeError:  # another value stands in the place of a table
        checked_keys(text, path)
        raise
    after_text = tomlkit.dumps(document)
    checked_keys(after_text, path)
    return Change(key, written, value, after_text)


def _written(values: Any, path: KeyPath) -> object:
    for part in path:
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return None
    return values


def _table(document: TOMLDocument, path: KeyPath) -> Any:
    """Return the table of a key; make it if it is missing."""
    import tomlkit  # noqa: PLC0415

    inner: Any = document
    for number, part in enumerate(path):
        if isinstance(part, str) and part not in inner:
            rest = path[number + 1 :]
            is_list = bool(rest) and isinstance(rest[0], int)
            usual = [*(USUAL_EVENTS if part == "events" else USUAL_TABLES)]
            inner[part] = usual if is_list else tomlkit.table(bool(rest))
        inner = inner[part]
    return inner


# Differences


def differences(old: str, new: str, path: Path) -> list[tuple[str, object, object]]:
    """Return the keys that differ between two files of valid TOML: the name, the old and the new
    value. A value is None if its file does not have the table."""
    before, after = ({key.name: key.value for key in keys_in(text, path)} for text in (old, new))
    names = [*after, *(name for name in before if name not in after)]
    pairs = [(name, before.get(name), after.get(name)) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


# Words


def toml(value: object) -> str:
    """Return a value as TOML writes it."""
    import tomlkit  # noqa: PLC0415

    return str(tomlkit.item(value).as_string())


def shown(name: str, value: object) -> str:
    """Return a value for a sentence: a secret is hidden, and a missing value is "nothing"."""
    if value is None:
        return "nothing"
    return "a secret" if name.rpartition(".")[2] == HIDDEN and value else toml(value)
