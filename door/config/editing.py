"""Changes sysop.toml for commands, one key at a time, and keeps all that the sysop wrote around it.

`tomlkit` keeps comments, order and spaces. A change is checked first: a file that it would make
wrong is not written.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.config import default_file
from door.config.boards import NAMES, is_name
from door.config.config import Config
from door.config.schema import BOARD, Path_, Setting, described, header, noted, of_the_house
from door.errors import ChangeRefused

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
    before: Config
    after: Config


# Keys by name


def find(text: str, path: Path, name: str) -> Setting:
    """Return the key of a name like "calls.nodes"; raise `ChangeRefused` if there is none."""
    wanted = _parsed(name)
    keys = noted(text, path)
    for key in keys:
        if key.path == wanted:
            return key
    if len(wanted) == 3 and wanted[0] == "boards" and is_name(str(wanted[1])):
        for key in of_the_house():
            if key.path == ("boards", BOARD, wanted[2]):
                return Setting(wanted, key.default, key.default, key.form)
    raise ChangeRefused(_unknown(name, wanted, keys))


def _parsed(name: str) -> Path_:
    """Split a dotted key as TOML writes it; a number is an index into a list, from 1."""
    try:
        inner: object = tomllib.loads(f"{name} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        raise ChangeRefused(
            f"{name} is not a key. Write the table and the key with a dot between, as in"
            " calls.nodes or listeners.1.port."
        ) from None
    path: Path_ = ()
    while isinstance(inner, dict) and inner:
        ((part, inner),) = inner.items()
        of_a_list = path[:1] in (("listeners",), ("events",)) and len(path) == 1
        path = (*path, int(part) - 1 if of_a_list and part.isdecimal() else part)
    return path


def _unknown(name: str, wanted: Path_, keys: Iterable[Setting]) -> str:
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
    hint = f" Did you mean {near[0]}?" if near else " `door config show --effective` has all keys."
    return f"There is no key {name}.{hint}"


# Changes


def changed(text: str, path: Path, name: str, typed: str | None) -> Change:
    """Work out a change: `typed` is the value as a sysop types it, None for back to the default.

    Raises `ChangeRefused` if there is no such key or value, and `SettingsError` if the file is
    wrong before or after the change. Writes nothing.
    """
    import tomlkit  # noqa: PLC0415 - for this command alone

    key = find(text, path, name)
    written = _written(tomllib.loads(text), key.path)
    before = described(text, path)[0]
    document = tomlkit.parse(text)
    value = None if typed is None else _value(key, typed)
    if value is None:
        if key.default is None:
            raise ChangeRefused(f"{name} has no default: it must be there.")
        if written is not None:
            del _table(document, key.table)[str(key.path[-1])]
    else:
        _table(document, key.table)[str(key.path[-1])] = value
    after_text = tomlkit.dumps(document)
    return Change(key, written, value, after_text, before, described(after_text, path)[0])


def _written(values: Any, path: Path_) -> object:
    for part in path:
        try:
            values = values[part]
        except (KeyError, IndexError):
            return None
    return values


def _value(key: Setting, typed: str) -> object:
    """Read a value in the key's form: texts need no quotes, lists may be words with commas."""
    form = key.form
    kinds = [form, *_forms(form)]
    for each in kinds:
        words = each.get("enum")
        if isinstance(words, list) and typed in words:
            return typed
    if form.get("type") == "string":
        return typed
    if form.get("type") == "boolean" and typed.lower() in ("yes", "on", "no", "off"):
        return typed.lower() in ("yes", "on")
    try:
        value: object = tomllib.loads(f"value = {typed}")["value"]
    except tomllib.TOMLDecodeError:
        value = typed
    takes_list = any(each.get("type") == "array" for each in kinds)
    if takes_list and not isinstance(value, list):
        return [word.strip() for word in typed.split(",") if word.strip()]
    return value


def _forms(form: Mapping[str, object]) -> list[Mapping[str, object]]:
    several = form.get("anyOf", [])
    return several if isinstance(several, list) else []


def _table(document: TOMLDocument, path: Path_) -> Any:
    """Return the table of a key; make it if it is missing."""
    import tomlkit  # noqa: PLC0415

    inner: Any = document
    for number, part in enumerate(path):
        if isinstance(part, int):
            inner = inner[part]
            continue
        if part not in inner:
            is_list = isinstance(dict(enumerate(path)).get(number + 1), int)
            inner[part] = _listed(part) if is_list else tomlkit.table(number + 1 < len(path))
        inner = inner[part]
    return inner


def _listed(name: str) -> Any:
    """Return the default list of tables for a file that has none, such as [[events]]."""
    import tomlkit  # noqa: PLC0415

    tables = tomlkit.aot()
    for usual in tomllib.loads(default_file.text())[name]:
        table = tomlkit.table()
        table.update(usual if name == "events" else {"kind": usual["kind"]})
        tables.append(table)
    return tables


# Differences


def differences(old: str, new: str, path: Path) -> list[tuple[str, object, object]]:
    """Return the keys that differ between two valid files: the name, the old and the new value.
    A value is None if its file does not have the table."""
    before, after = (
        {key.name: key.value for key in described(text, path)[1]} for text in (old, new)
    )
    names = [*before, *(name for name in after if name not in before)]
    pairs = [(name, before.get(name), after.get(name)) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


def from_default(keys: Iterable[Setting]) -> list[Setting]:
    """Return the keys that are not at their defaults. The default [[events]] count as defaults."""
    usual = {key.path: key.value for key in of_the_house()}
    return [key for key in keys if key.value != usual.get(key.path, key.default)]


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


def rendered(keys: Iterable[Setting], *, with_defaults: bool) -> str:
    """Return keys as a file of settings, in the order of the annotated file.

    With `with_defaults`, a comment after each changed value has its default.
    """
    place = {name: number for number, name in enumerate(default_file.comments())}

    def order(key: Setting) -> tuple[int, Path_, int]:
        written = header(key.table)
        table = place.get((written, ""), len(place))
        return table, tuple(map(str, key.table)), place.get((written, str(key.path[-1])), 0)

    lines, table = list[str](), None
    for key in sorted(keys, key=order):
        if key.table != table:
            lines += ["", header(key.table)] if lines else [header(key.table)]
            table = key.table
        lines.append(_line(key, with_defaults))
    return "\n".join(lines)


def _line(key: Setting, with_defaults: bool) -> str:
    name = str(key.path[-1])
    if name == HIDDEN and key.value:
        return f'{name} = ""  # not shown here: `door config get {key.name}`'
    line = f"{name} = {toml(key.value)}"
    if with_defaults and key.default is not None and key.value != key.default:
        line += f"  # default: {toml(key.default)}"
    return line
