"""The character sets of terminals: CP437, UTF-8, Latin-1 and ASCII.

Those of home computers have their codes in `ansi.home_computer`.

Inside the program, text is Unicode. Encoding never changes the width of a text, so one layout fits
all terminals: a character that a terminal lacks becomes a similar one of the same width. Byte 255
is never sent. It begins a telnet command, and some hosts on the way forget to double it.

Input is never dropped: bytes that are no letter become `UNREADABLE`.
"""

import codecs
import unicodedata
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache

from ansi.width import character_width


class Charset(Enum):
    CP437 = "cp437"
    # CP437 through a host that takes all bytes below 20h for controls (ENiGMA, with iconv-lite).
    # The glyphs of these bytes get lost on the way.
    CP437_TEXT = "cp437-text"
    UTF8 = "utf-8"
    LATIN1 = "iso-8859-1"
    ASCII = "ascii"
    PETSCII = "petscii"  # Commodore: upper and lower case
    PETSCII_SUITS = "petscii-suits"  # its other set: capitals and the four suits
    PETSCII_80 = "petscii-80"  # the 80 columns of a C128
    ATASCII = "atascii"  # Atari

    @property
    def is_of_home_computer(self) -> bool:
        """Whether its terminals know no ANSI; `ansi.home_screen` writes to them."""
        return self.value.startswith(("petscii", "atascii"))

    @property
    def has_shapes(self) -> bool:
        """Whether it has lines and blocks."""
        return self not in (Charset.ASCII, Charset.LATIN1)


UNREADABLE = "\N{REPLACEMENT CHARACTER}"  # replaces bytes that are no letter

# The pictures that a PC's character generator has for bytes 1 to 31 and 127.
GLYPHS = dict(zip([*range(1, 32), 127], "☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼⌂", strict=True))

# Only these are safe to send: SyncTERM draws them, and no terminal moves its cursor at them. The
# others ring, tab, feed a line or start a sequence on some terminal.
_SAFE_GLYPHS = (1, 2, 3, 4, 5, 6, 16, 17)

# A printable ASCII character for each shape, sign and letter.
_SHAPES = dict(
    zip(
        "─│┌┐└┘├┤┬┴┼═║╔╗╚╝╠╣╦╩╬╒╓╕╖╘╙╛╜╞╟╡╢╤╥╧╨╪╫░▒▓█▄▌▐▀■♥♦♣♠►◄☺☻•∙▲▼▬◘○◙♂♀♪♫☼↕‼↨↑↓→←∟↔⌂",
        "-|+++++++++=|+++++++++++++++++++++++++++.:#####=#HDCS><@@*.^v-*ooMFddo|!|^v><L-^",
        strict=True,
    )
)
_LOOKALIKES = _SHAPES | dict(
    zip(
        "·°¶§‘’‚‛“”„‹›«»–—―‐‑‒…†‡‰′″×÷±¡¿¢£¥€¦¨©®´¸µ¬¯√≈≡≤≥∞",
        '.oPS\'\'\'`"""<>""------.++%\'"x/+!?cLYE|"cR\',u-~V~=<>8',
        strict=True,
    )
)
_LOOKALIKES |= dict(zip("æÆøØßþÞðÐđĐłŁıŋŦŧħĦœŒĸ\xa0", "aAoOspPdDdDlLinTthHoOk ", strict=True))


# Letters that become two on a terminal without them, before the layout, because they take another
# cell. `encode` replaces each by one letter, to keep the width.
_SPELLED_OUT = str.maketrans({"œ": "oe", "Œ": "OE"})


def spelling(charset: Charset) -> Mapping[int, str]:
    """Return the table for `str.translate` that spells out letters which a terminal lacks.

    >>> "le cœur".translate(spelling(Charset.CP437)), "le cœur".translate(spelling(Charset.UTF8))
    ('le coeur', 'le cœur')
    """
    return {} if charset is Charset.UTF8 else _SPELLED_OUT


def _cp437_letters(low_glyphs: Sequence[int]) -> str:
    letters = list(bytes(range(255)).decode("cp437"))
    for byte in low_glyphs:
        letters[byte] = GLYPHS[byte]
    return "".join(letters) + "\ufffe"  # byte 255 is no character


