"""Bytes from a caller's terminal to keys.

One keystroke may be one byte or a sequence of them, a packet may end anywhere, and a terminal also
reports where its cursor is, what it is, that it got the focus. What is typed comes out as keys, the
rest is swallowed. How the bytes were cut into packets makes no difference.

Only time can tell a lone ESC from the beginning of a sequence: whoever feeds the decoder waits a
moment while `pending_escape` holds and then calls `flush`.

A letter that cannot be read becomes `UNREADABLE` of `ansi.charset`, so that a question can refuse
it. Every kind of space becomes the same key.

Terminals in doorway mode send the keys of a PC that have no character as NUL and a scan code.
"""

import re
import unicodedata

from ansi.charset import UNREADABLE, Charset, Decoder


class Key(str):
    """A key without a character; its text is never a single character, so none equals it."""

    __slots__ = ()


ENTER = Key("<enter>")
BACKSPACE = Key("<backspace>")
# Byte 7F: the Backspace of today's keyboards, the interrupt key of a teletype. Who reads decides.
RUBOUT = Key("<rubout>")
ESCAPE = Key("<escape>")
TAB = Key("<tab>")
UP, DOWN, LEFT, RIGHT = Key("<up>"), Key("<down>"), Key("<left>"), Key("<right>")
HOME, END = Key("<home>"), Key("<end>")
PAGE_UP, PAGE_DOWN = Key("<page up>"), Key("<page down>")
INSERT, DELETE = Key("<insert>"), Key("<delete>")
F1, F2, F3, F4 = Key("<f1>"), Key("<f2>"), Key("<f3>"), Key("<f4>")
F5, F6, F7, F8 = Key("<f5>"), Key("<f6>"), Key("<f7>"), Key("<f8>")
F9, F10, F11, F12 = Key("<f9>"), Key("<f10>"), Key("<f11>"), Key("<f12>")
INTERRUPT = Key("<interrupt>")


LONGEST_SEQUENCE = 64  # bytes; what goes on longer is no key

# PuTTY types its name whenever byte 5 reaches it, and byte 5 is the suit of clubs in CP437.
ANSWERBACK = b"PuTTY"

_CONTROLS = {0x03: INTERRUPT, 0x08: BACKSPACE, 0x09: TAB, 0x0A: ENTER, 0x7F: RUBOUT}
_LETTERS = dict(zip("ABCDHFPQRS", (UP, DOWN, RIGHT, LEFT, HOME, END, F1, F2, F3, F4), strict=True))
# SyncTERM and the SCO console; "K" is the End of older SyncTERMs.
_CSI_LETTERS = _LETTERS | {"V": PAGE_UP, "U": PAGE_DOWN, "@": INSERT, "K": END}
_SS3_LETTERS = _LETTERS | {"M": ENTER}
_LINUX_LETTERS = dict(zip("ABCDE", (F1, F2, F3, F4, F5), strict=True))
_TILDES = {
    **dict(enumerate((HOME, INSERT, DELETE, END, PAGE_UP, PAGE_DOWN, HOME, END), 1)),
    **dict(enumerate((F1, F2, F3, F4, F5), 11)),
    **dict(enumerate((F6, F7, F8, F9, F10), 17)),
    **dict(enumerate((F11, F12), 23)),
}

# What stands after a NUL in doorway mode: the scan codes of a PC. All others are keys for nobody.
_SCAN_CODES = {
    **dict(enumerate((F1, F2, F3, F4, F5, F6, F7, F8, F9, F10), 0x3B)),
    **dict(zip((0x47, 0x48, 0x49), (HOME, UP, PAGE_UP), strict=True)),
    **dict(zip((0x4B, 0x4D), (LEFT, RIGHT), strict=True)),
    **dict(enumerate((END, DOWN, PAGE_DOWN, INSERT, DELETE), 0x4F)),
    **dict(enumerate((F11, F12), 0x85)),
}

