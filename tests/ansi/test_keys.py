import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansi import keys
from ansi.charset import UNREADABLE, Charset
from ansi.keys import (
    BACKSPACE,
    ENTER,
    ESCAPE,
    INTERRUPT,
    RUBOUT,
    TAB,
    KeyDecoder,
)

PIECES = st.sampled_from(
    [bytes((control,)) for control in b"\r\n\0\x1b\x07\x18\x7f\xc3\xa9\xff"]
    + b"[ O ] P \\ ~ c R 3 1;5A ?1;2 24;80R \xe2\x99\xa5".split(b" ")
    + b"\x1b[A \x1b[[B \x1bOP \x1b[200~".split(b" ")
    + [b"p" * 70, b"1" * 70]
)


def typed(data: bytes, charset: Charset = Charset.CP437) -> list[str]:
    return KeyDecoder(charset).feed(data)


@given(st.lists(PIECES | st.binary(max_size=3)), st.sampled_from(Charset), st.data())
def test_however_packets_cut_the_bytes_the_keys_are_the_same(
    pieces: list[bytes], charset: Charset, data: st.DataObject
) -> None:
    stream = b"".join(pieces)
    whole, cut = KeyDecoder(charset), KeyDecoder(charset)
    expected = whole.feed(stream)
    got: list[str] = []
    while stream:
        length = data.draw(st.integers(1, len(stream)))
        got += cut.feed(stream[:length])
        stream = stream[length:]
    assert got == expected
    assert cut.pending_escape == whole.pending_escape
    assert cut.flush() == whole.flush()


@given(st.binary(), st.sampled_from(Charset))
def test_every_key_is_one_printable_character_or_a_constant(data: bytes, charset: Charset) -> None:
    constants = {name for name in vars(keys).values() if isinstance(name, keys.Key)}
    for key in typed(data, charset):
        assert key in constants or (len(key) == 1 and key.isprintable())


@given(st.binary())
def test_after_a_flush_the_next_letter_is_a_letter(data: bytes) -> None:
    decoder = KeyDecoder(Charset.UTF8)
    decoder.feed(data)
    decoder.flush()
    assert not decoder.pending_escape
    assert decoder.feed(b"x") == ["x"]


@pytest.mark.parametrize("data", [b"\r", b"\r\n", b"\r\0", b"\n"])
def test_every_end_of_line_is_one_enter(data: bytes) -> None:
    assert typed(data) == [ENTER]
    assert typed(data * 3) == [ENTER] * 3
    assert typed(data + b"x") == [ENTER, "x"]


def test_return_does_not_wait_for_a_following_byte() -> None:
    decoder = KeyDecoder(Charset.CP437)
    decoder.feed(b"\r")
    assert not decoder.pending_escape


@pytest.mark.parametrize(
    ("data", "key"),
    [(b"\x08", BACKSPACE), (b"\x7f", RUBOUT), (b"\t", TAB), (b"\x03", INTERRUPT)],
)
def test_controls_that_are_keys(data: bytes, key: str) -> None:
    assert typed(data) == [key]
    assert typed(b"a" + data + b"b") == ["a", key, "b"]


def test_other_controls_are_swallowed() -> None:
    assert typed(b"\0\x01\x05\x07\x11\x13\x1a\x1fa") == ["a"]


