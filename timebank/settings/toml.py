"""Reads a TOML file that a person wrote, and reports all its problems at once.

A `TomlTable` returns one key at a time. A missing key has its default. A wrong value is noted with
its line, and the default is returned, so that reading continues to the next mistake.
`TomlTable.finish` refuses the keys that were not read, and raises the noted problems.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import TypeVar

from timebank import files
from timebank.errors import Problem, SettingsError
from timebank.settings import syntax
from timebank.settings.forms import Form, declared
from timebank.settings.quoting import either, guess, printable, shown

LONGEST_FILE = 256 * 1024  # bytes; a hundred times what a board needs
MOST_HOMES = 3  # tables named in a sentence about a misplaced key
DEEPEST_TABLE = 8  # tables within tables that are looked into for lines

KeyPath = tuple[str | int, ...]
T = TypeVar("T")
S = TypeVar("S")


class Problems:
    """The noted problems of a file."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._lines: Mapping[KeyPath, int] | None = None
        self._problems: dict[Problem, None] = {}  # the board and its bank may read the same key
        self.notes: list[str] = []  # sentences about lines that have no effect

    def __len__(self) -> int:
        return len(self._problems)

    def add(self, key: str, reason: str, path: KeyPath) -> None:
        self._problems[Problem(key, reason, self.find_line(path))] = None

    def raise_any(self) -> None:
        """Raise `SettingsError` if there are problems, in the order of their lines."""
        if self._problems:
            ordered = sorted(self._problems, key=lambda problem: problem.line or LONGEST_FILE)
            raise SettingsError(self.file, ordered)

    def find_line(self, path: KeyPath) -> int | None:
        """Return the line of a key, counted from 1; None if it is not known for certain."""
        if self._lines is None:
            self._lines = lines_of_keys(self.text)
        return self._lines.get(path)


class TomlTable:
    """One table of the file, or the file itself. Relative paths in it start at `folder`.

    Every reading method returns a valid value: the written one, or the default if that is missing
    or wrong. A wrong one is noted.
    """

    def __init__(
        self, values: Mapping[str, object], problems: Problems, folder: Path, path: KeyPath = ()
    ) -> None:
        self.problems = problems
        self.folder = folder
        self._values = values
        self._path = path
        self._known: set[str] = set()
        self._wrong: set[str] = set()
        self._tables: dict[str, list[TomlTable]] = {}

    # Keys

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def is_sound(self, *keys: str) -> bool:
        """Return whether no key has a problem so far, so that their values can be compared."""
        return self._wrong.isdisjoint(keys)

    def require(self, *keys: str) -> None:
        for key in keys:
            if key not in self._values:
                self.refuse(key, "is missing")

    def refuse(self, key: str, reason: str) -> None:
        """Note a problem of a key, at its line, or at its table's line if the key is missing.

        `reason` is a clause that continues the key: "must be 1 to 5, is 0".
        """
        self._wrong.add(key)
        path = (*self._path, key) if key in self._values else self._path
        self.problems.add(self._key_words(key), reason, path)

    def place(self, key: str) -> str:
        """Return the words for the place of a key: the file, and its line if that is certain."""
        line = self.problems.find_line((*self._path, key))
        return self.problems.file if line is None else f"{self.problems.file}, line {line}"

    # Values

    def read(self, key: str, form: Form[T], default: object) -> T:
        """Read a setting. `default` is written as in TOML, and paths start at `folder`."""
        try:
            value = form.read(self._ask(key, default))
        except ValueError as error:
            for reason in error.args:
                self.refuse(key, str(reason))
            value = form.read(default)
        return self._placed(value)

    def fill(self, kind: Callable[..., S], /, **others: object) -> S:
        """Make an object of a class of settings: read its declared fields, except the `others`."""
        for name, each in declared(kind).items():
            if name not in others:
                table = self.table(each.table) if each.table else self
                others[name] = table.read(each.key, each.form, each.default)
        return kind(**others)

    def _placed(self, value: T) -> T:
        if isinstance(value, Path):
            return self.folder / value
        if isinstance(value, tuple):
            return tuple(map(self._placed, value))  # type: ignore[return-value]
        return value

    def part(self, keys: Iterable[str]) -> dict[str, object]:
        """Return the present keys among `keys`, for a reader with checks of its own."""
        wanted = set(keys)
        self._known |= wanted
        return {key: value for key, value in self._values.items() if key in wanted}

    def retire(self, key: str, silent: object, why: str) -> None:
        """Accept a key of an earlier release, and note why its value has no effect, unless that is
        `silent`."""
        self._known.add(key)
        if self._values.get(key, silent) != silent:
            note = f"{self.place(key)}: {self._key_words(key)} has no effect any more: {why}."
            self.problems.notes.append(f"{note} Take it out.")

    # Tables

    def table(self, key: str) -> TomlTable:
        if key not in self._tables:
            value = self._ask(key, {})
            if not isinstance(value, dict):
                self.refuse(key, f"must be one table, is {shown(value)}")
                value = {}
            self._tables[key] = [type(self)(value, self.problems, self.folder, (*self._path, key))]
        return self._tables[key][0]

    def named_tables(self, key: str) -> dict[str, TomlTable]:
        outer = self.table(key)
        return {name: outer.table(name) for name in outer._values}

    def tables(self, key: str, usual: Sequence[Mapping[str, object]] = ()) -> list[TomlTable]:
        """Return a list of tables, those of `usual` if the file does not have the key."""
        if key not in self._tables:
            value = self._ask(key, [*usual])
            if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
                self.refuse(key, f"must be tables headed [[{key}]], is {shown(value)}")
                value = []
            self._tables[key] = [
                type(self)(each, self.problems, self.folder, (*self._path, key, number))
                for number, each in enumerate(value)
            ]
        return self._tables[key]

    # The end

    def unknown(self) -> list[str]:
        """Return the keys that were not read so far."""
        return [key for key in self._values if key not in self._known]

    def finish(self) -> None:
        """Refuse unknown keys, here and in the tables below, and raise all problems."""
        self.refuse_unknown(list(self._homes()))
        self.problems.raise_any()

    def refuse_unknown(self, homes: Iterable[tuple[str, str]] = ()) -> None:
        """Refuse unknown keys; `homes` are keys that other tables know, with their headers."""
        for key in self.unknown():
            if key not in self._wrong:
                headers = sorted({header for known, header in homes if known == key})
                is_clear = 0 < len(headers) <= MOST_HOMES
                hint = f"; it belongs to {either(headers)}" if is_clear else guess(key, self._known)
                self.refuse(key, f"is not known here{hint}")
        for tables in self._tables.values():
            for table in tables:
                table.refuse_unknown(homes)

    def _homes(self) -> Iterator[tuple[str, str]]:
        for tables in self._tables.values():
            for table in tables:
                names = ".".join(str(part) for part in table._path if isinstance(part, str))
                header = f"[[{names}]]" if isinstance(table._path[-1], int) else f"[{names}]"
                yield from ((key, header) for key in table._known - table._tables.keys())
                yield from table._homes()

    def _ask(self, key: str, default: object) -> object:
        self._known.add(key)
        return self._values.get(key, default)

    def _key_words(self, key: str) -> str:
        """Return a key as the sysop finds it: "[calls] nodes", "[[events]] 2, name"."""
        names = [printable(part) for part in self._path if isinstance(part, str)]
        if self._path and isinstance(self._path[-1], int):
            return f"[[{'.'.join(names)}]] {self._path[-1] + 1}, {printable(key)}"
        value = self._values.get(key)
        if isinstance(value, dict):
            return f"[{'.'.join([*names, printable(key)])}]"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return f"[[{'.'.join([*names, printable(key)])}]]"
        return f"[{'.'.join(names)}] {printable(key)}" if names else printable(key)


