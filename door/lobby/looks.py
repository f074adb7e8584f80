"""The look of a terminal, its characters and colours: guessed, asked once, remembered.

The guess comes from the terminal's own `Hints`. The caller decides: they see the same box in
several looks and choose the one that looks right. It is remembered for each type of terminal, as
the same caller may use SyncTERM today and a phone tomorrow.

Plain lines use the terminal's own character set if that is known, so that French is read aloud with
its accents. Callers do not choose that set, so it changes when more is known of the terminal.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ansi.charset import Charset
from door.call.console import Console
from door.call.keyboard import LINES
from door.call.markup import wrap
from door.call.scene import LAYOUT_COLUMNS
from door.call.screen import CANVAS_COLUMNS, CANVAS_ROWS, Look, Paint
from door.lines.line import UNICODE
from door.lobby import texts
from timebank.errors import BooksFailed
from timebank.language import LANGUAGES, N_, _

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.lines.line import Hints
    from timebank.callers.callers import CallerRecord

# Programs made for boards: CP437 and 16 colours.
BOARD_TERMINALS = ("syncterm", "ansi-bbs", "ansi", "pcansi", "netrunner", "mtelnet", "qodem")
MODERN_TERMINALS = ("xterm", "screen", "tmux", "rxvt", "linux", "vte", "alacritty", "kitty", "st-")
LINKING_TERMINALS = ("xterm", "tmux", "vte", "alacritty", "kitty", "foot", "wezterm", "konsole")
COLOURLESS_TERMINALS = ("vt52", "vt100", "vt102", "vt220", "vt320")

# The terminal of our own web page: its look is known.
OUR_TERMINAL = "xterm.js"

PLAIN_LINES = Look(Charset.ASCII, Paint.LINES)  # for a terminal without hints
_LATIN1 = re.compile(r"8859_?1(?![0-9])")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?![A-Za-z])")

SAMPLE = ("┌─────────┐", "│ A♠  10♥ │", "└─────────┘")
AROUND_BOXES = 3  # rows: the title, an empty row and the question

LOOKS: dict[str, tuple[Look, str]] = {
    "1": (Look(Charset.CP437, Paint.COLOUR), N_("CP437 (SyncTERM, classic BBS terminals)")),
    "2": (Look(Charset.UTF8, Paint.COLOUR), N_("UTF-8 (most terminals today)")),
    "3": (Look(Charset.ASCII, Paint.COLOUR), N_("Plain letters, in colour")),
    "4": (Look(Charset.ASCII, Paint.MONO), N_("Plain letters, no colour")),
    "5": (PLAIN_LINES, N_("Text only, best for screen readers")),
}

COMMODORE: dict[str, tuple[Look, str]] = {
    "1": (Look(Charset.PETSCII, Paint.COLOUR), N_("Commodore, upper and lower case")),
    "2": (Look(Charset.PETSCII_SUITS, Paint.COLOUR), N_("Commodore, capitals and card suits")),
    "3": (Look(Charset.PETSCII_80, Paint.COLOUR), N_("Commodore 128, 80 columns")),
}
ATARI = {"1": (Look(Charset.ATASCII, Paint.COLOUR), N_("Atari"))}
HOME_COMPUTERS = {"petscii": COMMODORE, "atascii": ATARI}  # by type of terminal

# Replaces UTF-8 where a host reads CP437 and drops characters below 20h.
THROUGH_A_HOST = (
    Look(Charset.CP437_TEXT, Paint.COLOUR),
    N_("CP437, with letters for the suits"),
)


def choices(hints: Hints) -> dict[str, tuple[Look, str]]:
    lines = {"5": (plain_lines(hints), LOOKS["5"][1])}
    if (computer := _home_computer(hints)) is not None:
        return {**HOME_COMPUTERS[computer], **lines}
    if hints.charset == Charset.CP437_TEXT.value:
        return {**LOOKS, "2": THROUGH_A_HOST, **lines}
    return {**LOOKS, **lines}


def guess(hints: Hints) -> Look:
    return known(hints) or PLAIN_LINES


def wants_lines(hints: Hints) -> bool:
    """Return whether the terminal's own hints ask for plain lines.

    >>> from door.lines.line import Hints
    >>> [wants_lines(Hints((name,))) for name in ("MTTS 2381", "mtts 13", "dumb", "xterm")]
    [True, True, True, False]
    """
    kinds = hints.terminal_types
    return bool(kinds and kinds[0].casefold() == "dumb") or hints.works_by_lines


def known(hints: Hints) -> Look | None:
    """Return the look of a terminal whose hints leave no doubt, else None."""
    if wants_lines(hints):
        return plain_lines(hints)
    charset = charset_of(hints)
    if charset is not None:
        return Look(charset, Paint.COLOUR)
    is_colourless = _kind(hints).startswith(COLOURLESS_TERMINALS)
    return Look(Charset.ASCII, Paint.MONO) if is_colourless else None


def _kind(hints: Hints, otherwise: str = "") -> str:
    """Return the terminal's type as compared here; `otherwise` if it is unknown."""
    return hints.terminal_types[0].casefold() if hints.terminal_types else otherwise