@pytest.mark.parametrize(
    ("sequences", "key"),
    [
        ([b"\x1b[A", b"\x1bOA", b"\x1b[1;5A"], keys.UP),
        ([b"\x1b[B", b"\x1bOB", b"\x1bO5B"], keys.DOWN),
        ([b"\x1b[C", b"\x1bOC"], keys.RIGHT),
        ([b"\x1b[D", b"\x1bOD"], keys.LEFT),
        ([b"\x1b[1~", b"\x1b[H", b"\x1bOH", b"\x1b[7~"], keys.HOME),
        ([b"\x1b[4~", b"\x1b[F", b"\x1bOF", b"\x1b[8~", b"\x1b[K"], keys.END),
        ([b"\x1b[V", b"\x1b[5~", b"\x1b[5;2~"], keys.PAGE_UP),
        ([b"\x1b[U", b"\x1b[6~"], keys.PAGE_DOWN),
        ([b"\x1b[@", b"\x1b[2~"], keys.INSERT),
        ([b"\x1b[3~"], keys.DELETE),
        ([b"\x1b[11~", b"\x1bOP", b"\x1b[[A", b"\x1b[1;2P"], keys.F1),
        ([b"\x1b[12~", b"\x1bOQ", b"\x1b[[B"], keys.F2),
        ([b"\x1b[13~", b"\x1bOR", b"\x1b[[C", b"\x1b[R"], keys.F3),
        ([b"\x1b[14~", b"\x1bOS", b"\x1b[[D"], keys.F4),
        ([b"\x1b[15~", b"\x1b[[E"], keys.F5),
        ([b"\x1b[17~"], keys.F6),
        ([b"\x1b[18~"], keys.F7),
        ([b"\x1b[19~"], keys.F8),
        ([b"\x1b[20~"], keys.F9),
        ([b"\x1b[21~"], keys.F10),
        ([b"\x1b[23~"], keys.F11),
        ([b"\x1b[24~"], keys.F12),
        ([b"\x1bOM"], ENTER),
    ],
)
def test_sequences_of_syncterm_xterm_and_consoles(sequences: list[bytes], key: str) -> None:
    for sequence in sequences:
        assert typed(b"a" + sequence + b"z") == ["a", key, "z"]


@pytest.mark.parametrize(
    "noise",
    [
        b"\x1b[I",
        b"\x1b[O",
        b"\x1b[201~",
        b"\x1b[?62;1;4c",
        b"\x1b[24;80R",
        b"\x1b[1;1R",
        b"\x1b[=67;84;101;114;109;1;332c",
        b"\x1b[<0;2;3;7c",
        b"\x1b[0n",
        b"\x1b[8;24;80t",
        b"\x1b[?1;2$y",
        b"\x1b[<0;3;4M",
        b"\x1b[99~",
        b"\x1b[Z",
        b"\x1b[[Z",
        b"\x1b[[1A",
        b"\x1b[?A",
        b"\x1bOz",
        b"\x1bq",
        b"\x1b]11;rgb:0000/0000/0000\x07",
        b"\x1b]11;rgb:0000/0000/0000\x1b\\",
        b"\x1bP>|XTerm(370)\x1b\\",
        b"\x1b_private\x1b\\",
        b"\x1b^message\x1b\\",
        b"\x1bXstring\x1b\\",
        b"\x1b]52;c;" + b"QUJD" * 100 + b"\x07",
        b"\x1b[" + b"1;" * 100 + b"R",
        b"\x1b[12345;80R",
        b"PuTTY",
        b"PuTTYPuTTY",
    ],
)
def test_reports_of_the_terminal_are_no_keys(noise: bytes) -> None:
    for charset in Charset:
        assert typed(b"a" + noise + b"z", charset) == ["a", "z"]


def test_the_letters_of_an_answerback_are_keys_when_typed() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert [decoder.feed(bytes((letter,))) for letter in b"PuTTY"] == [[key] for key in "PuTTY"]


def test_a_lone_escape_is_a_key_once_nothing_follows() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(b"\x1b") == []
    assert decoder.pending_escape
    assert decoder.flush() == [ESCAPE]
    assert decoder.flush() == []