_TYPED = re.compile(rb"[^\x00-\x1f\x7f]+")
_STRING_ENDS = re.compile(rb"[\x07\x18\x1a\x1b]")
_MODIFIED = re.compile(r"(?:1;[0-9]+)?")
_POSITION = re.compile(r"([0-9]{1,4});([0-9]{1,4})")
_MODIFIED_TILDE = re.compile(r"([0-9]{1,3})(?:;[0-9]+)?")

# Single bytes that are a key in themselves, whatever comes after them.
_ASCII_KEYS: dict[bytes, str] = {bytes((code,)): chr(code) for code in range(0x20, 0x7F)} | {
    bytes((code,)): key for code, key in _CONTROLS.items()
}

# Telnet's NUL is sent together with its return; nobody presses an arrow so soon after Enter.
RETURN_SECONDS = 0.05
SCAN_SECONDS = 0.35  # how long a NUL waits for its scan code, which is sent together with it
MOST_POSITIONS = 4  # that are kept for whoever asked; a terminal says one for each question

# What the next byte belongs to. From _ESCAPE on, a sequence is unfinished.
_GROUND, _AFTER_RETURN, _LONG_AFTER_RETURN, _SCAN = range(4)
_ESCAPE, _CSI, _SS3, _STRING, _STRING_ESCAPE = range(4, 9)


def _typed(character: str) -> str:
    """Return the key for a character; "" for one that controls or formats and is not seen."""
    if character.isprintable():
        return character
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cf"):
        return ""
    return " " if kind[0] == "Z" else UNREADABLE


