"""Every key of sysop.toml with its default and its form, as the readers that check it ask for it.

The readers run over a table that records their questions, so this module knows no key by name.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from door.config import config, default_file
from door.config.boards import NAMES
from door.config.config import Config
from door.games.registry import GAMES
from timebank.settings.forms import Form, Schema
from timebank.settings.toml import Problems, TomlTable

Path_ = tuple[str | int, ...]
T = TypeVar("T")

BOARD = "NAME"  # stands for any name in the schema of [boards.NAME]


@dataclass(frozen=True)
class Setting:
    """A key of sysop.toml: its path, its value in the file or its default, as TOML has them.

    `default` is None if the key has none and must be in the file.
    """

    path: Path_
    value: object
    default: object
    form: Schema

    @property
    def table(self) -> Path_:
        return self.path[:-1]

    @property
    def name(self) -> str:
        """The key as a command takes it: "calls.nodes", "listeners.1.port", counted from 1."""
        return dotted(self.path)


class Notes(TomlTable):
    """A table that records in `keys` what its readers ask for; its tables are in `below`."""

    def __init__(
        self, values: Mapping[str, object], problems: Problems, folder: Path, path: Path_ = ()
    ) -> None:
        super().__init__(values, problems, folder, path)
        self.keys: dict[str, Setting] = {}
        self._required: set[str] = set()

    def all_keys(self) -> Iterator[Setting]:
        yield from self.keys.values()
        for tables in self._tables.values():
            for table in tables:
                assert isinstance(table, Notes)
                yield from table.all_keys()

    def _note(self, key: str, default: object, form: Schema) -> None:
        if key not in self.keys:
            usual = None if key in self._required else default
            value = self._values.get(key, usual)
            self.keys[key] = Setting((*self._path, key), value, usual, form)

    def require(self, *keys: str) -> None:
        self._required.update(keys)
        super().require(*keys)

    def read(self, key: str, form: Form[T], default: object) -> T:
        self._note(key, default, form.schema)
        return super().read(key, form, default)

    def part(self, keys: Iterable[str]) -> dict[str, object]:
        """Record the rules of a game as well, which the game's kind checks."""
        if self._path[:1] == ("games",):
            kind = GAMES[str(self._path[-1])].kind
            for key in kind.sysop_keys:
                self._note(key, plain(getattr(kind.base, key)), kind.checks[key].schema)
        return super().part(keys)


def plain(value: object) -> object:
    """Return a rule's value as TOML has it, where a half is an exact float."""
    if isinstance(value, bool | int | str):
        return value
    number = float(value)  # type: ignore[arg-type]  # a Fraction
    return int(number) if number.is_integer() else number


# Keys


def described(text: str, path: Path) -> tuple[Config, list[Setting]]:
    """Return the settings in a text of TOML, and every key, also those not in the text.

    Raises `SettingsError` if a setting is wrong; the text itself must be valid TOML.
    """
    root = _notes(text, path)
    settings = config.read(root, path)
    root.finish()
    return settings, list(root.all_keys())


def noted(text: str, path: Path) -> list[Setting]:
    """Return every key, even if some settings are wrong."""
    root = _notes(text, path)
    config.read(root, path)
    return list(root.all_keys())


def _notes(text: str, path: Path) -> Notes:
    values = tomllib.loads(text)
    # A list of tables that sysop.toml lacks gets the one table of the annotated file.
    shipped = tomllib.loads(default_file.text())
    absent = {key: shipped[key] for key in ("listeners", "events") if key not in values}
    return Notes({**values, **absent}, Problems(str(path), text), path.absolute().parent)


def of_the_house() -> list[Setting]:
    """Return every key with its default, for one listener, one event and one board."""
    text = f"{default_file.text()}\n[boards.{BOARD}]\n"
    return described(text, Path(default_file.NAME))[1]


def dotted(path: Path_) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else _quoted(part) for part in path)


def header(table: Path_) -> str:
    """Return the header of a table as in the file: "[calls]", "[[events]]"."""
    names = ".".join(_quoted(part) for part in table if isinstance(part, str))
    return f"[[{names}]]" if table and isinstance(table[-1], int) else f"[{names}]"


def _quoted(part: str) -> str:
    is_bare = part.isascii() and part.replace("-", "").replace("_", "").isalnum()
    return part if is_bare else json.dumps(part, ensure_ascii=False)


# JSON Schema


def schema() -> dict[str, object]:
    """Describe sysop.toml for editors, as JSON Schema 2020-12, with the file's own comments."""
    comments = default_file.comments()
    root = _table("Settings of a board of Black Jack For Time.")
    for key in of_the_house():
        inner = root
        for number, part in enumerate(key.table):
            if isinstance(part, str):
                comment = comments.get((header(key.table[: number + 1]), ""), "")
                inner = _inside(inner, part, key.table[number + 1 :], comment)
        words = comments.get((_example(header(key.table)), str(key.path[-1])), "")
        entry: dict[str, object] = {"description": words} if words else {}
        if key.default is None:
            required = inner.setdefault("required", [])
            assert isinstance(required, list)
            required.append(key.path[-1])
        else:
            entry["default"] = key.default
        properties = inner["properties"]
        assert isinstance(properties, dict)
        properties[key.path[-1]] = {**entry, **key.form}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sysop.toml",
        **root,
    }


def _inside(outer: dict[str, object], name: str, rest: Path_, comment: str) -> dict[str, object]:
    """Return the schema of a table, of one table in a list, or of a table of any name."""
    properties = outer["properties"]
    assert isinstance(properties, dict)
    if name == BOARD:
        made = outer.setdefault("patternProperties", {"^[^@|]{1,24}$": _table(NAMES)})
        assert isinstance(made, dict)
        (table,) = made.values()
    elif rest and isinstance(rest[0], int):
        table = properties.setdefault(name, {"type": "array", "items": _table(comment)})["items"]
    else:
        table = properties.setdefault(name, _table(comment))
    assert isinstance(table, dict)
    return table


def _table(comment: str) -> dict[str, object]:
    table: dict[str, object] = {"type": "object", "properties": {}, "additionalProperties": False}
    return {"description": comment, **table} if comment else table


def _example(written: str) -> str:
    """Return the header under which the annotated file has an example of this table."""
    return "[boards.Xibalba]" if written == f"[boards.{BOARD}]" else written