@pytest.mark.parametrize("beginning", [b"\x1b[", b"\x1b[1;", b"\x1bO", b"\x1b]0;x", b"\x1bP\x1b"])
def test_an_unfinished_sequence_is_dropped_once_nothing_follows(beginning: bytes) -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(beginning) == []
    assert decoder.pending_escape
    assert decoder.flush() == []
    assert decoder.feed(b"A") == ["A"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x1b\x1b[A", [ESCAPE, keys.UP]),
        (b"\x1b\r", [ESCAPE, ENTER]),
        (b"\x1b\x7f", [ESCAPE, RUBOUT]),
        (b"\x1b\x81", [ESCAPE, "ü"]),
        (b"\x1b[\rx", [ENTER, "x"]),
        (b"\x1b[1\x1b[A", [keys.UP]),
        (b"\x1b[1\x18x", ["x"]),
        (b"\x1bO\rx", [ENTER, "x"]),
        (b"\x1b]0;title\x18x", ["x"]),
        (b"\x1b]0;title\x1b[A", [keys.UP]),
    ],
)
def test_a_sequence_broken_off_does_not_take_the_next_key_with_it(
    data: bytes, expected: list[str]
) -> None:
    assert typed(data) == expected


def test_typed_characters_are_read_in_the_callers_charset() -> None:
    assert typed(b"\x81", Charset.CP437) == ["ü"]
    assert typed("ü♥漢".encode(), Charset.UTF8) == ["ü", "♥", "漢"]
    assert typed("aü".encode(), Charset.ASCII) == ["a", "ü"]
    assert typed(b"\xfc\x80\x81", Charset.LATIN1) == ["ü", "€", UNREADABLE]


def test_a_character_broken_off_by_a_key_is_a_key_that_cannot_be_read() -> None:
    assert typed(b"\xc3\r\xa9x", Charset.UTF8) == [UNREADABLE, ENTER, UNREADABLE, "x"]
    assert typed(b"\xc3x", Charset.UTF8) == [UNREADABLE, "x"]
    assert typed(b"Jos\xe9\r", Charset.ASCII) == ["J", "o", "s", UNREADABLE, ENTER]


def test_characters_that_cannot_be_shown_are_no_keys() -> None:
    assert typed("a\u202e\u200b\x9bb".encode(), Charset.UTF8) == ["a", "b"]


def test_any_space_is_a_space_and_unassigned_letters_are_unreadable() -> None:
    assert typed("a\xa0b\u202fc".encode(), Charset.UTF8) == ["a", " ", "b", " ", "c"]
    assert typed("a\u0378\ue000".encode(), Charset.UTF8) == ["a", UNREADABLE, UNREADABLE]


def test_an_endless_sequence_keeps_no_more_than_its_bound() -> None:
    decoder = KeyDecoder(Charset.CP437)
    for _ in range(100):
        decoder.feed(b"\x1b[" + b"1" * 1000)
        assert decoder.feed(b"2" * 1000) == []
        assert len(decoder._sequence) <= keys.MAX_SEQUENCE + 1


# Bracketed paste

PASTE = b"\x1b[200~%b\x1b[201~"
LINES = st.binary().filter(lambda pasted: b"\x1b[201~" not in pasted and b"PuTTY" not in pasted)


@given(LINES, st.sampled_from(Charset), st.data())
def test_a_paste_is_one_text_whatever_it_contains(
    pasted: bytes, charset: Charset, data: st.DataObject
) -> None:
    decoder, stream, got = KeyDecoder(charset), b"a" + PASTE % pasted + b"b", list[str]()
    while stream:
        length = data.draw(st.integers(1, len(stream)))
        got += decoder.feed(stream[:length])
        got += decoder.flush() if decoder._state == keys._PASTE else []
        stream = stream[length:]
    first, paste, last = got
    assert isinstance(paste, keys.Paste)
    assert (first, last, paste.text.isprintable()) == ("a", "b", True)


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n", b"\t", b"\x03", b"\x1b"])
def test_the_lines_of_a_paste_are_joined_by_spaces(end: bytes) -> None:
    (paste,) = typed(PASTE % (end + b"caf\xc3\xa9" + end + b"noir" + end), Charset.UTF8)
    assert isinstance(paste, keys.Paste)
    assert paste.text == "café noir"


