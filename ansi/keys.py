"""Decodes the bytes from a caller's terminal into keys.

A key is one byte or a sequence of bytes, and a packet may end anywhere. A terminal also reports its
cursor position, its type and its focus. The decoder returns keys and drops everything else. The
limits of packets make no difference.

A lone ESC differs from the beginning of a sequence only by time. While `pending_escape` is True,
wait a moment and then call `flush`.

An invalid letter becomes `UNREADABLE` of `ansi.charset`, so that a question can refuse it. Every
kind of space becomes the same key.

In doorway mode, a terminal sends a PC's keys without a character as NUL and a scan code.

A terminal in bracketed paste mode (`PASTES_ON`) marks pasted text. It is one `Paste`, never keys.
"""

import re
import unicodedata

from ansi.charset import UNREADABLE, Charset, decoder


class Key(str):
    """A key without a character. Its text has several letters, so no typed character equals it."""

    __slots__ = ()


class Paste(Key):
    """A pasted text of printable characters, its lines joined by spaces."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return self.removeprefix(_PASTED)


_PASTED = "<paste>"
ENTER = Key("<enter>")
BACKSPACE = Key("<backspace>")
# Byte 7F: Backspace on modern keyboards, the interrupt key on a teletype. The reader decides.
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
COMMODORE_DELETE = Key("<commodore delete>")  # Ctrl-T elsewhere; tells a Commodore


MAX_SEQUENCE = 64  # bytes; a longer sequence is no key

# Bracketed paste mode of xterm.
PASTES_ON, PASTES_OFF = "\x1b[?2004h", "\x1b[?2004l"
MAX_PASTE = 4096  # bytes; the rest of a longer paste is dropped
PASTE_SECONDS = 5.0  # after such a pause, the end of a paste is lost and a key is a key
_PASTE_BEGINS, _PASTE_ENDS = 200, b"\x1b[201~"
_LINE_ENDS = re.compile(rb"[\x00-\x1f\x7f]+")

# PuTTY types its name whenever byte 5 reaches it, and byte 5 is the suit of clubs in CP437.
ANSWERBACK = b"PuTTY"

_CONTROLS = {0x03: INTERRUPT, 0x08: BACKSPACE, 0x09: TAB, 0x0A: ENTER, 0x7F: RUBOUT}
_CONTROLS |= {0x14: COMMODORE_DELETE}
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

# Scan codes of a PC, which follow a NUL in doorway mode. The keys of all others are not used.
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

# Telnet sends a NUL together with a return. No one presses an arrow so soon after Enter.
RETURN_SECONDS = 0.05
SCAN_SECONDS = 0.35  # from a NUL to its scan code, though both are sent together
MAX_POSITIONS = 4  # unread reports of the cursor position

# The states of the decoder. From _ESCAPE on, a sequence is unfinished.
_GROUND, _AFTER_RETURN, _LONG_AFTER_RETURN, _SCAN = range(4)
_ESCAPE, _CSI, _SS3, _STRING, _STRING_ESCAPE, _PASTE = range(4, 10)


def _key(character: str) -> str:
    """Return the key for a character; "" for an invisible control or format character."""
    if character.isprintable():
        return character
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cf"):
        return ""
    return " " if kind[0] == "Z" else UNREADABLE


class KeyDecoder:
    """Decodes the keys of one line, in bounded memory."""

    __slots__ = ("_positions", "_sequence", "_state", "_text")

    def __init__(self, charset: Charset) -> None:
        self._text = decoder(charset)
        self._state = _GROUND
        self._sequence = bytearray()
        self._positions: list[tuple[int, int]] = []

    def feed(self, data: bytes) -> list[str]:
        """Return the keys that these bytes complete: characters, or constants of this module.

        An answerback in several packets is taken for typing.
        """
        if ANSWERBACK in data:
            data = data.replace(ANSWERBACK, b"")
        keys: list[str] = []
        position = 0
        while position < len(data):
            position = self._STEPS[self._state](self, data, position, keys)
        return keys

    @property
    def pending_escape(self) -> bool:
        return _ESCAPE <= self._state < _PASTE

    def flush(self) -> list[str]:
        """Return the keys that a pause completes: a lone ESC, or `UNREADABLE` for part of a letter.

        Drops an unfinished sequence.
        """
        keys: list[str] = [ESCAPE] if self._state == _ESCAPE else []
        if self.pending_escape:
            self._state = _GROUND
        keys.extend(self._text.decode(b"", final=True))
        self.settle(SCAN_SECONDS + RETURN_SECONDS)
        return keys

    def settle(self, seconds: float) -> None:
        """Note a pause of `seconds`, after which a byte may no longer belong to a NUL or return.

        A line feed always belongs to the return before it, because it is never typed.
        """
        if self._state == _AFTER_RETURN and seconds > RETURN_SECONDS:
            self._state = _LONG_AFTER_RETURN
        elif (self._state == _SCAN and seconds > SCAN_SECONDS) or (
            self._state == _PASTE and seconds > PASTE_SECONDS
        ):
            self._state = _GROUND

    def positions(self) -> list[tuple[int, int]]:
        """Return the new reports of the cursor's position, as row and column from 1."""
        positions, self._positions = self._positions, []
        return positions

    # Each step decodes the byte or the run at `position`, and returns the next position.

    def _ground(self, data: bytes, position: int, keys: list[str]) -> int:
        run = _TYPED.match(data, position)
        if run:
            text = self._text.decode(run[0])
            keys.extend(text if text.isprintable() else "".join(map(_key, text)))
            return run.end()
        keys.extend(self._text.decode(b"", final=True))
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
        if code:  # another NUL begins again, after that of a keepalive
            self._state = _GROUND
            if code in _SCAN_CODES:
                keys.append(_SCAN_CODES[code])
        return position + 1

    def _escape(self, data: bytes, position: int, keys: list[str]) -> int:
        byte = data[position]
        if byte == 0x1B:
            keys.append(ESCAPE)
        elif 0x20 <= byte < 0x7F:  # except for an introducer, Alt with a letter: no key here
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
            if len(self._sequence) <= MAX_SEQUENCE:
                self._sequence.append(byte)
            return position + 1
        self._state = _GROUND
        if not 0x40 <= byte < 0x7F:  # the sequence is broken off, and a new key begins
            return position
        if len(self._sequence) <= MAX_SEQUENCE:
            self._finish_csi(self._sequence.decode("ascii"), chr(byte), keys)
        return position + 1

    def _finish_csi(self, parameters: str, final: str, keys: list[str]) -> None:
        key = None
        if parameters.startswith("["):
            key = _LINUX_LETTERS.get(final) if parameters == "[" else None
        elif final == "~":
            tilde = _MODIFIED_TILDE.fullmatch(parameters)
            number = int(tilde[1]) if tilde else 0
            key = _TILDES.get(number)
            if number == _PASTE_BEGINS:
                self._sequence.clear()
                self._state = _PASTE
        elif final == "R" and (report := _POSITION.fullmatch(parameters)):
            self._positions = [*self._positions, (int(report[1]), int(report[2]))][-MAX_POSITIONS:]
        elif _MODIFIED.fullmatch(parameters) and (final != "R" or not parameters):
            # An R with numbers is no F3 but a cursor position.
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
        ends = data[position] == 0x5C  # ESC \ ends a string; any other ESC begins a sequence
        self._state = _GROUND if ends else _ESCAPE
        return position + ends

    def _paste(self, data: bytes, position: int, keys: list[str]) -> int:
        pasted = self._sequence
        searched = max(0, len(pasted) - len(_PASTE_ENDS) + 1)
        pasted += data[position:]
        end = pasted.find(_PASTE_ENDS, searched)
        if end < 0:
            del pasted[MAX_PASTE : -len(_PASTE_ENDS)]
            return len(data)
        self._state = _GROUND
        lines = _LINE_ENDS.split(bytes(pasted[: min(end, MAX_PASTE)]))
        text = self._text.decode(b" ".join(filter(None, lines)), final=True)
        keys.append(Paste(_PASTED + "".join(map(_key, text))))
        return len(data) - len(pasted) + end + len(_PASTE_ENDS)

    _STEPS = (
        *(_ground, _after_return, _long_after_return, _scan),
        *(_escape, _csi, _ss3, _string, _string_escape, _paste),
    )
