"""The header of an rlogin program and its windows, in any pieces and with any fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.errors import RloginHeaderRefused
from door.lines.rlogin.header import (
    LONGEST_FIELD,
    HeaderParser,
    RloginHeader,
    WindowSize,
    WindowSizes,
)

# One header of each kind that boards send, with its meaning.
HEADERS = {
    b"\0secret\0Ada Lovelace\0ansi-bbs/115200\0": RloginHeader(
        "secret", "Ada Lovelace", "ansi-bbs", "", ""
    ),
    b"\0Ada\0[ACME]Ada\0syncterm\0": RloginHeader("Ada", "Ada", "syncterm", "", "ACME"),
    b"\0secret\0Ada\0xtrn=BJFT\0": RloginHeader("secret", "Ada", "", "BJFT", ""),
    b"\0secret\0Ada\0xtrn=\0": RloginHeader("secret", "Ada", "", "", ""),
    b"\0secret\0Ada\0XTRN= /9600\0": RloginHeader("secret", "Ada", "", "", ""),
    b"\0secret\0Ada\0XTRN=bj-4_t/38400/x\0": RloginHeader("secret", "Ada", "", "bj-4_t", ""),
    b"\0root\0Ada\0\0": RloginHeader("root", "Ada", "", "", ""),
    b"\0 s \0  Ada \t".replace(b"\t", b"") + b"\0vt100\0": RloginHeader(
        " s ", "Ada", "vt100", "", ""
    ),
    b"\0s\0[ A B ]  Ada   B \0/9600\0": RloginHeader("s", "Ada B", "", "", "A B"),
    b"\0s\0J\xc3\xbcrgen\0ansi\0": RloginHeader("s", "Jürgen", "ansi", "", ""),
    b"\0s\0J\x81rgen\0ansi\0": RloginHeader("s", "Jürgen", "ansi", "", ""),  # CP437
}
AFTER = b"\r\0\xffkeys\0"

NAME = st.text(
    st.characters(blacklist_categories=("C", "Z"), blacklist_characters="[]/"), min_size=1
).filter(lambda text: len(text.encode()) <= LONGEST_FIELD)


def parsed(*packets: bytes) -> tuple[RloginHeader | None, bytes]:
    """Return the header in the packets and the bytes after it."""
    parser = HeaderParser()
    header = None
    rest = b""
    for packet in packets:
        if header is None:
            header = parser.feed(packet)
            rest = parser.rest
        else:
            rest += packet
    return header, rest


def cut(data: bytes, at: list[int]) -> list[bytes]:
    ends = [*sorted(at), len(data)]
    return [data[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


@pytest.mark.parametrize("wire", HEADERS)
def test_a_header_says_the_same_wherever_it_is_cut(wire: bytes) -> None:
    stream = wire + AFTER
    for at in range(len(stream) + 1):
        assert parsed(stream[:at], stream[at:]) == (HEADERS[wire], AFTER)
    assert parsed(*(bytes((byte,)) for byte in stream)) == (HEADERS[wire], AFTER)


@pytest.mark.parametrize("wire", HEADERS)
def test_a_header_is_none_before_its_last_byte(wire: bytes) -> None:
    for length in range(len(wire)):
        assert parsed(wire[:length]) == (None, b"")


@given(NAME, NAME, st.data())
def test_any_names_come_through_any_cut(first: str, second: str, data: st.DataObject) -> None:
    stream = f"\0{first}\0{second}\0ansi/9600\0".encode() + AFTER
    at = data.draw(st.lists(st.integers(0, len(stream)), max_size=9))
    assert parsed(*cut(stream, at)) == (RloginHeader(first, second, "ansi", "", ""), AFTER)


@given(st.binary(max_size=500), st.lists(st.integers(0, 500), max_size=9))
def test_any_bytes_in_any_pieces_are_a_header_a_refusal_or_unfinished(
    stream: bytes, at: list[int]
) -> None:
    def outcome(*packets: bytes) -> object:
        try:
            return parsed(*packets)
        except RloginHeaderRefused as refusal:
            return str(refusal)

    assert outcome(*cut(stream, [min(end, len(stream)) for end in at])) == outcome(stream)
    assert outcome(*cut(b"\0" + stream, [])) == outcome(b"\0", stream)


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (b"G", "it does not begin with a NUL, so it is not rlogin"),
        (b"\xff", "it does not begin with a NUL, so it is not rlogin"),
        (b"\0\0", "the first field is empty"),
        (b"\0  \0", "the first field is empty"),
        (b"\0s\0\0", "the log-on name is empty"),
        (b"\0s\0   \0", "the log-on name is empty"),
        (b"\0" + b"s" * 129, "the first field is longer than 128 bytes"),
        (b"\0s\0" + b"A" * 129, "the log-on name is longer than 128 bytes"),
        (b"\0s\0A\0" + b"v" * 129, "the terminal is longer than 128 bytes"),
        (b"\0s\x1b", "the first field holds a control character"),
        (b"\0s\0A\r", "the log-on name holds a control character"),
        (b"\0s\0A\0vt\x7f", "the terminal holds a control character"),
        (b"\0s\0A\xe2\x80\xaeB\0vt\0", "a field holds characters that cannot be shown"),
        (b"\0s\0A\0\xe9\0", "the terminal is not ASCII"),
        (b"\0s\0[A][B]C\0vt\0", "the log-on name holds brackets that are no [TAG]user"),
        (b"\0s\0[A]\0vt\0", "the log-on name holds brackets that are no [TAG]user"),
        (b"\0s\0[]A\0vt\0", "the log-on name holds brackets that are no [TAG]user"),
        (b"\0s\0A[B]\0vt\0", "the log-on name holds brackets that are no [TAG]user"),
        (b"\0s\0[ ]A\0vt\0", "the log-on name has an empty tag or nothing behind it"),
        (b"\0s\0[A] \0vt\0", "the log-on name holds brackets that are no [TAG]user"),
        (
            b"\0s\0A\0xtrn=" + b"B" * 17 + b"\0",
            "the code behind xtrn= is not 1 to 16 letters, digits, _ and -",
        ),
        (b"\0s\0A\0xtrn=A xtrn=B\0", "the code behind xtrn= is not 1 to 16 letters"),
        (b"\0s\0A\0xtrn=../A\0", "the code behind xtrn= is not 1 to 16 letters"),
    ],
)
def test_a_malformed_header_is_refused_at_once_with_a_reason(wire: bytes, reason: str) -> None:
    with pytest.raises(RloginHeaderRefused) as refused:
        parsed(wire)
    assert str(refused.value).startswith(reason)
    assert parsed(wire[:-1]) == (None, b""), "it was refused later than it could be"


def test_a_field_may_be_as_long_as_the_limit() -> None:
    longest = b"A" * LONGEST_FIELD
    header, _ = parsed(b"\0" + longest + b"\0" + longest + b"\0" + longest + b"\0")
    assert header == RloginHeader(*["A" * LONGEST_FIELD] * 3, "", "")


def test_a_second_header_is_read_as_keys() -> None:
    wire = b"\0s\0A\0vt\0"
    assert parsed(wire + wire)[1] == wire


def test_neither_a_header_nor_a_refusal_shows_a_password() -> None:
    header, _ = parsed(b"\0secret\0Ada\0vt100\0")
    assert "secret" not in repr(header)
    for wire in (b"\0secret\x01", b"\0secret\0\0", b"\0s\0[secret\0\0", b"\0" + b"secret" * 40):
        with pytest.raises(RloginHeaderRefused) as refused:
            parsed(wire)
        assert "secret" not in str(refused.value)


# Windows among the keys

SIZE = b"\xff\xffss\0\x18\0\x50\x02\x80\x01\xe0"  # 24 rows, 80 columns


def with_sizes(*packets: bytes) -> list[bytes | WindowSize]:
    """Return the parsed packets, with typed bytes joined between two sizes."""
    sizes = WindowSizes()
    items: list[bytes | WindowSize] = []
    for packet in packets:
        for item in sizes.feed(packet):
            last = items[-1] if items else None
            if isinstance(item, bytes) and isinstance(last, bytes):
                items[-1] = last + item
            else:
                items.append(item)
    return items


def test_a_window_change_is_recognised_among_the_keys() -> None:
    assert with_sizes(b"a" + SIZE + SIZE + b"b") == [b"a", *[WindowSize(80, 24)] * 2, b"b"]


@pytest.mark.parametrize(
    "typed", [b"\xffa", b"\xff\xffa", b"\xff\xffsa", b"\xff\xfb\x18", b"\xff\xffS\0\x18\0\x50"]
)
def test_an_incomplete_window_cookie_is_read_as_keys(typed: bytes) -> None:
    assert with_sizes(typed) == [typed]
    assert with_sizes(typed + SIZE + typed) == [typed, WindowSize(80, 24), typed]


def test_a_cookie_may_begin_behind_another_0xff() -> None:
    assert with_sizes(b"\xff\xff" + SIZE + b"\xff" + SIZE) == [
        b"\xff\xff",
        WindowSize(80, 24),
        b"\xff",
        WindowSize(80, 24),
    ]


def test_a_cookie_inside_a_size_is_a_size() -> None:
    assert with_sizes(b"\xff\xffss\xff\xffss\xff\xffss" + b"k") == [
        WindowSize(0x7373, 0xFFFF),
        b"k",
    ]


def test_between_says_when_a_packet_may_pass_unread() -> None:
    sizes = WindowSizes()
    states = []
    for byte in b"a\xffb" + SIZE:
        sizes.feed(bytes((byte,)))
        states.append(sizes.between)
    assert states == [True, False, True, *[False] * 11, True]


PIECES = st.one_of(
    st.binary(max_size=5), st.sampled_from([SIZE, b"\xff", b"\xff\xff", b"\xff\xffs"])
)


@given(st.lists(PIECES, max_size=9).map(b"".join), st.lists(st.integers(0, 200), max_size=9))
def test_where_packets_are_cut_makes_no_difference(stream: bytes, at: list[int]) -> None:
    ends = [min(end, len(stream)) for end in at]
    whole = with_sizes(stream)
    assert (
        with_sizes(*cut(stream, ends)) == whole == with_sizes(*(bytes((byte,)) for byte in stream))
    )


@given(st.binary())
def test_bytes_without_a_0xff_are_keys(stream: bytes) -> None:
    typed = stream.replace(b"\xff", b"")
    assert with_sizes(typed) == ([typed] if typed else [])