def _home_computer(hints: Hints) -> str | None:
    """Return the key of `HOME_COMPUTERS` that a terminal or its host names.

    >>> from door.lines.line import Hints
    >>> [_home_computer(Hints((name,))) for name in ("PETSCII", "ansi/atascii", "xterm")]
    ['petscii', 'atascii', None]
    """
    named = _kind(hints).rpartition("/")[2]
    return named if named in HOME_COMPUTERS else None


def is_home_computer(hints: Hints) -> bool:
    return _home_computer(hints) is not None


def charset_of(hints: Hints) -> Charset | None:
    """Return the character set of a terminal; None if it is unknown.

    >>> from door.lines.line import Hints
    >>> one, other = Hints(("dumb",), language="fr_FR.UTF-8"), Hints(("ascii/cp437",))
    >>> charset_of(one), charset_of(other), charset_of(Hints(("dumb",)))
    (<Charset.UTF8: 'utf-8'>, <Charset.CP437: 'cp437'>, None)
    """
    if hints.charset == Charset.CP437_TEXT.value:
        return Charset.CP437_TEXT
    if (computer := _home_computer(hints)) is not None:
        return Charset(computer)
    kind, _slash, host_charset = _kind(hints).partition("/")
    if kind.startswith(BOARD_TERMINALS) and not host_charset:
        return Charset.CP437
    # A door's language may come from the shell that started its host.
    language = "" if kind == "ascii" else hints.language
    named = (_named(each) for each in (host_charset, hints.charset, language))
    if charset := next(filter(None, named), None):
        return charset
    is_modern = kind.startswith(MODERN_TERMINALS) or bool((hints.mtts or 0) & UNICODE)
    return Charset.UTF8 if is_modern else None


def _named(text: str) -> Charset | None:
    """Return the character set that a text names, such as a locale; None if it names none.

    >>> [_named(each) for each in ("fr_FR.UTF-8", "fr_FR.ISO-8859-1", "fr_FR.ISO-8859-15")]
    [<Charset.UTF8: 'utf-8'>, <Charset.LATIN1: 'iso-8859-1'>, None]
    """
    text = text.casefold().replace("-", "")
    if "utf8" in text:
        return Charset.UTF8
    if "437" in text:
        return Charset.CP437
    return Charset.LATIN1 if _LATIN1.search(text) else None


def plain_lines(hints: Hints, otherwise: Charset = Charset.ASCII) -> Look:
    """Return plain lines in the terminal's character set, or in `otherwise` if that is unknown.

    Only here does the set of typed letters count: it does not prove that the terminal can show
    painted screens in it.
    """
    return Look(charset_of(hints) or _named(hints.typed) or otherwise, Paint.LINES)


def fitting(look: Look, hints: Hints) -> Look:
    """Return a look with plain lines changed to the terminal's own character set."""
    return plain_lines(hints, look.charset) if look.paint is Paint.LINES else look


