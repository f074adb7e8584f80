"""What is said, in the language of whoever reads it.

Texts stand where they are said, in English, marked for gettext:

    _("You have {minutes} today.").format(minutes=span(3600))
    ngettext("{number} win", "{number} wins", wins).format(number=wins)

`_` and `ngettext` give a text in the language of the viewer whose task or thread this is; without
one, in English: the books and the log are English. `N_` marks a text that is put aside and asked
for later with `_`. What is raised in one place and read in another is a `Phrase`.

A translator finds everything in one place: timebank/locales/<language>/LC_MESSAGES/bjft.po
(docs/translating.md says how). Why gettext: translators have tools for it, Python reads it without
a library of ours, it has plurals, and a text without a translation is English by itself.
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
# Every language there is, as it calls itself.
LANGUAGES = {ENGLISH: "English", "fr": "Français"}
DOMAIN = "bjft"
CATALOGUES = Path(__file__).parent / "locales"


@dataclass(slots=True, eq=False)
class Viewer:
    """Somebody who reads. What is changed here holds for all that is under way for them."""

    language: str = ENGLISH
    # What spells out letters that their terminal lacks, for `str.translate`.
    spelling: Mapping[int, str] = field(default_factory=dict)


_NOBODY = Viewer()
_viewer: ContextVar[Viewer] = ContextVar("viewer", default=_NOBODY)


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Read the texts of a language, once: 2 ms. Raises OSError where there are none."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, CATALOGUES, [language])


def _(text: str) -> str:
    viewer = _viewer.get()
    if viewer.language == ENGLISH:
        return text
    return catalogue(viewer.language).gettext(text).translate(viewer.spelling)


def ngettext(one: str, many: str, number: int) -> str:
    viewer = _viewer.get()
    if viewer.language == ENGLISH:
        return one if number == 1 else many
    return catalogue(viewer.language).ngettext(one, many, number).translate(viewer.spelling)


def pgettext(context: str, text: str) -> str:
    """Give a text whose one English word is several in other languages; `context` says which."""
    viewer = _viewer.get()
    if viewer.language == ENGLISH:
        return text
    return catalogue(viewer.language).pgettext(context, text).translate(viewer.spelling)


def N_(text: str) -> str:
    return text


def cached_text(write: Callable[[*Arguments], str]) -> Callable[[*Arguments], str]:
    """Decorate a function that writes a long text: readers of one language share what it wrote."""

    @lru_cache(maxsize=32)
    def read(_reader: object, *arguments: *Arguments) -> str:
        return write(*arguments)

    @wraps(write)
    def share(*arguments: *Arguments) -> str:
        viewer = _viewer.get()
        return read((viewer.language, *viewer.spelling.items()), *arguments)

    return share


def reader() -> Viewer:
    """Return who reads what is said in this task or thread; one who reads English where nobody
    was named."""
    return _viewer.get()


def speak_to(viewer: Viewer) -> None:
    """Let this task, and what it begins from now on, speak to `viewer`."""
    _viewer.set(viewer)


class speaking_to:
    """Speak to `viewer` for a while: at a table one task speaks to several."""

    # Each update of each screen enters one of these. A generator would cost more, and so would
    # setting what the viewer's own task has already.
    __slots__ = ("_before", "_viewer")

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer

    def __enter__(self) -> None:
        is_spoken_to = _viewer.get() is self._viewer
        self._before = None if is_spoken_to else _viewer.set(self._viewer)

    def __exit__(self, *_error: object) -> None:
        if self._before is not None:
            _viewer.reset(self._before)


def known(language: object) -> str:
    """Return a language that there is: of a locale such as `fr_CA.UTF-8`, or English.

    >>> known("fr_CA.UTF-8"), known("tlh"), known(None)
    ('fr', 'en', 'en')
    """
    code = str(language or "").partition("_")[0].partition("-")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else ENGLISH


class EnglishFormatter(logging.Formatter):
    """Writes the log in English, whoever it is about, and by the board's clock on the wall.

    The offset from UTC stands in each line.
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
    """A text and what is filled in, put into words when it is read: `str()` of it.

    A value that is a function is called then, so that it speaks the viewer's language too:

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
        """Make one of a number of things, which stands in both texts as {number}.

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
        said = {name: each() if callable(each) else each for name, each in self._values.items()}
        return text.format(**said)
