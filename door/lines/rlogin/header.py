"""The header of an rlogin program, and window sizes among the caller's bytes (RFC 1282).

    NUL first-field NUL second-field NUL terminal/speed NUL

The fields mean different things to different boards, and anyone can write anything into them:
`trust` decides what they are worth. The first field is a password on many boards. So it is never
shown, and no refusal quotes a field.
"""

import re
from dataclasses import dataclass, field

from door.errors import RloginHeaderRefused

LONGEST_FIELD = 128  # bytes; the longest secret, and far more than any name or terminal
NAMES = ("the first field", "the log-on name", "the terminal")

_TAGGED = re.compile(r"\[([^\[\]]{1,32})\]([^\[\]]+)")
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,15}", re.ASCII)  # Synchronet: at most 16 characters
_CODE_WORD = "xtrn="

# RFC 1282, "Window Size": a magic cookie, then rows, columns and two sizes in pixels.
_COOKIE = b"\xff\xffss"
_SIZE_LENGTH = len(_COOKIE) + 8


@dataclass(frozen=True)
class RloginHeader:
    """The header of an rlogin program: claims, until `trust` accepts them.

    `first` is a password or the user at the other end, never empty. `second` is the log-on name,
    never blank, without its `tag`. `tag` names a board (``[TAG]user``), or is "". `terminal` is the
    name without its speed, often "". `xtrn` is the door wanted (``xtrn=CODE`` instead of a
    terminal), in its own spelling; "" without one or after a bare ``xtrn=``.
    """

    first: str = field(repr=False)
    second: str
    terminal: str
    xtrn: str
    tag: str


class HeaderParser:
    """Reads a header from packets of any size.

    >>> parser = HeaderParser()
    >>> parser.feed(b"\\0secret\\0Ada\\0xtrn=BJ"), parser.feed(b"FT/9600\\0x")
    (None, RloginHeader(second='Ada', terminal='', xtrn='BJFT', tag=''))
    >>> parser.rest
    b'x'
    """

    def __init__(self) -> None:
        self.rest = b""  # the caller's bytes, after the header
        self._begun = False
        self._fields: list[bytes] = []
        self._field = bytearray()

    def feed(self, data: bytes) -> RloginHeader | None:
        """Take more bytes; return the header once it is whole, and take no more then.

        Raises `RloginHeaderRefused` as soon as the bytes cannot become a header.
        """
        for position, byte in enumerate(data):
            if not self._begun:
                if byte:
                    raise RloginHeaderRefused("it does not begin with a NUL, so it is not rlogin")
                self._begun = True
            elif byte:
                self._grow(byte)
            else:
                self._end_field()
                if len(self._fields) == len(NAMES):
                    self.rest = data[position + 1 :]
                    return _header(*self._fields)
        return None

    def _grow(self, byte: int) -> None:
        name = NAMES[len(self._fields)]
        if byte < 0x20 or byte == 0x7F:
            raise RloginHeaderRefused(f"{name} holds a control character")
        if len(self._field) == LONGEST_FIELD:
            raise RloginHeaderRefused(f"{name} is longer than {LONGEST_FIELD} bytes")
        self._field.append(byte)

    def _end_field(self) -> None:
        name = NAMES[len(self._fields)]
        # Only the terminal may be empty. After an empty first field, a stray NUL would move the
        # password into the place of the name.
        if name != NAMES[2] and not self._field.strip():
            raise RloginHeaderRefused(f"{name} is empty")
        self._fields.append(bytes(self._field))
        self._field.clear()


def _header(first: bytes, second: bytes, terminal: bytes) -> RloginHeader:
    name = " ".join(_text(second).split())
    tag = ""
    if "[" in name or "]" in name:
        form = _TAGGED.fullmatch(name)
        if form is None:
            raise RloginHeaderRefused("the log-on name holds brackets that are no [TAG]user")
        tag, name = (part.strip() for part in form.groups())
        if not tag or not name:
            raise RloginHeaderRefused("the log-on name has an empty tag or nothing behind it")
    kind, xtrn = _terminal(terminal)
    return RloginHeader(_text(first), name, kind, xtrn, tag)


def _terminal(field: bytes) -> tuple[str, str]:
    if not field.isascii():
        raise RloginHeaderRefused("the terminal is not ASCII")
    kind = field.decode("ascii").partition("/")[0].strip()
    if kind[: len(_CODE_WORD)].casefold() != _CODE_WORD:
        return kind, ""
    code = kind[len(_CODE_WORD) :]
    if code and not _CODE.fullmatch(code):
        raise RloginHeaderRefused("the code behind xtrn= is not 1 to 16 letters, digits, _ and -")
    return "", code


def _text(field: bytes) -> str:
    """Return the characters of a field: UTF-8 if it is valid, else CP437."""
    try:
        text = field.decode("utf-8")
    except UnicodeDecodeError:
        text = field.decode("cp437")
    if not text.isprintable():
        raise RloginHeaderRefused("a field holds characters that cannot be shown")
    return text


@dataclass(frozen=True)
class WindowSize:
    """A window's size in cells, not bounded; 0 if unknown."""

    columns: int
    rows: int


class WindowSizes:
    """Separates window sizes from typed bytes, in packets of any size.

    >>> WindowSizes().feed(b"a\\xff\\xffss\\0\\x18\\0\\x50\\0\\0\\0\\0b\\xffc")
    [b'a', WindowSize(columns=80, rows=24), b'b\\xffc']

    There is no escape: bytes that are not the whole cookie were typed.
    """

    def __init__(self) -> None:
        self._waiting = b""

    @property
    def between(self) -> bool:
        """Whether no bytes wait: a packet without a 0xFF is then only typed bytes."""
        return not self._waiting

    def feed(self, data: bytes) -> list[bytes | WindowSize]:
        """Return the typed bytes and the window sizes that `data` completes, in order."""
        parts: list[bytes | WindowSize] = []
        data = self._waiting + data
        typed_from = position = 0
        while (position := data.find(_COOKIE[0], position)) >= 0:
            part = data[position : position + _SIZE_LENGTH]
            if not part.startswith(_COOKIE) and not _COOKIE.startswith(part):
                position += 1
                continue
            if typed_from < position:
                parts.append(data[typed_from:position])
            if len(part) < _SIZE_LENGTH:
                self._waiting = part
                return parts
            rows, columns = (int.from_bytes(part[at : at + 2], "big") for at in (4, 6))
            parts.append(WindowSize(columns, rows))
            typed_from = position = position + _SIZE_LENGTH
        self._waiting = b""
        if typed_from < len(data):
            parts.append(data[typed_from:])
        return parts
