"""Texts with pipe codes: other people's text, choices with a letter lit, and line breaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate

from ansi.width import character_width, text_width
from timebank.language import _

HANG_CELLS = 2  # indent of other people's text from its second row on
# A space where a line may break. French has spaces before some marks and behind « where none may.
_BREAK = re.compile(r"(?<!«)(?<!«\|\d\d) (?!(?:\|\d\d)*[:;!?%»](?:\|\d\d|[^\w\s])*(?:\s|$))")
_HANGS = "\t"  # marks a paragraph as hanging; text that callers type has no tab

PIPE_CODE = re.compile(r"\|(?:[01][0-9]|2[0-3])")
_CAPITALS = re.compile(r"\b[A-ZÀ-Þ]{2,}\b")
_KEYED = re.compile(r"(\|\d\d)<(\w)> (.*)")
_MARKED = re.compile(r"(.*?)\|08<\|15(.)\|08>(?:\|07)?(.*?)(?: \|07\((\w+)\))?")


def plain(text: str) -> str:
    return PIPE_CODE.sub("", text) if "|" in text else text


def literal(text: str) -> str:
    """Return text that another person wrote, so that nothing in it is a pipe code.

    >>> literal("a|15b")
    'a│15b'
    """
    return text.replace("|", "\N{BOX DRAWINGS LIGHT VERTICAL}")


def hanging(text: str) -> str:
    """Return other people's text with all rows but the first indented.

    Sentences of the board are not indented, so no part of a long text can pass for one.
    """
    return f"{_HANGS}{text}"


def without_capitals(text: str) -> str:
    """Return a game's words as readers speak them, which spell words in capitals.

    >>> without_capitals("Book: HIT. NO INSURANCE!")
    'Book: Hit. No Insurance!'
    """
    return _CAPITALS.sub(lambda word: word[0].capitalize(), text)


def lit(choices: Mapping[str, str], default: str | None = None) -> str:
    """Return the labels of choices as a menu shows them, each with its letter lit.

    The label of `default` is followed by "(Enter)".
    """
    named = {default: f" |07({_('Enter')})"} if default is not None else {}
    return "  ".join(
        f"{_lit(letter, label)}{named.get(letter, '')}" for letter, label in choices.items()
    )


@lru_cache(maxsize=512)
def _lit(letter: str, label: str) -> str:
    """Return a label with its letter lit, or with the letter put before it.

    >>> _lit("P", "Place bet"), _lit("X", "Quit")
    ('|07|08<|15P|08>|07lace bet', '|08<|15X|08>|07 Quit')
    """
    at = label.upper().find(letter)
    if at < 0:
        return f"|08<|15{letter}|08>|07 {label}"
    return f"|07{label[:at]}|08<|15{label[at]}|08>|07{label[at + 1 :]}"


@lru_cache(maxsize=512)
def read_out(text: str) -> str:
    """Return a menu for a screen reader: each letter in brackets behind its label.

    >>> plain(read_out(lit({"D": "Double", "U": "Tutor", "X": "Quit"}, "D")))
    'Double (D, Enter),  Tutor (U),  Quit (X)'
    """
    parts = re.split("(  |\n)", _KEYED.sub(r"\1\3 (\2)", text))
    for at in range(0, len(parts), 2):
        if marked := _MARKED.fullmatch(parts[at]):
            before, letter, after, enter = marked.groups()
            is_inside = before.endswith("|07") or not after.startswith(" ")
            label = f"{before}{letter}{after}" if is_inside else f"{before}{after.lstrip()}"
            keys = ", ".join(filter(None, (letter.upper(), enter)))
            parts[at] = f"{label} ({keys})"
            if _MARKED.fullmatch("".join(parts[at + 2 : at + 3])):
                parts[at] += ","
    return "".join(parts)


@lru_cache(maxsize=512)
def wrap(text: str, width: int) -> tuple[str, ...]:
    """Break `text` at spaces into lines that take at most `width` cells.

    Pipe codes take no room, and the last colour of a line continues in the next. A word longer than
    a line is cut, and has one colour. A `hanging` paragraph is indented from its second line on.

    >>> wrap("What a loooooong word", 6)
    ('What a', 'looooo', 'ong', 'word')
    >>> wrap(hanging("What a word"), 6)
    ('What a', '  word')
    >>> wrap("À demain : salut !", 9)
    ('À', 'demain :', 'salut !')
    >>> wrap("Dites « oui » à 50 %.", 9)
    ('Dites', '« oui » à', '50 %.')
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if paragraph.startswith(_HANGS):
            first, *rest = _wrap_paragraph(paragraph[1:], width, width - HANG_CELLS)
            lines += [first, *(" " * HANG_CELLS + line for line in rest)]
        else:
            lines += _wrap_paragraph(paragraph, width, width)
    return tuple(lines)


def _wrap_paragraph(paragraph: str, width: int, below: int) -> list[str]:
    """Break a paragraph into a first line of `width` cells and others of `below`."""
    lines: list[str] = []
    line, used = "", -1
    for word in _BREAK.split(paragraph):
        length = text_width(plain(word))
        if used + 1 + length <= (below if lines else width):
            line, used = word if used < 0 else f"{line} {word}", used + 1 + length
            continue
        if used >= 0:
            lines.append(line)
        *full, rest = _cut(word, below) if length > below else [word]
        colour = "".join(PIPE_CODE.findall(f"{line}{word}" if full else line)[-1:])
        lines += [colour + part for part in full]
        line, used = colour + rest, text_width(plain(rest))
    return [*lines, line]


@lru_cache(maxsize=512)
def wrap_question(text: str, width: int, room: int) -> tuple[str, ...]:
    """Break a question into lines, so that an answer of `room` cells fits behind the last.

    Choices are two spaces apart and are not broken. An answer gets half a line at most.

    >>> wrap_question("Take a card?  <Y>es  <N>o thanks", 22, 1)
    ('Take a card?  <Y>es', '<N>o thanks')
    >>> wrap_question("Take a card?  <Y>es  <N>o", 26, 1)
    ('Take a card?  <Y>es', '<N>o')
    """
    lines = _break_question(text, width)
    if text_width(plain(lines[-1])) + 1 + min(room, width // 2) <= width:
        return lines
    if room > 1:  # a text field gets a row of its own
        return (*lines, "")
    return (*lines[:-1], *_break_question(lines[-1], width - 2))


def _break_question(text: str, width: int) -> tuple[str, ...]:
    lines: list[str] = []
    for choice in text.split("  "):
        joined = f"{lines[-1]}  {choice}" if lines else choice
        if lines and text_width(plain(joined)) > width:
            lines += wrap(choice, width)
        else:
            lines[-1:] = wrap(joined, width)
    return tuple(lines)


def _cut(word: str, width: int) -> list[str]:
    """Cut a word, without its pipe codes, into parts that take at most `width` cells."""
    parts, used = [""], 0
    for letter in plain(word):
        used += character_width(letter)
        if used > width:
            parts.append("")
            used = character_width(letter)
        parts[-1] += letter
    return parts


def beginning(text: str, cells: int) -> str:
    """Return as much of a text as fits into `cells`."""
    if text.isascii():
        return text[:cells]
    ends = accumulate(map(character_width, text))
    return "".join(letter for letter, end in zip(text, ends, strict=True) if end <= cells)
