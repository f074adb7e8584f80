"""The terminals that every screen is shown on."""

from __future__ import annotations

from dataclasses import replace

from tests.terminal import ECHO, MODERN, REFUSING, SGA, SYNCTERM, Profile

Looks = dict[str, dict[str, str]]  # the caller's choices, by their name

_NARROW = replace(SYNCTERM, columns=40, rows=25)
_WIDE = replace(MODERN, columns=132, rows=50)
# As SyncTERM draws them.
_COMMODORE = replace(_NARROW, charset="petscii", terminal_types=("PETSCII",))
_ATARI = replace(_NARROW, charset="atascii", terminal_types=("ATASCII",), rows=24)
# Walks press keys, and the letters of a program that sends lines wait for their Enter.
_LINES = replace(REFUSING, accepts=frozenset({ECHO, SGA}))
_UTF8 = {"xterm-256color": {"charset": "utf-8", "paint": "colour"}}
_CP437 = {"syncterm": {"charset": "cp437", "paint": "colour"}}

# By the name of their folder.
TERMINALS: dict[str, tuple[Profile, Looks]] = {
    "80x24-cp437": (SYNCTERM, _CP437),
    "80x24-utf8": (MODERN, _UTF8),
    "80x24-ascii": (
        replace(
            MODERN, charset="ascii", charset_names=(), environment={}, terminal_types=("vt100",)
        ),
        {"vt100": {"charset": "ascii", "paint": "mono"}},
    ),
    "132x50-utf8": (_WIDE, _UTF8),
    "40x25-cp437": (_NARROW, _CP437),
    "40x25-petscii": (_COMMODORE, {"petscii": {"charset": "petscii", "paint": "colour"}}),
    "40x24-atascii": (_ATARI, {"atascii": {"charset": "atascii", "paint": "colour"}}),
    "lines": (_LINES, {"unknown": {"charset": "ascii", "paint": "lines"}}),
}

# Terminals of which every screen is drawn as a picture; in UTF-8 the same 80x24 look the same.
PAINTED = ("80x24-cp437", "132x50-utf8", "40x25-cp437", "40x25-petscii", "40x24-atascii")
# The screens that are drawn as pictures for every terminal, and shown side by side.
SCENES = (
    *("welcome", "menu", "bjft-win", "vegas-turn", "baccarat-win", "red-dog-raise"),
    *("unix-bj-hand", "bank", "daily-deal-ranking", "hall-of-fame"),
)
