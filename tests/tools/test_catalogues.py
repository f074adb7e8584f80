"""The translator's tool extracts every marked text, wherever it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from gettext import GNUTranslations
from string import Formatter

import pytest
from babel import Locale
from babel.messages.catalog import Catalog

from tests import ROOT
from tests.uncollected import uncollected
from timebank.language import ENGLISH, LANGUAGES
from tools.catalogues import (
    brought_up_to_date,
    compiled,
    missing,
    place,
    read,
    texts,
    texts_of,
    written,
)

OTHERS = [language for language in LANGUAGES if language != ENGLISH]
# Punctuation that has a space before it in French, and brackets with one inside.
UNSPACED = re.compile(r"[^\s\d(«][;!?]|\S:(?!\d\d|//)|«\S|\S»")

SOURCE = """
# For translators: what a caller does
# with cards.
a = _("play")
b = f"|15{_('inside a string')}|07 {ngettext('{n} card', '{n} cards', n)}"
c = pgettext("verb", "bet")
d = Phrase.counted("{n} win", "{n} wins", n)
e = _(a)
f = N_("kept " "for later")
"""


def test_texts_inside_strings_are_collected_too() -> None:
    assert [(text.context, text.id) for text in texts_of(SOURCE)] == [
        (None, "play"),
        (None, "inside a string"),
        (None, ("{n} card", "{n} cards")),
        ("verb", "bet"),
        (None, ("{n} win", "{n} wins")),
        (None, "kept for later"),
    ]


def test_a_comment_to_translators_goes_with_its_text() -> None:
    assert next(texts_of(SOURCE)).comments == ["what a caller does with cards."]


@cache
def marked() -> Catalog:
    """The texts of the product, read once."""
    with uncollected():
        return texts()


def test_no_text_sends_a_caller_to_a_file_that_they_cannot_read() -> None:
    translations = [message.id for message in marked()]
    every = [text for one in translations for text in ([one] if isinstance(one, str) else one)]
    assert len(every) > 1000
    assert not [text for text in every if "docs/" in text or ".md" in text]


def translations(language: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a language with its English, singular or plural."""
    for message in read(language):
        if isinstance(message.id, tuple) and all(message.string):
            yield from zip(message.id, message.string, strict=False)
        elif isinstance(message.id, str) and message.id and message.string:
            yield message.id, message.string


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_a_translation_that_is_in_doubt_is_missing_for_no_caller_reads_it() -> None:
    catalogue = Catalog(locale="fr")
    catalogue.add("One", "Un")
    catalogue.add("Two", "Deux", flags=["fuzzy"])
    assert missing(catalogue) == ["Two"]


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_a_place_for_every_text_and_is_compiled(language: str) -> None:
    catalogue = brought_up_to_date(language, marked())
    # Compare lines, and only for equality: a diff of two long files takes a minute.
    stored, now = place(language).read_bytes(), written(catalogue)
    differing = set(stored.splitlines()) ^ set(now.splitlines())
    assert differing == set(), "run `python -m tools.catalogues`"
    is_same = stored == now
    assert is_same, "texts stand in another order: run `python -m tools.catalogues`"
    is_compiled = place(language).with_suffix(".mo").read_bytes() == compiled(read(language))
    assert is_compiled, "run `python -m tools.catalogues`"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_documents_mention_each_language(language: str) -> None:
    name = Locale(language).get_display_name(ENGLISH) or language
    documents = (
        "README.md",
        "docs/translating.md",
        "docs/guide/callers.md",
        "docs/guide/running.md",
    )
    assert [each for each in documents if name not in (ROOT / each).read_text("utf-8")] == []


@pytest.mark.parametrize("language", OTHERS)
def test_compiled_plurals_follow_the_catalogue(language: str) -> None:
    counted = (each for each in read(language) if isinstance(each.id, tuple) and all(each.string))
    with place(language).with_suffix(".mo").open("rb") as file:
        catalogue = GNUTranslations(file)
    for counting in counted:
        forms = {catalogue.ngettext(*counting.id, number) for number in range(200)}
        assert forms == set(counting.string)
        assert catalogue.ngettext(*counting.id, 10**6) in counting.string


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_says_its_text_twice(language: str) -> None:
    assert [
        other for _, other in translations(language) if len(other) > 40 and other[:40] in other[1:]
    ] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_placeholders_of_the_english(language: str) -> None:
    for english, other in translations(language):
        assert fields(other) == fields(english), english


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_no_space_that_a_painted_screen_leaves_out(language: str) -> None:
    assert [text for _, text in translations(language) if "\N{NO-BREAK SPACE}" in text] == []


def test_french_has_a_space_before_double_punctuation() -> None:
    plain = [re.sub(r"\{\w+\}|\|\d\d", "x", french) for _, french in translations("fr")]
    assert [text for text in plain if UNSPACED.search(text)] == []


ON_SCREENS = ("call", "lobby", "session", "tables")
# Film titles and recordings, which are English for every reader.
ENGLISH_ALONE = {"unix_bj/table.py", "reel.py", "unix_bj/teletype.py"}


def glued(source: str) -> Iterator[str]:
    """Yield the f-strings in which a value is followed by punctuation that a language spaces."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = [
                str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values
            ]
            if re.search(r"\0[:%;!?](?=\s|\||$)", "".join(parts)):
                yield ast.unparse(node)


def test_no_screen_glues_punctuation_to_a_value() -> None:
    assert list(glued('f"{name}: {text}", f"{a}%", f"{h}:{m}", f"{a}, {b}"')) == [
        "f'{name}: {text}'",
        "f'{a}%'",
    ]
    found = [
        (file.relative_to(ROOT).as_posix(), text)
        for room in ON_SCREENS
        for file in sorted((ROOT / "door" / room).rglob("*.py"))
        if not file.as_posix().endswith(tuple(ENGLISH_ALONE))
        for text in glued(file.read_text("utf-8"))
    ]
    assert found == []


# Keys that a program of whole lines lacks, and keys that act without Enter.
KEYS = re.compile(
    r"\b(Esc|Échap|Ctrl|DEL|F1|Backspace|Page Down|arrow|flèche|Space|Espace|any key|une touche)\b"
    r"|[Pp]ress (?!Enter\b)|ppuyez sur (?!Entrée\b)"
)


def suited(source: str) -> Iterator[str]:
    """Yield the texts for programs that send keys, which stand first in `Keyboard.suited`."""
    tree = ast.parse(source)
    constants = {
        ast.unparse(node.targets[0]): node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".suited"):
            for named in ast.walk(node.args[0]):
                part = constants.get(ast.unparse(named), named)
                yield from (
                    each.value
                    for each in ast.walk(part)
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )


def test_a_text_that_names_keys_has_another_for_programs_that_send_lines() -> None:
    assert [*suited('A = N_("a")\nb = keyboard.suited(_(A), _("b"))')] == ["a"]
    with_another = {
        text
        for file in sorted((ROOT / "door").rglob("*.py"))
        for text in suited(file.read_text("utf-8"))
    }
    found = {
        english
        for language in OTHERS
        for english, words in translations(language)
        if KEYS.search(english) or KEYS.search(words)
    }
    assert found - with_another == {"Esc"}  # which help leaves out there
