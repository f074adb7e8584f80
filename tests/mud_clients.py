"""What MUD clients answer, as their sources say or as we saw it on the wire.

Mudlet, MUSHclient and Blightmud from their sources of 2024 to 2026; TinyFugue 5.0 beta 8 and KBtin
2.1 from the programs of Debian 12. All of them send whole lines.
"""

from __future__ import annotations

from tests.terminal import BINARY, CHARSET, ECHO, EOR, NAWS, NEW_ENVIRON, SGA, TTYPE, Profile

MUDLET = Profile(
    charset="utf-8",
    performs=frozenset({TTYPE, NAWS, NEW_ENVIRON, CHARSET}),
    accepts=frozenset({ECHO, EOR, CHARSET}),
    terminal_types=("MUDLET", "ANSI-TRUECOLOR", "MTTS 2349"),
    charset_names=("UTF-8",),
)
# It takes EOR only with its option to convert IAC GA to a new line, and is not in UTF-8 by default.
MUSHCLIENT = Profile(
    charset="ascii",
    performs=frozenset({SGA, TTYPE, CHARSET}),
    accepts=frozenset({SGA, ECHO, CHARSET}),
    terminal_types=("MUSHCLIENT", "ANSI", "MTTS 265"),
    charset_names=("US-ASCII",),
)
# Without its reader mode it names VT100, but it can't send a key by itself.
BLIGHTMUD = Profile(
    charset="utf-8",
    performs=frozenset({TTYPE, NAWS, CHARSET}),
    accepts=frozenset({ECHO, EOR, CHARSET}),
    terminal_types=("BLIGHTMUD", "XTERM-256COLOR", "MTTS 271"),
    charset_names=("UTF-8",),
)
TINYFUGUE = Profile(
    charset="ascii",
    performs=frozenset({TTYPE, NAWS, BINARY}),
    accepts=frozenset({ECHO, BINARY}),
    terminal_types=("TINYFUGUE", "ANSI-ATTR", "ANSI", "UNKNOWN"),
)
KBTIN = Profile(
    charset="ascii",
    performs=frozenset({TTYPE, NAWS}),
    accepts=frozenset({ECHO}),
    terminal_types=("KBtin", "hardcopy", "unknown", "KBtin-2.1"),
)
# VIP Mud and others that name nothing and agree to nothing.
NAMELESS = Profile(charset="ascii")

MUD_CLIENTS = {
    "Mudlet": MUDLET,
    "MUSHclient": MUSHCLIENT,
    "Blightmud": BLIGHTMUD,
    "TinyFugue": TINYFUGUE,
    "KBtin": KBTIN,
    "nameless": NAMELESS,
}