def is_ours(hints: Hints) -> bool:
    return OUR_TERMINAL in hints.terminal_types[:1]


def has_links(hints: Hints) -> bool:
    """Return whether a terminal shows hyperlinks (OSC 8), or at least hides their addresses.

    >>> from door.lines.line import Hints
    >>> [has_links(Hints((name,))) for name in ("xterm-256color", "xterm.js", "syncterm", "linux")]
    [True, True, False, False]
    """
    return _kind(hints).startswith(LINKING_TERMINALS)


def language_of(hints: Hints, otherwise: str) -> str:
    """Return the language that a terminal names, or `otherwise` if the board does not speak it.

    >>> from door.lines.line import Hints
    >>> [language_of(Hints(language=name), "") for name in ("fr_CA", "fr.UTF-8", "de", "C")]
    ['fr', 'fr', '', '']
    """
    named = _LANGUAGE.match(hints.language)
    return named[0].lower() if named and named[0].lower() in LANGUAGES else otherwise


def names_language(hints: Hints) -> bool:
    """Return whether a terminal names a language, even one that the board does not speak.

    >>> from door.lines.line import Hints
    >>> [names_language(Hints(language=name)) for name in ("fr_CA.UTF-8", "de", "C.UTF-8", "")]
    [True, True, False, False]
    """
    return _LANGUAGE.match(hints.language) is not None


def asks_language(console: Console, record: CallerRecord) -> bool:
    """Return whether neither the terminal nor the caller has named a language."""
    return "language" not in record.preferences and not names_language(console.line.hints)


def look_by_host(emulation: str | None, charset: str | None) -> Look | None:
    """Return the look by a host's words; None if it names no emulation or an unknown charset.

    Boards draw in CP437 on every terminal with ANSI unless they name another charset.
    """
    if emulation is None:
        return None
    has_lines = emulation == "ascii"
    name = (charset or ("ascii" if has_lines else "cp437")).casefold().removeprefix("us-")
    charsets = {each.value.replace("-", ""): each for each in Charset}
    known_set = charsets.get(name.replace("-", ""), Charset.ASCII if has_lines else None)
    if known_set is None:
        return None
    return Look(known_set, Paint.LINES if has_lines else Paint.COLOUR)


def remembered(preferences: Mapping[str, object], hints: Hints) -> Look | None:
    """Return the look remembered for this type of terminal, None without one."""
    looks = preferences.get("looks")
    stored = looks.get(_terminal(hints)) if isinstance(looks, dict) else None
    if not isinstance(stored, dict):
        return None
    try:
        return Look(Charset(stored.get("charset")), Paint(stored.get("paint")))
    except ValueError:
        return None


async def take_lines(caller: Caller) -> None:
    """Use plain lines from now on, on this type of terminal."""
    look = plain_lines(caller.console.line.hints, caller.console.screen.look.charset)
    caller.console.take_lines(look)
    with contextlib.suppress(BooksFailed):  # at worst they press the key again on the next call
        await remember(caller, look)


async def choose(console: Console, usual: Look | None = None) -> Look:
    """Show the same box in every look and return the one that the caller chooses.

    Enter chooses `usual`, or if that is None the look that the hints suggest. A caller who has
    plain lines reads the choices without the boxes.
    """
    offered = choices(console.line.hints)
    guessed = usual or guess(console.line.hints)
    if usual is not None and usual.paint is Paint.LINES:
        offered["5"] = (guessed, offered["5"][1])
    default = next((key for key, (look, _words) in offered.items() if look == guessed), "5")
    descriptions = {key: _(words) for key, (_look, words) in offered.items()}
    if console.wants_lines or guessed.charset.is_of_home_computer:
        _say_choices(console, descriptions)
    else:
        _show_boxes(console, offered, descriptions)
    question = _("Your choice (Enter for {key})?").format(key=default)
    on_lines, console.keyboard.on_lines = console.keyboard.on_lines, None
    try:
        key = await console.prompt.ask(
            descriptions,
            menu=f"|15{question}|07",
            default=default,
            cancel=default,
            also={LINES: "5"},
        )
    finally:
        console.keyboard.on_lines = on_lines
    look = offered[key][0]
    if look.paint is not Paint.LINES and not console.screen.is_large:
        console.screen.say(f"|14{too_small(console)}")
        await console.pager.any_key()
    return look


