"""Bring the catalogues of texts up to date: `python -m tools.catalogues`.

Reads every text that the product marks (timebank/language.py), adds new ones to the catalogue of
each language, drops removed ones, and compiles. A text with changed English is new: nothing is
guessed from a similar one. Prints how many texts each language lacks, which stay English.
`--check` changes nothing, and names these texts.
"""

from __future__ import annotations

import argparse
import ast
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from timebank.language import CATALOGUES, DOMAIN, ENGLISH, LANGUAGES

HOUSE = Path(__file__).parent.parent
PACKAGES = ("door", "timebank")
# The functions that mark a text, and the positions of their arguments: context, one, many.
MARKS: dict[str, tuple[int | None, int, int | None]] = {
    "_": (None, 0, None),
    "N_": (None, 0, None),
    "Phrase": (None, 0, None),
    "counted": (None, 0, 1),
    "ngettext": (None, 0, 1),
    "pgettext": (0, 1, None),
}
COMMENT = "# For translators:"
WIDTH = 100
# The headers that gettext reads. The others have dates, and the version of Babel.
READ_HEADERS = {"Content-Type", "Content-Transfer-Encoding", "Plural-Forms"}


class Text(NamedTuple):
    context: str | None
    id: str | tuple[str, str]
    comments: Sequence[str]


def texts() -> Catalog:
    """Return every marked text of the product, with its files."""
    catalogue = Catalog()
    for package in PACKAGES:
        for file in sorted((HOUSE / package).rglob("*.py")):
            for text in texts_of(file.read_text(encoding="utf-8")):
                # Without line numbers: a catalogue changes when its texts do.
                where = [(file.relative_to(HOUSE).as_posix(), 0)]
                catalogue.add(text.id, None, where, (), text.comments, context=text.context)
    return catalogue


def texts_of(source: str) -> Iterator[Text]:
    """Yield the marked texts of a file, also inside f-strings.

    Before Python 3.12 tools that read tokens see those as a part of one string.
    """
    lines = source.splitlines()
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        mark = MARKS.get(getattr(call.func, "id", getattr(call.func, "attr", "")))
        if mark is None:
            continue
        context, one, many = (None if at is None else _literal(call, at) for at in mark)
        if one and (mark[2] is None or many):
            comments = _comments_above(lines, call.lineno)
            yield Text(context, (one, many) if many else one, comments)


def _literal(call: ast.Call, at: int) -> str | None:
    argument = call.args[at] if at < len(call.args) else None
    is_text = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    return str(argument.value) if is_text else None  # type: ignore[union-attr]


def _comments_above(lines: Sequence[str], number: int) -> Sequence[str]:
    """Return the comment to translators right above a line."""
    above: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.strip().startswith("#"):
            break
        above.insert(0, line.strip())
        if above[0].startswith(COMMENT):
            comment = [above[0].removeprefix(COMMENT), *(each[1:] for each in above[1:])]
            return [" ".join(each.strip() for each in comment)]
    return []


def place(language: str) -> Path:
    return CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    with place(language).open("rb") as file:
        return read_po(file, locale=language)


def brought_up_to_date(language: str, catalogue: Catalog) -> Catalog:
    known = read(language) if place(language).exists() else Catalog(locale=language)
    known.update(catalogue, no_fuzzy_matching=True)
    known.obsolete.clear()
    return known


def written(catalogue: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalogue, width=WIDTH, omit_header=True, sort_by_file=True, include_lineno=False)
    return HEADER.format(plural=catalogue.plural_forms).encode() + out.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """Return the program's binary catalogue, the same bytes for the same texts."""
    out = io.BytesIO()
    write_mo(out, _Compiled(catalogue))
    return out.getvalue()


class _Compiled(Catalog):
    """A catalogue with only the headers that gettext reads, and its own plural forms.

    Babel's plural forms for a language differ between its releases.
    """

    def __init__(self, catalogue: Catalog) -> None:
        super().__init__(catalogue.locale)
        self._headers = [
            (name, catalogue.plural_forms if name == "Plural-Forms" else value)
            for name, value in catalogue.mime_headers
            if name in READ_HEADERS
        ]
        for each in catalogue:
            if each.id:
                self[each.id] = each

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        return self._headers


HEADER = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural}\\n"

"""


def missing(catalogue: Catalog) -> list[str]:
    """Name the texts missing in a catalogue; fuzzy ones are not compiled."""
    messages = [each for each in catalogue if each.id]
    return [str(each.id) for each in messages if each.fuzzy or not _is_said(each.string)]


def _is_said(text: object) -> bool:
    return all(text) if isinstance(text, tuple | list) else bool(text)


def main() -> None:
    asked = argparse.ArgumentParser(description="Bring the catalogues of texts up to date.")
    asked.add_argument("--check", action="store_true", help="change nothing, name what is missing")
    check = asked.parse_args().check
    texts_marked = texts()
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        file, catalogue = place(language), brought_up_to_date(language, texts_marked)
        untold = missing(catalogue)
        print(f"{language}: {len(untold)} of {len(texts_marked)} texts are missing.")
        if check:
            print(*untold, sep="\n")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(written(catalogue))
        file.with_suffix(".mo").write_bytes(compiled(read(language)))


if __name__ == "__main__":
    main()