# For `str.translate`: replaces shapes in a text for a screen reader.
READ_ALOUD = str.maketrans(_SHAPES)

_MAPS = {
    Charset.CP437: codecs.charmap_build(_cp437_letters(_SAFE_GLYPHS)),
    Charset.CP437_TEXT: codecs.charmap_build(_cp437_letters(())),
    Charset.LATIN1: codecs.charmap_build("".join(map(chr, range(255))) + "\ufffe"),
}


@lru_cache(maxsize=4096)
def _stand_in(character: str) -> bytes:
    """Return ASCII of the same width for a character that the terminal lacks."""
    if character < " ":
        return character.encode()
    if character in _LOOKALIKES:
        return _LOOKALIKES[character].encode()
    width = character_width(character)
    parts = unicodedata.normalize("NFKD", character)
    base, rest = parts[0], parts[1:]
    known = (
        base.isascii()
        and (base.isalpha() or unicodedata.category(character) == "Nd" or character > "\uff00")
        and all(map(unicodedata.combining, rest))
    )
    return base.ljust(width).encode() if known and width else b"?" * width


def _stand_ins(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)  # only charmap_encode below names this handler
    return b"".join(map(_stand_in, error.object[error.start : error.end])), error.end


codecs.register_error("ansi.stand-ins", _stand_ins)


def encode(text: str, charset: Charset) -> bytes:
    """Return `text` in a terminal's character set, of the same width and without byte 255.

    Control characters stay. A character that the set lacks becomes a similar one (lines of boxes
    + - |, suits and accented letters plain letters), or else "?".
    """
    if text.isascii():
        return text.encode("ascii")
    if charset is Charset.UTF8:
        return text.encode("utf-8", "replace")
    if charset in _MAPS:
        return codecs.charmap_encode(text, "ansi.stand-ins", _MAPS[charset])[0]
    return text.encode("ascii", "ansi.stand-ins")


# Typed text in other character sets is not valid UTF-8, so ASCII is read as UTF-8 too.
# Windows-1252 adds letters to Latin-1.
_READ_AS = {Charset.CP437: "cp437", Charset.CP437_TEXT: "cp437", Charset.LATIN1: "cp1252"}


def decoder(charset: Charset) -> codecs.IncrementalDecoder:
    """Return a decoder of the bytes from a terminal, wherever packets begin and end.

    Bytes that are no text become `UNREADABLE`.
    """
    return codecs.getincrementaldecoder(_READ_AS.get(charset, "utf-8"))("replace")


def reread(text: str, charset: Charset) -> str:
    """Return a text as UTF-8 if a terminal that was decoded as CP437 had typed it in UTF-8.

    Decoded as CP437, an accented letter becomes a piece of a box and another sign, which nobody
    types. Text that `clean` would cut is left as decoded.

    >>> reread("├⌐t├⌐", Charset.CP437), reread("été", Charset.CP437), reread("├⌐", Charset.UTF8)
    ('été', 'été', '├⌐')
    """
    if text.isascii() or _READ_AS.get(charset) != "cp437":
        return text
    try:
        typed = text.encode("cp437").decode("utf-8")
    except UnicodeError:
        return text
    return typed if clean(typed) == unicodedata.normalize("NFC", typed) else text


# Letters and signs in Unicode, but invisible: they would let two names look the same.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])  # variation selectors
)
_MARKS = frozenset({"Mn", "Me", "Mc"})
_MAX_MARKS = 2  # accents on one letter: enough for Vietnamese, too few to reach other rows


def clean(text: str) -> str:
    """Return a typed text without characters that move, hide or reorder other text.

    Controls (C0, C1), bidi overrides, zero-width and unassigned characters are removed. Every kind
    of space becomes a plain one. Letters and their accents are composed (NFC).
    """
    if text.isascii() and text.isprintable():
        return text
    letters: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if category != "Zs" and (not character.isprintable() or character in _INVISIBLE):
            continue  # it does not separate its neighbours
        marks = marks + 1 if category in _MARKS else 0
        if marks <= _MAX_MARKS:
            letters.append(" " if category == "Zs" else character)
    # Removed characters may have separated a letter from its accent.
    return unicodedata.normalize("NFC", "".join(letters))
