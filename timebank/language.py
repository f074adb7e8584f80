"""Texts in the language of their reader.

The code contains the English texts, marked for gettext:

    _("You have {minutes} today.").format(minutes=span(3600))
    ngettext("{number} win", "{number} wins", wins).format(number=wins)

`_` and `ngettext` return a text in the language of the viewer of this task or thread. Without a
viewer it is English, as in the books and the log. `N_` marks a text that `_` translates later. A
`Phrase` is a text that is raised in one place and read in another.

All translations are in timebank/locales/<language>/LC_MESSAGES/bjft.po (docs/translating.md). We
use gettext because translators have tools for it, Python reads it without another library, it has
plurals, and a text without a translation stays English.
"""

from __future__ import annotations

import gettext
import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import TypeVarTuple

Arguments = TypeVarTuple("Arguments")

ENGLISH = "en"
# The languages that callers may choose, by their own names. English needs no catalogue.
LANGUAGES = {ENGLISH: "English", "fr": "Français"}
DOMAIN = "bjft"
CATALOGUES = Path(__file__).parent / "locales"


def next_language(language: str) -> str:
    languages = list(LANGUAGES)
    return languages[(languages.index(language) + 1) % len(languages)]


@dataclass(slots=True, eq=False)
class Viewer:
    """A reader of texts. A change of its fields takes effect in all its tasks."""

    language: str = ENGLISH
    # Replacements for letters that the terminal lacks, for `str.translate`.
    spelling: Mapping[int, str] = field(default_factory=dict)
    escape: str = ""  # the key that their keyboard has in place of Esc


_NOBODY = Viewer()
_viewer: ContextVar[Viewer] = ContextVar("viewer", default=_NOBODY)


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Read the texts of a language. Takes 2 ms, so they are cached. Raises OSError."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, CATALOGUES, [language])


def _(text: str) -> str:
    viewer = _viewer.get()
    if viewer.escape and "Esc" in text:
        written = catalogue(viewer.language).gettext
        return written(text).replace(written("Esc"), viewer.escape).translate(viewer.spelling)
    if viewer.language == ENGLISH:
        return text
    return catalogue(viewer.language).gettext(text).translate(viewer.spelling)


def ngettext(one: str, many: str, number: int) -> str:
    viewer = _viewer.get()
    if viewer.language == ENGLISH:
        return one if number == 1 else many
    return catalogue(viewer.language).ngettext(one, many, number).translate(viewer.spelling)


def pgettext(context: str, text: str) -> str:
    """Translate a text that has several translations; `context` selects one of them."""
    viewer = _viewer.get()
    if viewer.language == ENGLISH:
        return text
    return catalogue(viewer.language).pgettext(context, text).translate(viewer.spelling)


def N_(text: str) -> str:
    return text


def cached_text(write: Callable[[*Arguments], str]) -> Callable[[*Arguments], str]:
    """Decorate a function that writes a long text. Readers of one language share the result."""

    @lru_cache(maxsize=32)
    def read(_reader: object, *arguments: *Arguments) -> str:
        return write(*arguments)

    @wraps(write)
    def share(*arguments: *Arguments) -> str:
        viewer = _viewer.get()
        return read((viewer.language, viewer.escape, *viewer.spelling.items()), *arguments)

    return share


def reader() -> Viewer:
    """Return the viewer of this task or thread; a viewer of English if none was set."""
    return _viewer.get()


def speak_to(viewer: Viewer) -> None:
    """Set the viewer of this task, and of the tasks that it starts from now on."""
    _viewer.set(viewer)


class speaking_to:
    """A context manager that sets the viewer, for a task that writes for several of them."""

    # Every update of a screen enters it. A generator would cost more, and so would setting a viewer
    # that is set already.
    __slots__ = ("_before", "_viewer")

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer

    def __enter__(self) -> None:
        is_set = _viewer.get() is self._viewer
        self._before = None if is_set else _viewer.set(self._viewer)

    def __exit__(self, *_error: object) -> None:
        if self._before is not None:
            _viewer.reset(self._before)


class EnglishFormatter(logging.Formatter):
    """Writes the log in English and in the board's time zone, with the offset from UTC.

    The language of the viewer that a line is about does not matter.
    """

    def __init__(self, form: str, zone: tzinfo) -> None:
        super().__init__(form)
        self._zone = zone

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        at = datetime.fromtimestamp(record.created, self._zone)
        return at.isoformat(" ", "milliseconds")

    def format(self, record: logging.LogRecord) -> str:
        with speaking_to(_NOBODY):
            return super().format(record)


class Phrase:
    """A text with values, which `str()` translates and fills in for its reader.

    A value that is a function is called at that time, so that its result is translated too:

    >>> str(Phrase("{name} owes {amount}.", name="Ann", amount=lambda: "2 coins"))
    'Ann owes 2 coins.'
    """

    __slots__ = ("_many", "_number", "_text", "_values")

    def __init__(self, text: str, /, **values: str | int | Phrase | Callable[[], str]) -> None:
        self._text = text
        self._many = ""
        self._number = 0
        self._values = values

    @classmethod
    def counted(cls, one: str, many: str, number: int) -> Phrase:
        """Make a phrase about a number of things; both texts contain {number}.

        >>> str(Phrase.counted("{number} win", "{number} wins", 2))
        '2 wins'
        """
        phrase = cls(one, number=number)
        phrase._many, phrase._number = many, number
        return phrase

    def __str__(self) -> str:
        text = ngettext(self._text, self._many, self._number) if self._many else _(self._text)
        if not self._values:
            return text
        values = {name: each() if callable(each) else each for name, each in self._values.items()}
        return text.format(**values)
