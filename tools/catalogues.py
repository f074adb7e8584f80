"""Bring the catalogues of texts up to date: `python -m tools.catalogues`.

Reads every text that the product marks (timebank/language.py), adds what is new to the catalogue of
each language, drops what is gone, and compiles. A text whose English has changed is new: nothing is
guessed from one that looks like it. `--check` changes nothing, and says what is missing.
"""

from __future__ import annotations

import argparse
import io
import sys
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from timebank.language import CATALOGUES, DOMAIN, ENGLISH, LANGUAGES

HOUSE = Path(__file__).parent.parent
PACKAGES = ("door", "timebank")
MARKS: dict[str, object] = {
    "_": None,
    "N_": None,
    "Phrase": None,
    "counted": (1, 2),
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
}
WIDTH = 100
THE_SAME = datetime(2026, 1, 1, tzinfo=UTC)


def texts() -> Catalog:
    """Give every text that is marked in the product, with the files that it stands in."""
    found = Catalog()
    for package in PACKAGES:
        extracted = extract_from_dir(
            HOUSE / package,
            [("**.py", "python")],
            keywords=MARKS,  # type: ignore[arg-type]
            comment_tags=["For translators:"],
            strip_comment_tags=True,
        )
        for file, _, text, comments, context in sorted(extracted, key=lambda each: each[:2]):
            # Without line numbers: a catalogue changes when its texts do.
            found.add(text, None, [(f"{package}/{file}", 0)], (), comments, context=context)
    return found


def place(language: str) -> Path:
    return CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    with place(language).open("rb") as file:
        return read_po(file, locale=language)


def brought_up_to_date(language: str, found: Catalog) -> Catalog:
    known = read(language) if place(language).exists() else Catalog(locale=language)
    known.update(found, no_fuzzy_matching=True)
    known.obsolete.clear()
    return known


def written(catalogue: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalogue, width=WIDTH, omit_header=True, sort_by_file=True, include_lineno=False)
    return HEADER.format(plural=catalogue.plural_forms).encode() + out.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """Give what the program reads, the same bytes for the same texts."""
    catalogue.creation_date = THE_SAME
    out = io.BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


HEADER = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural}\\n"

"""


def missing(catalogue: Catalog) -> list[str]:
    """Name the texts that a catalogue does not say."""
    return [str(each.id) for each in catalogue if each.id and not _is_said(each.string)]


def _is_said(said: object) -> bool:
    return all(said) if isinstance(said, tuple | list) else bool(said)


def main() -> int:
    asked = argparse.ArgumentParser(description="Bring the catalogues of texts up to date.")
    asked.add_argument("--check", action="store_true", help="change nothing, say what is missing")
    check = asked.parse_args().check
    found, lacking = texts(), 0
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        file, catalogue = place(language), brought_up_to_date(language, found)
        if check:
            untold = missing(catalogue)
            lacking += len(untold)
            print(
                f"{language}: {len(untold)} of {len(found)} texts are missing.", *untold, sep="\n"
            )
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(written(catalogue))
        file.with_suffix(".mo").write_bytes(compiled(read(language)))
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