def _say_choices(console: Console, descriptions: Mapping[str, str]) -> None:
    """Name the looks in plain lines, text only first."""
    text_only = {"5": descriptions["5"]}
    for key, words in {**text_only, **descriptions}.items():
        console.screen.say(f"|15{key}|07  {words}")


def _show_boxes(
    console: Console, offered: Mapping[str, tuple[Look, str]], descriptions: Mapping[str, str]
) -> None:
    title = _("Which of these boxes looks right?")
    is_clear = texts.clear(console, title)
    if not is_clear:
        console.screen.say(f"|15{title}")
    margin = " " * max(0, console.display.indent - 1)
    gap, boxes = _boxes(descriptions, console.line.columns, console.line.rows)
    for key, (look, _words) in offered.items():
        if gap and not (is_clear and key == next(iter(offered))):
            console.screen.say("")
        console.display.flush()
        for row in boxes[key]:
            console.line.write(look.encode(f"{margin}{row}\r\n"))
    if gap:
        console.screen.say("")


def too_small(console: Console) -> str:
    """Return the sentence that explains why a caller gets plain lines in place of a screen."""
    words = _(
        "Your screen has {columns} columns and {rows} rows. Painted screens need {least} by"
        " {needed}, so you get plain lines until it is larger."
    )
    return words.format(
        columns=console.line.columns,
        rows=console.line.rows,
        least=CANVAS_COLUMNS,
        needed=CANVAS_ROWS,
    )


def _boxes(
    descriptions: Mapping[str, str], columns: int, rows: int
) -> tuple[int, dict[str, list[str]]]:
    """Return the boxes, and how many rows to leave between them, so that all fit on the screen.

    Where rows are few the boxes lose the rows between them, and then their lower edges.
    """
    is_narrow = columns <= LAYOUT_COLUMNS
    for gap, box in ((int(not is_narrow), SAMPLE), (0, SAMPLE), (0, SAMPLE[:2])):
        boxes = {
            key: _sample(key, words, columns - 1, box, is_narrow=is_narrow)
            for key, words in descriptions.items()
        }
        if sum(gap + len(each) for each in boxes.values()) + AROUND_BOXES <= rows:
            break
    return gap, boxes


def _sample(
    key: str, words: str, columns: int, lines: Sequence[str], *, is_narrow: bool
) -> list[str]:
    """Return the box with its description next to it, or above it on a narrow screen.

    There a box in the wrong charset may be three times as wide.
    """
    if is_narrow:
        heading, *more = wrap(words, columns - 4)
        above = [f" {key}  {heading}", *(f"    {line}" for line in more)]
        return [*above, *(f"    {row}" for row in lines)]
    box = len(SAMPLE[0])
    description = [line for line in wrap(words, columns - box - 6) if line]
    rows = [f" {key if number == 1 else ' '}  {row}" for number, row in enumerate(lines)]
    first = 1 if len(description) < 3 else 0
    for number, line in enumerate(description, first):
        if number == len(rows):
            rows.append(" " * (box + 4))
        rows[number] += f"  {line}"
    return rows


async def remember(caller: Caller, look: Look) -> None:
    stored = caller.record.preferences.get("looks")
    looks = dict(stored) if isinstance(stored, dict) else {}
    looks[_terminal(caller.console.line.hints)] = {
        "charset": look.charset.value,
        "paint": look.paint.value,
    }
    await caller.remember({"looks": looks})


def _terminal(hints: Hints) -> str:
    kind = _kind(hints, "unknown")
    return f"{kind}, read aloud" if hints.is_read_aloud else kind
