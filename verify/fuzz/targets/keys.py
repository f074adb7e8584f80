"""ansi/keys.py: whatever a terminal sends, keys come out of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from ansi import keys
from ansi.charset import UNREADABLE, Charset
from ansi.keys import ANSWERBACK, Key, KeyDecoder
from verify.fuzz.oracles import ways_to_cut
from verify.fuzz.target import Target

CHARSETS = tuple(Charset)
CONSTANTS = frozenset(value for value in vars(keys).values() if isinstance(value, Key))


def check(data: bytes) -> None:
    """The first byte chooses the character set, the rest is typed."""
    charset = CHARSETS[data[0] % len(CHARSETS)] if data else Charset.UTF8
    typed = data[1:]
    _check_keys(KeyDecoder(charset).feed(typed))
    # An answerback is known only where it comes in one piece; what it leaves may be another one.
    while ANSWERBACK in typed:
        typed = typed.replace(ANSWERBACK, b"")
    whole = _outcome(charset, [typed])
    for packets in ways_to_cut(typed):
        assert _outcome(charset, packets) == whole, "how it was cut makes a difference"
    _check_keys(whole[0])


def _outcome(charset: Charset, packets: list[bytes]) -> tuple[list[str], bool, list[str]]:
    decoder = KeyDecoder(charset)
    typed = [key for packet in packets for key in decoder.feed(packet)]
    pending = decoder.pending_escape
    flushed = decoder.flush()
    assert not decoder.pending_escape
    assert flushed in ([], [keys.ESCAPE], [UNREADABLE])
    assert decoder.feed(b"x") == ["x"], "a letter is not a letter any more"
    return typed, pending, flushed


def _check_keys(typed: list[str]) -> None:
    for key in typed:
        if isinstance(key, Key):
            assert key in CONSTANTS
        else:
            assert len(key) == 1
            assert key.isprintable(), f"{key!a} is typed"


def _seeds() -> Iterator[bytes]:
    typed = (
        b"Ada\rsecret\r\n",
        b"\x1b[A\x1bOB\x1b[[C\x1b[1;5D\x1b[15~\x1b[24~\x1b[3~",
        b"\x1b[24;80R\x1b[?64;1;2;6;22c\x1b[=67;84;101;114;109;1;332c",
        b"\x1b]2;title\x07\x1bP1$r0m\x1b\\\x1b_x\x18\x1b^y\x1ak",
        b"\x1b[200~pasted\x1b[201~\x1b[I\x1b[O\x1b[<0;1;1M",
        b"\x1bPuTTYPuTTY\x05\x1b\x1b",
        "é♥日\u0301😀".encode() + b"\xc3\xff\xe2\x99",
        b"\x82\xe1\x9b\x05\x7f\x08\x03\r\0\r\n\n",
        b"\0H\0P\0\0K\r\0\0M\0;\0\x85\0\xff\0",
        b"\x1b[" + b"1;" * 40 + b"A\x1b[99999;1R",
    )
    for charset in range(len(CHARSETS)):
        for each in typed:
            yield bytes((charset,)) + each


TARGET = Target(
    name="keys",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\x1b", b"\x1b[", b"\x1bO", b"\x1b]", b"\x1bP", b"\x1b\\", b"\r\n", b"\r\0", b"\0H"),
        *(b"PuTTY", b"\x1b[24;80R"),
        *(b"~", b";5", b"R", b"c", b"[[", b"\x1b[200~", b"\x18", b"\x07", b"\xe2\x99\xa5"),
    ),
    longest=512,
    seconds=0.05,
)
