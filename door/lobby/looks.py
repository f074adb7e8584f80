"""Which characters and colours a terminal understands: guessed, asked once, remembered.

The guess comes from what the terminal said of itself (`Hints`); the answer that counts is the
caller's, who is shown the same box three ways and says which looks right. It is remembered per
terminal type, because the same caller calls from SyncTERM today and from a phone tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ansi.charset import Charset, encode
from door.call.console import Console, Look, Paint
from timebank.language import LANGUAGES

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.lines.line import Hints

# Terminal types of programs made for boards: CP437 and 16 colours (terminals.md).
BOARD_TERMINALS = ("syncterm", "ansi-bbs", "ansi", "pcansi", "netrunner", "mtelnet", "qodem")
MODERN_TERMINALS = ("xterm", "screen", "tmux", "rxvt", "linux", "vte", "alacritty", "kitty", "st-")
COLOURLESS_TERMINALS = ("vt52", "vt100", "vt102", "vt220", "vt320")

SAMPLE = ("┌─────────┐", "│ A♠  10♥ │", "└─────────┘")

LOOKS: dict[str, tuple[Look, str]] = {
    "1": (Look(Charset.CP437, Paint.COLOUR), "CP437, as on the boards of old"),
    "2": (Look(Charset.UTF8, Paint.COLOUR), "UTF-8, as on modern terminals"),
    "3": (Look(Charset.ASCII, Paint.COLOUR), "plain letters, in colour"),
    "4": (Look(Charset.ASCII, Paint.MONO), "plain letters, a painted screen without colour"),
    "5": (Look(Charset.ASCII, Paint.LINES), "plain lines, one after the other"),
}

# Where a host reads CP437 and drops what is below 20h, UTF-8 cannot arrive: this stands there.
THROUGH_A_HOST = (
    Look(Charset.CP437_TEXT, Paint.COLOUR),
    "the same, with letters for the suits",
)


def choices(hints: Hints) -> dict[str, tuple[Look, str]]:
    if hints.charset == Charset.CP437_TEXT.value:
        return {**LOOKS, "2": THROUGH_A_HOST}
    return LOOKS


def guess(hints: Hints) -> Look:
    return known(hints) or Look(Charset.ASCII, Paint.LINES)


def known(hints: Hints) -> Look | None:
    """Return how to speak to a terminal whose own words are more than a hint."""
    kind = hints.terminal_types[0].casefold() if hints.terminal_types else ""
    said = f"{hints.language} {hints.charset}".casefold().replace("-", "")
    if hints.charset == Charset.CP437_TEXT.value:
        return THROUGH_A_HOST[0]
    if kind.startswith(BOARD_TERMINALS):
        return Look(Charset.CP437, Paint.COLOUR)
    if "utf8" in said:
        return Look(Charset.UTF8, Paint.COLOUR)
    if "437" in said:
        return Look(Charset.CP437, Paint.COLOUR)
    if kind.startswith(MODERN_TERMINALS):
        return Look(Charset.UTF8, Paint.COLOUR)
    if kind.startswith(COLOURLESS_TERMINALS):
        return Look(Charset.ASCII, Paint.MONO)
    return None


def language_of(hints: Hints, otherwise: str) -> str:
    """Return the language that a terminal names, if it is one that the board speaks."""
    named = hints.language.partition("_")[0].lower()
    return named if named in LANGUAGES else otherwise


def said_by_host(emulation: str | None, charset: str | None) -> Look | None:
    """Boards draw in CP437 on everything that has ANSI, unless they say another charset; None where
    nothing is known."""
    if emulation is None:
        return None
    if emulation == "ascii":
        return Look(Charset.ASCII, Paint.LINES)
    said = (charset or "cp437").casefold().replace("-", "")
    charsets = {
        "cp437": Charset.CP437,
        "cp437text": Charset.CP437_TEXT,
        "utf8": Charset.UTF8,
        "usascii": Charset.ASCII,
    }
    return Look(charsets[said], Paint.COLOUR) if said in charsets else None


def remembered(preferences: Mapping[str, object], hints: Hints) -> Look | None:
    """Return the look that the caller confirmed for this type of terminal, if they ever did."""
    looks = preferences.get("looks")
    stored = looks.get(_terminal(hints)) if isinstance(looks, dict) else None
    if not isinstance(stored, dict):
        return None
    try:
        return Look(Charset(stored.get("charset")), Paint(stored.get("paint")))
    except ValueError:
        return None


async def choose(console: Console) -> Look:
    """Show the same box in every character set and return what the caller's eye chose."""
    offered = choices(console.line.hints)
    guessed = guess(console.line.hints)
    default = next((key for key, (look, _) in offered.items() if look == guessed), "5")
    console.say("|15Which of these boxes looks right?")
    for key, (look, words) in offered.items():
        console.say("")
        for row in SAMPLE:
            label = f" {key}  {row}  {words}" if row == SAMPLE[1] else f"    {row}"
            shown = label[: console.line.columns - 1]
            console.line.write(encode(f"{shown}\r\n", look.charset))
    console.say("")
    letters = dict.fromkeys(offered, "")
    key = await console.ask(
        letters, question=f"Your choice (Enter for {default})?", default=default, cancel=default
    )
    return offered[key][0]


async def remember(caller: Caller, look: Look) -> None:
    stored = caller.record.preferences.get("looks")
    looks = dict(stored) if isinstance(stored, dict) else {}
    looks[_terminal(caller.console.line.hints)] = {
        "charset": look.charset.value,
        "paint": look.paint.value,
    }
    await caller.remember({"looks": looks})


def _terminal(hints: Hints) -> str:
    return hints.terminal_types[0].casefold() if hints.terminal_types else "unknown"
