"""What is wrong with a text that is not TOML, in words for whoever wrote it.

The words of `tomllib` are those of its grammar, and its place is where reading failed, which is
often not where the mistake is: a list that nobody closed fails at the next header. Here the message
says only where to look.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping

from timebank.errors import Problem

LONGEST_STATEMENT = 200  # lines; after a longer list no line numbers are told
LONGEST_QUOTED = 40

_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]")
_KEY = re.compile(r"""\s*([A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')\s*=""")
_OPENED = re.compile(r"\s*([^=#\[\]]+?)\s*=\s*([\[{])")
_FLAGS = ("true", "yes", "on", "false", "no", "off")
_CURLY = "“”„‟‘’‚«»"


def problem(message: str, text: str) -> Problem:
    """Say what is wrong with `text`, of which tomllib gave `message`."""
    match = _PLACE.fullmatch(message)
    if match is None:
        return Problem("", f"is not valid TOML ({message})")
    reason = match[1]
    lines = text.split("\n")
    at, column = (int(match[2]), int(match[3])) if match[2] else (len(lines), None)
    begun = _begun(lines, at)
    # Where a value goes on over its line, the mistake is in what began it.
    if begun < at and (opened := _OPENED.match(lines[begun - 1])):
        what, closing = ("list", "]") if opened[2] == "[" else ("table", "}")
        return Problem(
            "", f'has a {what} that begins here, {opened[1]}, and has no "{closing}"', begun
        )
    if begun < at and match[2] is None:
        at = begun
    for begins, words in _WORDS.items():
        if reason.startswith(begins) and (said := words(lines, at, column or 1)):
            return Problem("", said, at, column)
    where = "" if match[2] else ", at its end"
    return Problem("", f"is not valid TOML ({reason}{where})", at, column)


def statements(text: str) -> Iterator[tuple[int, dict[str, object], str]]:
    """Cut a TOML text into its statements, each the fewest lines that tomllib accepts by
    themselves: its first line, what it says, its text. Ends before one that is too long."""
    first, chunk = 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        chunk += line + "\n"
        try:
            statement = tomllib.loads(chunk)
        except ValueError:
            if number - first > LONGEST_STATEMENT:
                return
            continue
        yield first, statement, chunk
        first, chunk = number + 1, ""


def _begun(lines: list[str], at: int) -> int:
    """The line on which the statement begins that line `at` is in."""
    begun = 1
    for first, _, chunk in statements("\n".join(lines[: at - 1])):
        begun = first + chunk.count("\n")
    return min(begun, at)


def _twice(lines: list[str], at: int, _column: int) -> str | None:
    """A key, or the table of a header, that stood there before."""
    header = _HEADER.match(lines[at - 1])
    if header is not None:
        return _header_twice(header, lines, at)
    key = _KEY.match(lines[at - 1])
    if key is None:
        return None
    for number in range(at - 1, 0, -1):
        line = lines[number - 1]
        if _HEADER.match(line):
            break
        other = _KEY.match(line)
        if other is not None and other[1] == key[1]:
            return f"has {key[1]} a second time; it stands on line {number} too: keep one of them"
    return None


def _header_twice(header: re.Match[str], lines: list[str], at: int) -> str | None:
    brackets, name = header.groups()
    shown = _bracketed(brackets, name)
    for number, line in enumerate(lines[: at - 1], 1):
        other = _HEADER.match(line)
        if other is not None and other[2] == name:
            if other[1] == brackets:
                return (
                    f"has the table {shown} a second time; it begins on line {number}: put all its"
                    " keys there"
                )
            return (
                f"has {shown} here and {_bracketed(*other.groups())} on line {number}: write all of"
                " them in the same way"
            )
        key = _KEY.match(line)
        if key is not None and key[1] == name:
            return f"has {shown} here and `{line.strip()}` on line {number}: keep one of them"
    return None


def _bracketed(brackets: str, name: str) -> str:
    return f"{brackets}{name}{']' * len(brackets)}"


def _no_value(lines: list[str], at: int, column: int) -> str | None:
    rest = lines[at - 1][column - 1 :] if at <= len(lines) else ""
    value = rest.partition("#")[0].strip()
    if not value:
        return 'has nothing after the "="'
    if value[0] in _CURLY:
        return f'has the quotes {value[0]}; TOML knows only straight ones: "'
    if value.lower() in _FLAGS:
        right = "true" if _FLAGS.index(value.lower()) < 3 else "false"
        return f"has {value}, which TOML writes {right}"
    if value[0].isalpha() and not set(value) & set("\"'[]{}"):
        return f'has text without quotes: write "{_short(value)}"'
    return None


def _no_equals(lines: list[str], at: int, column: int) -> str | None:
    line = lines[at - 1]
    key = line[: column - 1].strip()
    rest = line[column - 1 :].strip()
    if not key:
        return None
    if rest.startswith(":"):
        return f'has ":" after {_short(key)}; TOML has "=" there'
    if "=" in rest:
        name = f"{key} {rest.partition('=')[0]}".strip()
        return f"has the key {_short(name)}, and keys have no spaces"
    return f'has {_short(line.strip())}, and no "=" in it: each line is `key = value`'


def _goes_on(lines: list[str], at: int, column: int) -> str | None:
    line = lines[at - 1]
    value = line.partition("=")[2].partition("#")[0].strip()
    if re.fullmatch(r"[+-]?0[0-9]+", value):
        return f"has {value}: a number does not begin with 0"
    if value[:1].isalnum():
        return f'has text without quotes: write "{_short(value)}"'
    rest = line[column - 1 :].strip()
    return f"has {_short(rest)} after the value: one line holds one value" if rest else None


def _not_ended(lines: list[str], at: int, _column: int) -> str | None:
    return "has text that begins with a quote and does not end with one on its line"


def _backslash(lines: list[str], at: int, _column: int) -> str | None:
    return 'has a "\\" in text: write two of them for one, or put the text in single quotes'


def _open_header(lines: list[str], at: int, _column: int) -> str | None:
    name = lines[at - 1].partition("#")[0].strip().strip("[] ")
    brackets = lines[at - 1].count("[")
    return f"has a header that is not closed: write {'[' * brackets}{_short(name)}{']' * brackets}"


def _short(text: str) -> str:
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 3]}..."


# By the beginnings of tomllib's messages, which have stayed the same from Python 3.11 on. One that
# none of these is the beginning of is shown as it is.
_WORDS: Mapping[str, Callable[[list[str], int, int], str | None]] = {
    "Cannot overwrite a value": _twice,
    "Cannot declare": _twice,
    "Cannot mutate immutable namespace": _twice,
    "Invalid value": _no_value,
    "Expected '=' after a key": _no_equals,
    "Expected newline or end of document": _goes_on,
    "Illegal character '\\n'": _not_ended,
    'Expected "\'"': _not_ended,
    "Unterminated string": _not_ended,
    "Unescaped '\\'": _backslash,
    "Expected ']": _open_header,
}
