"""Explains what is wrong with a text that is not TOML, in words for its author.

The messages of `tomllib` use the words of its grammar. Its position is where reading failed, which
is often after the mistake: an unclosed list fails at the next header. So the message only selects
an explanation here, and the position a place to search from.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping

from timebank.errors import Problem
from timebank.settings.quoting import printable

LONGEST_STATEMENT = 200  # lines; the lines after a longer list have no numbers

_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]")
_KEY = re.compile(r"""\s*([A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')\s*=""")
_OPEN_VALUE = re.compile(r"\s*([^=#\[\]]+?)\s*=\s*([\[{])")
_FLAGS = ("true", "yes", "on", "false", "no", "off")
_CURLY = "“”„‟‘’‚«»"


def problem(error: Exception, text: str) -> Problem:
    """Return the problem of a text that tomllib refused."""
    lines, match = text.split("\n"), _PLACE.fullmatch(str(error))
    if isinstance(error, RecursionError):
        return Problem("", "is not valid TOML (is nested too deeply)")
    if match is None:  # `int` reads 4,300 digits
        endless = (at for at, line in enumerate(lines, 1) if re.search("[0-9_]{4000}", line))
        return Problem("", "has a number of thousands of digits", next(endless, None))
    reason = match[1]
    at, column = (int(match[2]), int(match[3])) if match[2] else (len(lines), None)
    first = _first_line(lines, at)
    # If a value continues over several lines, the mistake is at its beginning.
    if first < at and (opened := _OPEN_VALUE.match(lines[first - 1])):
        what, closing = ("list", "]") if opened[2] == "[" else ("table", "}")
        return Problem(
            "", f'has a {what} that begins here, {opened[1]}, and has no "{closing}"', first
        )
    if first < at and match[2] is None:
        at = first
    for begins, explain in _EXPLANATIONS.items():
        if reason.startswith(begins) and (explanation := explain(lines, at, column or 1)):
            return Problem("", explanation, at, column)
    where = "" if match[2] else ", at its end"
    return Problem("", f"is not valid TOML ({reason}{where})", at, column)


def statements(text: str) -> Iterator[tuple[int, dict[str, object], str]]:
    """Yield the statements of a TOML text, each as (first line, values, text).

    A statement is the shortest run of lines that tomllib accepts by themselves. Stops before a
    statement of more than LONGEST_STATEMENT lines.
    """
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


def _first_line(lines: list[str], at: int) -> int:
    """Return the first line of the statement that contains line `at`."""
    next_line = 1
    for first, _, chunk in statements("\n".join(lines[: at - 1])):
        next_line = first + chunk.count("\n")
    return min(next_line, at)


def _duplicate_key(lines: list[str], at: int, _column: int) -> str | None:
    """Explain a key or a table that occurs twice."""
    header = _HEADER.match(lines[at - 1])
    if header is not None:
        return _duplicate_header(header, lines, at)
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


def _duplicate_header(header: re.Match[str], lines: list[str], at: int) -> str | None:
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
        if (key is not None and key[1] == name) or line.lstrip().startswith(f"{name}."):
            return f"has {shown} here and `{line.strip()}` on line {number}: keep one of them"
    return None


def _bracketed(brackets: str, name: str) -> str:
    return f"{brackets}{name}{']' * len(brackets)}"


def _no_statement(lines: list[str], at: int, column: int) -> str | None:
    sign = re.match(";|//", lines[at - 1][column - 1 :])
    return sign and f"has a remark after {sign[0]}, and TOML begins one with #"


def _no_value(lines: list[str], at: int, column: int) -> str | None:
    rest = lines[at - 1][column - 1 :] if at <= len(lines) else ""
    value = rest.partition("#")[0].strip()
    if not value:
        return 'has nothing after the "="'
    if value[0] == "=":
        return 'has "==", and TOML has one "=" there'
    if value[0] in _CURLY:
        return f'has the quotes {value[0]}; TOML knows only straight ones: "'
    if value.lower() in _FLAGS:
        right = "true" if _FLAGS.index(value.lower()) < 3 else "false"
        return f"has {value}, which TOML writes {right}"
    if value[0].isalpha() and not set(value) & set("\"'[]{}"):
        return f'has text without quotes: write "{printable(value)}"'
    return None


def _no_equals(lines: list[str], at: int, column: int) -> str | None:
    line = lines[at - 1]
    key = line[: column - 1].strip()
    rest = line[column - 1 :].strip()
    if not key:
        return None
    if rest.startswith(":"):
        return f'has ":" after {printable(key)}; TOML has "=" there'
    if "=" in rest:
        name = f"{key} {rest.partition('=')[0]}".strip()
        return f"has the key {printable(name)}, and keys have no spaces"
    return f'has {printable(line.strip())}, and no "=" in it: each line is `key = value`'


def _text_after_value(lines: list[str], at: int, column: int) -> str | None:
    line = lines[at - 1]
    value, rest = line.partition("=")[2].partition("#")[0].strip(), line[column - 1 :].strip()
    if line.lstrip().startswith("[") and "=" in rest:
        return f"has {printable(rest)} after the header: write it on a line of its own"
    if re.fullmatch(r"[+-]?0[0-9]+", value):
        return f"has {value}: a number does not begin with 0"
    if value[:1].isalnum() and "=" not in value:
        return f'has text without quotes: write "{printable(value)}"'
    return f"has {printable(rest)} after the value: one line holds one value" if rest else None


def _unclosed_text(lines: list[str], at: int, _column: int) -> str | None:
    return "has text that begins with a quote and does not end with one on its line"


def _backslash(lines: list[str], at: int, _column: int) -> str | None:
    return 'has a "\\" in text: write two of them for one, or put the text in single quotes'


def _open_header(lines: list[str], at: int, _column: int) -> str | None:
    name = lines[at - 1].partition("#")[0].strip().strip("[] ")
    shown = _bracketed("[" * lines[at - 1].count("["), printable(name))
    return f"has a header that is not closed: write {shown}"


# Explanations by the beginnings of tomllib's messages, unchanged since Python 3.11. A message
# without one is shown unchanged.
_EXPLANATIONS: Mapping[str, Callable[[list[str], int, int], str | None]] = {
    "Cannot overwrite a value": _duplicate_key,
    "Cannot declare": _duplicate_key,
    "Cannot mutate immutable namespace": _duplicate_key,
    "Invalid statement": _no_statement,
    "Invalid value": _no_value,
    "Expected '=' after a key": _no_equals,
    "Expected newline or end of document": _text_after_value,
    "Illegal character '\\n'": _unclosed_text,
    'Expected "\'"': _unclosed_text,
    "Unterminated string": _unclosed_text,
    "Unescaped '\\'": _backslash,
    "Expected ']": _open_header,
}
