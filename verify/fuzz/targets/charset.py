"""ansi/charset.py: bytes in, text out, and text that other people wrote out again as bytes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from ansi.charset import UNREADABLE, Charset, Decoder, clean, encode
from ansi.width import text_width
from verify.fuzz.oracles import assert_harmless, ways_to_cut
from verify.fuzz.target import Target

LETTERS = bytes(range(0x20, 0x7F)).decode() + bytes(range(0x80, 0xFF)).decode("cp437")


def check(data: bytes) -> None:
    """Each character set reads it, and shows what the others have read."""
    read = {charset: _read(charset, data) for charset in Charset}
    for text in read.values():
        cleaned = clean(text)
        assert clean(cleaned) == cleaned, "not clean at once"
        assert cleaned.isprintable()
        for charset in Charset:
            _show(cleaned, charset)
            encode(text, charset)
    cp437 = "".join(letter for letter in read[Charset.CP437] if letter in LETTERS)
    for charset in (Charset.CP437, Charset.UTF8):
        assert encode(cp437, charset).decode(charset.value) == cp437, "a letter is lost"


def _read(charset: Charset, data: bytes) -> str:
    whole = Decoder(charset)
    text = whole.decode(data)
    for packets in ways_to_cut(data):
        decoder = Decoder(charset)
        assert "".join(map(decoder.decode, packets)) == text, "how it was cut makes a difference"
        assert decoder.pending == whole.pending
    is_cut_short = whole.pending
    assert whole.finish() == (UNREADABLE if is_cut_short else "")
    assert not whole.pending
    assert whole.decode(b"x") == "x"
    return text


def _show(text: str, charset: Charset) -> None:
    sent = encode(text, charset)
    assert_harmless(sent, cp437=charset is Charset.CP437)
    if charset is Charset.UTF8:
        assert sent.decode() == text
    elif not any(map(unicodedata.combining, text)):
        # An accent on its own takes no cell, and stands for none where the set lacks it.
        assert len(sent) == text_width(text), "the layout moves"


def _seeds() -> Iterator[bytes]:
    yield "naïve Größe Łódź ©½ №".encode()
    yield "日本語 e\u0301\u0302\u0303\u0304 \u202e\u200b\u2028 😀🇫🇷 \ufe0f".encode()
    yield bytes(range(256))
    yield b"\xc3\xa9\xe2\x99\xa5\xf0\x9f\x98\x80\xc3\xed\xa0\x80\xf4\x90\x80\x80"
    yield "АнгстремÅ ΩΩ ㅤ ﷺ ﬁ".encode()


TARGET = Target(
    name="charset",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\xc3", b"\xe2\x80\xae", b"\xcc\x81", b"\xf0\x9f\x98\x80", b"\xe3\x85\xa4", b"\x1b"),
        *(b"\xc2\x9b", b"\xef\xb8\x8f", b"\xe1\x84\x80", b"\xff", b"\xed\xa0\x80"),
    ),
    longest=256,
    seconds=0.05,
)