def test_a_paste_keeps_no_more_than_its_bound() -> None:
    decoder = KeyDecoder(Charset.CP437)
    decoder.feed(b"\x1b[200~")
    for _ in range(100):
        assert decoder.feed(b"1" * 1000) == []
        assert len(decoder._sequence) <= keys.MAX_PASTE + len(keys._PASTE_ENDS)
    (paste,) = decoder.feed(b"\x1b[201~")
    assert isinstance(paste, keys.Paste)
    assert paste.text == "1" * keys.MAX_PASTE


def test_a_paste_without_an_end_mutes_the_keys_only_until_a_pause() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(b"\x1b[200~lost") == []
    decoder.settle(keys.PASTE_SECONDS)
    assert decoder.feed(b"more") == []
    decoder.settle(keys.PASTE_SECONDS + 0.1)
    assert decoder.feed(b"x") == ["x"]


# Doorway mode


@pytest.mark.parametrize(
    ("code", "key"),
    [
        (0x48, keys.UP),
        (0x50, keys.DOWN),
        (0x4B, keys.LEFT),
        (0x4D, keys.RIGHT),
        (0x47, keys.HOME),
        (0x4F, keys.END),
        (0x49, keys.PAGE_UP),
        (0x51, keys.PAGE_DOWN),
        (0x52, keys.INSERT),
        (0x53, keys.DELETE),
        (0x3B, keys.F1),
        (0x44, keys.F10),
        (0x85, keys.F11),
        (0x86, keys.F12),
    ],
)
def test_a_nul_and_a_scan_code_are_the_key_they_stand_for(code: int, key: str) -> None:
    assert typed(bytes((0, code))) == [key]
    assert typed(b"a" + bytes((0, code)) + b"H") == ["a", key, "H"]


@given(st.integers(1, 255))
def test_a_scan_code_is_never_the_letter_of_its_number(code: int) -> None:
    for charset in Charset:
        assert all(isinstance(key, keys.Key) for key in typed(bytes((0, code)), charset))
        assert typed(bytes((0, code)) + b"x", charset)[-1] == "x"


def test_a_nul_that_nothing_follows_takes_no_key_with_it() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(b"\0") == []
    decoder.settle(0.1)
    assert decoder.feed(b"H") == [keys.UP]
    assert decoder.feed(b"\0") == []
    decoder.settle(1.0)
    assert decoder.feed(b"H") == ["H"]


def test_nuls_in_a_row_are_no_keys() -> None:
    assert typed(b"\0\0\0") == []
    assert typed(b"\0\0H") == [keys.UP]


def test_the_nul_of_a_return_is_no_beginning_of_a_scan_code() -> None:
    assert typed(b"5\r\0H") == ["5", ENTER, "H"]


def test_an_arrow_after_a_return_is_an_arrow_once_the_return_has_settled() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(b"\r") == [ENTER]
    decoder.settle(0.1)
    assert decoder.feed(b"\0H") == [keys.UP]


def test_a_line_feed_that_comes_late_is_still_the_returns() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(b"\r") == [ENTER]
    decoder.settle(0.1)
    assert decoder.feed(b"\nx") == ["x"]


# Where the cursor is


def test_each_request_for_a_position_gets_one_answer() -> None:
    decoder = KeyDecoder(Charset.CP437)
    assert decoder.feed(b"a\x1b[24;80Rb\x1b[1;4R") == ["a", "b"]
    assert decoder.positions() == [(24, 80), (1, 4)]
    assert decoder.positions() == []


def test_unrequested_positions_are_dropped() -> None:
    decoder = KeyDecoder(Charset.CP437)
    decoder.feed(b"\x1b[9;9R" * 1000)
    assert len(decoder.positions()) == keys.MAX_POSITIONS
