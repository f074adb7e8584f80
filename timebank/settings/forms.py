"""Forms: the values that a setting of sysop.toml accepts. A setting is a field of its class.

A form converts a TOML value into the program's value, and says in words what it accepts. A sentence
in door/config/meanings.toml explains each setting.
"""

from __future__ import annotations

import tomllib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Generic, TypeGuard, TypeVar

from timebank.settings.quoting import either, guess, shown

LONGEST_TEXT = 200  # characters of a text, unless its form says otherwise

T = TypeVar("T")
W = TypeVar("W", bound=str)


class Form(Generic[T]):
    @abstractmethod
    def read(self, value: object) -> T:
        """Return the program's value. Raises ValueError with one argument for each problem.

        A problem is a clause that continues the key: "must be true or false, is 1".
        """

    @property
    def takes(self) -> str:
        """The accepted values, in words; "" for any text."""
        return ""

    def typed(self, text: str) -> object:
        """Return the TOML value that a sysop has typed on a command line, where texts need no
        quotes."""
        return _toml(text)


@dataclass(frozen=True)
class TrueOrFalse(Form[bool]):
    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, is {shown(value)}")
        return value

    @property
    def takes(self) -> str:
        return "true or false"

    def typed(self, text: str) -> object:
        return _TRUTH.get(text.lower(), text)


@dataclass(frozen=True)
class Number(Form[int]):
    """A whole number from `least` to `most`, multiplied by `times`: minutes become seconds."""

    least: int
    most: int
    times: int = 1

    def read(self, value: object) -> int:
        if not self.fits(value):
            raise ValueError(
                f"must be a whole number from {self.least} to {self.most}, is {shown(value)}"
            )
        return value * self.times

    def fits(self, value: object) -> TypeGuard[int]:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return is_number and self.least <= value <= self.most  # type: ignore[operator]

    @property
    def takes(self) -> str:
        return f"{self.least} to {self.most}"


@dataclass(frozen=True)
class Numbers(Form[tuple[int, ...]]):
    """One whole number, or a list of up to `many`."""

    each: Number
    many: int

    def read(self, value: object) -> tuple[int, ...]:
        numbers: list[object] = value if isinstance(value, list) else [value]
        range_ = f"must be whole numbers from {self.each.least} to {self.each.most}"
        wrong = [f"{range_}: {shown(each)} is not" for each in numbers if not self.each.fits(each)]
        if len(numbers) > self.many:
            wrong.insert(0, f"must have {self.many} numbers at most, has {len(numbers)}")
        if wrong:
            raise ValueError(*wrong)
        return tuple(map(self.each.read, numbers))

    @property
    def takes(self) -> str:
        return f"{self.each.takes}, or a list of up to {self.many}"

    def typed(self, text: str) -> object:
        return _toml(text if text.startswith("[") else f"[{text}]")


@dataclass(frozen=True)
class Text(Form[T]):
    """Printable text on one line. `parse` converts it, or raises ValueError."""

    parse: Callable[[str], T]
    longest: int = LONGEST_TEXT
    may_be_empty: bool = False

    def read(self, value: object) -> T:
        if not isinstance(value, str):
            raise ValueError(f'must be text in "quotes", is {shown(value)}')
        if not (value.strip() or (self.may_be_empty and not value)):
            raise ValueError("must not be empty")
        if not value.isprintable():
            raise ValueError("must not contain control characters or line ends")
        if len(value) > self.longest:
            raise ValueError(f"must be {self.longest} characters at most, is {len(value)} long")
        return self.parse(value)

    def typed(self, text: str) -> object:
        return text


@dataclass(frozen=True)
class Texts(Form[tuple[T, ...]]):
    """A list of printable texts. `parse` converts each of them, or raises ValueError."""

    parse: Callable[[str], T]

    def read(self, value: object) -> tuple[T, ...]:
        if isinstance(value, str):
            raise ValueError(f"must be a list: write [{shown(value)}]")
        if not isinstance(value, list):
            raise ValueError(f'must be a list of texts such as ["this"], is {shown(value)}')
        texts, wrong = list[T](), list[str]()
        for each in value:
            if not isinstance(each, str) or not each.strip() or not each.isprintable():
                wrong.append(f"must be a list of texts on one line each; {shown(each)} is not")
            elif len(each) > LONGEST_TEXT:
                wrong.append(f"must have texts of {LONGEST_TEXT} characters at most")
            else:
                try:
                    texts.append(self.parse(each))
                except ValueError as error:
                    wrong.append(str(error))
        if wrong:
            raise ValueError(*wrong)
        return tuple(texts)

    @property
    def takes(self) -> str:
        return "a list"

    def typed(self, text: str) -> object:
        return _listed(text)


@dataclass(frozen=True)
class OneOf(Form[W]):
    """One of these words."""

    words: tuple[W, ...]

    def read(self, value: object) -> W:
        for word in self.words:
            if value == word:
                return word
        raise ValueError(f"must be {self.takes}, is {shown(value)}{guess(value, self.words)}")

    @property
    def takes(self) -> str:
        return either([f'"{word}"' for word in self.words])

    def typed(self, text: str) -> object:
        return text


@dataclass(frozen=True)
class SomeOf(Form[tuple[str, ...]]):
    """One of these words, or a list of some of them."""

    words: tuple[str, ...]

    def read(self, value: object) -> tuple[str, ...]:
        chosen: list[object] = value if isinstance(value, list) else [value]
        if not chosen:
            raise ValueError(f"must name at least one of {', '.join(self.words)}")
        wrong = [
            f"must be {self.takes}: {shown(word)} is not{guess(word, self.words)}"
            for word in chosen
            if word not in self.words
        ]
        if wrong:
            raise ValueError(*wrong)
        return tuple(map(str, chosen))

    @property
    def takes(self) -> str:
        return f"one or a list of {', '.join(self.words)}"

    def typed(self, text: str) -> object:
        return text if text in self.words else _listed(text)


_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _toml(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _listed(text: str) -> object:
    """Return a list in the form of TOML, or as words with commas between them."""
    if text.startswith("["):
        return _toml(text)
    return [word.strip() for word in text.split(",") if word.strip()]


def _path(text: str) -> Path | None:
    return Path(text) if text else None


OPTIONAL_PATH = Text(_path, may_be_empty=True)


# Declarations


@dataclass(frozen=True)
class DeclaredSetting:
    """A setting as its field declares it.

    `default` is a TOML value. `table` is the setting's table, "" for the table of the class.
    """

    key: str
    form: Form[Any]
    default: object
    table: str


def setting(form: Form[T], default: object, key: str = "", table: str = "") -> T:
    """Declare a setting as a field of its class. `key` defaults to the name of the field."""
    metadata = {"setting": DeclaredSetting(key, form, default, table)}
    declaration: T = field(default=form.read(default), metadata=metadata)
    return declaration


def declared(kind: Any) -> dict[str, DeclaredSetting]:
    """Return the settings that a class declares, by the names of their fields."""
    return {
        each.name: replace(declaration, key=declaration.key or each.name)
        for each in fields(kind)
        if (declaration := each.metadata.get("setting")) is not None
    }