# The file


def open_table(path: Path) -> TomlTable:
    """Read a TOML file. Raises `SettingsError` if it cannot be read or is not TOML."""
    file = str(path)
    text = _read(path)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(file, [syntax.problem(error, text)]) from None
    return TomlTable(values, Problems(file, text), path.absolute().parent)


def _read(path: Path) -> str:
    def refused(reason: str, line: int | None = None) -> SettingsError:
        return SettingsError(str(path), [Problem("", reason, line)])

    try:
        if not S_ISREG(path.stat().st_mode):
            raise refused("is not a file")
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 1)
    except FileNotFoundError:
        raise refused("there is no such file") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if obstacle := files.forbidden(path):
            raise refused(f"cannot be read: {obstacle.removesuffix('.')}") from None
        raise refused(f"cannot be read ({why})") from None
    if len(data) > LONGEST_FILE:
        raise refused(f"is longer than {LONGEST_FILE // 1024} kB, which no settings need")
    wrong = data.find(b"\0")  # half of each letter in UTF-16, or what a failing disk has left
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = error.start
    if wrong >= 0:
        reason = f"is not UTF-8 text (byte {data[wrong]:02X}); save it as UTF-8"
        raise refused(reason, data.count(b"\n", 0, wrong) + 1)
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Lines


def lines_of_keys(text: str) -> dict[KeyPath, int]:
    """Return the line of each key and each table of a valid TOML text.

    tomllib reports no lines, so the text is split into statements that are parsed one by one. Keys
    inside a value of several lines are left out, because their lines would be guesses.
    """
    lines: dict[KeyPath, int] = {}
    header: KeyPath = ()
    arrays: dict[KeyPath, int] = {}
    for first, statement, chunk in syntax.statements(text):
        if chunk.lstrip().startswith("["):
            header = _header(statement, arrays)
            deepest = min(len(header), DEEPEST_TABLE)
            paths = [header[:length] for length in range(1, deepest + 1)]
        elif chunk.count("\n") == 1:
            paths = [path for key in statement for path in _paths(statement[key], (*header, key))]
        else:
            paths = [(*header, key) for key in statement]
        for path in paths:
            lines.setdefault(path, first)
    return lines


def _header(statement: object, arrays: dict[KeyPath, int]) -> KeyPath:
    """Return the table of the keys after a header; `arrays` counts the [[...]] so far."""
    path: KeyPath = ()
    while isinstance(statement, dict) and statement:
        if path in arrays:
            path = (*path, arrays[path] - 1)
        ((key, statement),) = statement.items()
        path = (*path, key)
    if isinstance(statement, list):
        arrays[path] = arrays.get(path, 0) + 1
        path = (*path, arrays[path] - 1)
    return path


def _paths(value: object, path: KeyPath) -> Iterator[KeyPath]:
    yield path
    if len(path) >= DEEPEST_TABLE:
        return
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from _paths(inner, (*path, key))
