"""Every key of sysop.toml with its default and its form, as the readers that check it ask for it.

The readers run over a table that records their questions, so this module knows no key by name.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from door.config import config
from timebank.settings.forms import Form
from timebank.settings.toml import Problems, TomlTable

KeyPath = tuple[str | int, ...]
T = TypeVar("T")

ANY = "NAME"  # stands for any name in [boards.NAME] and [rules.NAME]


@dataclass(frozen=True)
class Setting:
    """A key of sysop.toml: its path, its value in the file or its default, as TOML has them."""

    path: KeyPath
    value: object
    default: object
    form: Form[Any]

    @property
    def table(self) -> KeyPath:
        return self.path[:-1]

    @property
    def name(self) -> str:
        """The key as a command takes it: "calls.nodes", "listeners.1.port", counted from 1."""
        return dotted(self.path)

    @property
    def sentences(self) -> Mapping[str, str]:
        """The meanings of all keys of its table, in order; those of [rules.NAME] are the games'."""
        return meanings()["games" if self.path[0] == "rules" else str(self.path[0])]

    @property
    def meaning(self) -> str:
        """The key in one sentence, with the values that it takes."""
        words, takes = self.sentences[str(self.path[-1])], self.form.takes
        return f"{words.removesuffix('.')} ({takes})." if takes else words


@cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """Return meanings.toml: a sentence for each key, by its table."""
    return tomllib.loads(Path(__file__).with_name("meanings.toml").read_text(encoding="utf-8"))


class RecordingTable(TomlTable):
    """A table that records in `keys` what its readers ask for."""

    def __init__(
        self, values: Mapping[str, object], problems: Problems, folder: Path, path: KeyPath = ()
    ) -> None:
        super().__init__(values, problems, folder, path)
        self.keys: dict[str, Setting] = {}

    def all_keys(self) -> Iterator[Setting]:
        yield from self.keys.values()
        for tables in self._tables.values():
            for table in tables:
                assert isinstance(table, RecordingTable)
                yield from table.all_keys()

    def read(self, key: str, form: Form[T], default: object) -> T:
        value = self._values.get(key, default)
        self.keys.setdefault(key, Setting((*self._path, key), value, default, form))
        return super().read(key, form, default)


# Keys


def checked_keys(text: str, path: Path) -> list[Setting]:
    """Return every key with its value in a text of TOML, in the order of meanings.toml.

    Raises `SettingsError` if a setting is wrong; the text itself must be valid TOML.
    """
    root = _recording(text, path)
    config.read(root, path)
    root.finish()
    return _ordered(root.all_keys())


def keys_in(text: str, path: Path) -> list[Setting]:
    """Return the same, also if some settings are wrong."""
    root = _recording(text, path)
    config.read(root, path)
    return _ordered(root.all_keys())


def _recording(text: str, path: Path) -> RecordingTable:
    return RecordingTable(tomllib.loads(text), Problems(str(path), text), path.absolute().parent)


def _ordered(read: Iterable[Setting]) -> list[Setting]:
    keys = list(read)
    tables = list(dict.fromkeys(key.table for key in keys))

    def order(key: Setting) -> tuple[int, int, int]:
        above = list(meanings()).index(str(key.path[0]))
        return above, tables.index(key.table), list(key.sentences).index(str(key.path[-1]))

    return sorted(keys, key=order)


def default_keys() -> list[Setting]:
    """Return every key with its default, for one listener, one event and one name of each kind."""
    return keys_in(f"[boards.{ANY}]\n[rules.{ANY}]\n", Path("sysop.toml"))


def dotted(path: KeyPath) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else _quoted(part) for part in path)


def header(table: KeyPath) -> str:
    """Return the header of a table as in the file: "[calls]", "[[events]]"."""
    names = ".".join(_quoted(part) for part in table if isinstance(part, str))
    return f"[[{names}]]" if table and isinstance(table[-1], int) else f"[{names}]"


def _quoted(part: str) -> str:
    is_bare = part.isascii() and part.replace("-", "").replace("_", "").isalnum()
    return part if is_bare else json.dumps(part, ensure_ascii=False)
