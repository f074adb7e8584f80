"""Which bytes are typed and which are commands, however the packets were cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.errors import Flood
from door.lines.budget import Budget, Rate
from door.lines.telnet.framing import IAC, Code, Command, Splitter

EVERY_BYTE = bytes(range(255)) + b"\xff\xff"  # as telnet sends it


def split(*packets: bytes, limit: int = 4096) -> list[bytes | Command]:
    """Return the parsed packets, with typed bytes joined between two commands."""
    splitter = Splitter(limit)
    items: list[bytes | Command] = []
    for packet in packets:
        for item in splitter.feed(packet):
            last = items[-1] if items else None
            if isinstance(item, bytes) and isinstance(last, bytes):
                items[-1] = last + item
            else:
                items.append(item)
    return items


def test_every_byte_can_be_typed() -> None:
    assert split(EVERY_BYTE) == [bytes(range(256))]


def test_a_return_keeps_the_nul_behind_it() -> None:
    assert split(b"\r\0x\r\n") == [b"\r\0x\r\n"]


def test_commands_are_recognised_between_keys() -> None:
    assert split(b"a\xff\xfd\x01b\xff\xf6c") == [
        b"a",
        Command(Code.DO, b"\x01"),
        b"b",
        Command(Code.ARE_YOU_THERE, b""),
        b"c",
    ]


def test_a_subnegotiation_is_unescaped() -> None:
    assert split(b"\xff\xfa\x1f\x00\xff\xff\x00\x18\xff\xf0") == [
        Command(Code.SB, b"\x1f\x00\xff\x00\x18")
    ]


def test_a_window_255_wide_is_understood_though_its_iac_is_not_doubled() -> None:
    assert split(b"\xff\xfa\x1f\x00\xff\x00\x18\xff\xf0x") == [
        Command(Code.SB, b"\x1f\x00\xff\x00\x18"),
        b"x",
    ]


def test_a_command_inside_a_subnegotiation_breaks_it_off() -> None:
    assert split(b"\xff\xfa\x18\x00abc\xff\xfb\x1fd") == [Command(Code.WILL, b"\x1f"), b"d"]


def test_the_option_255_is_an_option_and_not_a_command() -> None:
    assert split(b"\xff\xfd\xffx") == [Command(Code.DO, b"\xff"), b"x"]


def test_a_subnegotiation_may_be_as_long_as_the_limit_and_no_longer() -> None:
    assert split(b"\xff\xfa" + b"a" * 10 + b"\xff\xf0", limit=10) == [Command(Code.SB, b"a" * 10)]
    with pytest.raises(Flood, match="longer than 10 bytes"):
        split(b"\xff\xfa" + b"a" * 11, limit=10)


def test_doubled_iacs_count_against_the_limit_as_well() -> None:
    with pytest.raises(Flood):
        split(b"\xff\xfa", b"\xff\xff" * 11, limit=10)


def test_between_says_when_a_packet_may_pass_unread() -> None:
    splitter = Splitter(100)
    states = []
    for byte in b"a\xff\xfa\x18\xff\xf0b\xff\xfd\x01\xff\xff":
        splitter.feed(bytes((byte,)))
        states.append(splitter.between)
    assert states == [True, *[False] * 4, True, True, False, False, True, False, True]


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(
                [
                    bytes((IAC,)),
                    bytes((IAC, Code.SB)),
                    bytes((IAC, Code.SE)),
                    bytes((IAC, Code.DO)),
                    bytes((IAC, Code.WILL, 24)),
                    bytes((IAC, Code.INTERRUPT_PROCESS)),
                ]
            ),
        ),
        max_size=12,
    ).map(b"".join),
    st.data(),
)
def test_where_packets_are_cut_makes_no_difference(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    packets = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert split(*packets) == split(stream) == split(*[bytes((byte,)) for byte in stream])


def test_a_budget_allows_a_burst_and_then_so_many_a_second() -> None:
    now = [100.0]
    budget = Budget(Rate(burst=3, a_second=2.0), lambda: now[0], "keys")
    for _ in range(3):
        budget.pay(1)
    now[0] += 1.0
    budget.pay(1)
    budget.pay(1)
    with pytest.raises(Flood, match="more than 3 keys"):
        budget.pay(1)


def test_a_budget_saves_up_no_more_than_its_burst() -> None:
    now = [100.0]
    budget = Budget(Rate(burst=3, a_second=2.0), lambda: now[0], "keys")
    now[0] += 1_000_000.0
    for _ in range(3):
        budget.pay(1)
    with pytest.raises(Flood):
        budget.pay(1)