class KeyDecoder:
    """Keys out of the bytes of one line; memory stays bounded whatever is sent."""

    __slots__ = ("_idle", "_positions", "_sequence", "_state", "_text")

    def __init__(self, charset: Charset) -> None:
        self._text = Decoder(charset)
        self._state = _GROUND
        self._sequence = bytearray()
        self._positions: list[tuple[int, int]] = []
        self._idle = True  # nothing waits: a plain byte means itself

    def feed(self, data: bytes) -> list[str]:
        """Keys that these bytes complete: printable characters, or constants of this module.

        An answerback is told from typing only when it comes in one piece.
        """
        if self._idle:
            key = _ASCII_KEYS.get(data)
            if key is not None:
                return [key]
        if ANSWERBACK in data:
            data = data.replace(ANSWERBACK, b"")
        keys: list[str] = []
        position = 0
        while position < len(data):
            position = self._STEPS[self._state](self, data, position, keys)
        self._idle = self._state == _GROUND and not self._text.pending
        return keys

    @property
    def pending_escape(self) -> bool:
        return self._state >= _ESCAPE

    def flush(self) -> list[str]:
        """Return the keys that a pause completes: a lone ESC, and `UNREADABLE` for an unfinished
        letter. An unfinished sequence is dropped."""
        keys: list[str] = [ESCAPE] if self._state == _ESCAPE else []
        if self.pending_escape:
            self._state = _GROUND
            self._idle = not self._text.pending
        keys.extend(self._text.finish())
        self.settle(SCAN_SECONDS + RETURN_SECONDS)
        return keys

    def settle(self, seconds: float) -> None:
        """Nothing came for `seconds`: what comes now may belong to no NUL or return before it.

        A line feed still belongs to its return: it is never typed, and the network may be slow.
        """
        if self._state == _AFTER_RETURN and seconds > RETURN_SECONDS:
            self._state = _LONG_AFTER_RETURN
        elif self._state == _SCAN and seconds > SCAN_SECONDS:
            self._state = _GROUND
            self._idle = not self._text.pending

    def positions(self) -> list[tuple[int, int]]:
        """Give, once, where the terminal says that its cursor is: row and column, from 1."""
        found, self._positions = self._positions, []
        return found

    # Each step takes the byte at `position` (or a run from there) and returns what comes next.

    def _ground(self, data: bytes, position: int, keys: list[str]) -> int:
        run = _TYPED.match(data, position)
        if run:
            text = self._text.decode(run[0])
            keys.extend(text if text.isprintable() else "".join(map(_typed, text)))
            return run.end()
        keys.extend(self._text.finish())
        byte = data[position]
        if byte == 0x1B:
            self._state = _ESCAPE
        elif byte == 0x0D:
            keys.append(ENTER)
            self._state = _AFTER_RETURN
        elif byte == 0x00:
            self._state = _SCAN
        elif byte in _CONTROLS:
            keys.append(_CONTROLS[byte])
        return position + 1

    def _after_return(self, data: bytes, position: int, keys: list[str]) -> int:
        self._state = _GROUND
        return position + (data[position] in b"\n\0")

    def _long_after_return(self, data: bytes, position: int, keys: list[str]) -> int:
        self._state = _GROUND
        return position + (data[position] == 0x0A)

    def _scan(self, data: bytes, position: int, keys: list[str]) -> int:
        code = data[position]
        if code:  # else another NUL: that of a keepalive, and this one begins anew
            self._state = _GROUND
            if code in _SCAN_CODES:
                keys.append(_SCAN_CODES[code])
        return position + 1

    def _escape(self, data: bytes, position: int, keys: list[str]) -> int:
        byte = data[position]
        if byte == 0x1B:
            keys.append(ESCAPE)
        elif 0x20 <= byte < 0x7F:  # anything but an introducer is Alt with a letter: not for us
            self._sequence.clear()
            self._state = {0x5B: _CSI, 0x4F: _SS3}.get(byte, _GROUND)
            if byte in b"]PX^_":
                self._state = _STRING
        else:
            keys.append(ESCAPE)
            self._state = _GROUND
            return position
        return position + 1

    def _csi(self, data: bytes, position: int, keys: list[str]) -> int:
        byte = data[position]
        opens_linux_key = byte == 0x5B and not self._sequence
        if 0x20 <= byte < 0x40 or opens_linux_key:
            if len(self._sequence) <= LONGEST_SEQUENCE:
                self._sequence.append(byte)
            return position + 1
        self._state = _GROUND
        if not 0x40 <= byte < 0x7F:  # broken off: the byte stands for itself
            return position
        if len(self._sequence) <= LONGEST_SEQUENCE:
            self._finish_csi(self._sequence.decode("ascii"), chr(byte), keys)
        return position + 1

    def _finish_csi(self, parameters: str, final: str, keys: list[str]) -> None:
        key = None
        if parameters.startswith("["):
            key = _LINUX_LETTERS.get(final) if parameters == "[" else None
        elif final == "~":
            tilde = _MODIFIED_TILDE.fullmatch(parameters)
            key = _TILDES.get(int(tilde[1])) if tilde else None
        elif final == "R" and (found := _POSITION.fullmatch(parameters)):
            self._positions = [*self._positions, (int(found[1]), int(found[2]))][-MOST_POSITIONS:]
        elif _MODIFIED.fullmatch(parameters) and (final != "R" or not parameters):
            # With numbers an R is no F3: it says where the cursor is.
            key = _CSI_LETTERS.get(final)
        if key is not None:
            keys.append(key)

    def _ss3(self, data: bytes, position: int, keys: list[str]) -> int:
        byte = data[position]
        if 0x30 <= byte < 0x3C:  # older terminals put a modifier before the letter
            return position + 1
        self._state = _GROUND
        if not 0x20 <= byte < 0x7F:
            return position
        key = _SS3_LETTERS.get(chr(byte))
        if key is not None:
            keys.append(key)
        return position + 1

    def _string(self, data: bytes, position: int, keys: list[str]) -> int:
        end = _STRING_ENDS.search(data, position)
        if end is None:
            return len(data)
        self._state = _STRING_ESCAPE if end[0] == b"\x1b" else _GROUND
        return end.end()

    def _string_escape(self, data: bytes, position: int, keys: list[str]) -> int:
        ends = data[position] == 0x5C  # ESC \ ends a string; any other ESC begins anew
        self._state = _GROUND if ends else _ESCAPE
        return position + ends

    _STEPS = (
        *(_ground, _after_return, _long_after_return, _scan),
        *(_escape, _csi, _ss3, _string, _string_escape),
    )
