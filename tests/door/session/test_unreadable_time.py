"""An unreadable time moves nothing, in every format and with every agreement."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from door.call.guest import Guest
from door.call.guest_caller import brought_by
from door.config.boards import HostBoard, unlisted
from door.dropfiles.dropfile import LONGEST_SECONDS
from door.errors import DropFileRefused
from door.session.arrival import DoorOptions, arrive
from tests.door.dropfiles.reads import NOW, put
from tests.door.dropfiles.writers import (
    Written,
    bbsdev,
    chain,
    door32,
    door_sys,
    dorinfo,
    remote_access,
    text,
    word,
)

TIME_LIMIT = 1293
MOST = LONGEST_SECONDS // 60


def _table(**keys: int) -> dict[str, HostBoard]:
    usual = unlisted("Xibalba")
    return {
        "Xibalba": HostBoard(
            name=usual.name,
            minutes=keys.get("minutes", usual.minutes),
            share=keys.get("share", usual.share),
            event=usual.event,
            give_back=usual.give_back,
            door32_time=usual.door32_time,
            aliases=(),
            trusted=usual.trusted,
            agreed=frozenset(keys),
        )
    }


# No table, an empty table, and one with every agreement.
AGREED = [{}, _table(), _table(minutes=60, share=50)]


def _lines(name: str, lines: object) -> Written:
    return Written(name, text(*lines, charset="utf-8"))  # type: ignore[misc]


# How each format writes these words as its time left. A format with two lines for it has each
# alone and both.
WRITE: dict[str, Callable[[str], Written]] = {
    "door32": lambda left: _lines("DOOR32.SYS", door32(left=left)),
    "door32 of wwiv": lambda left: _lines("DOOR32.SYS", door32(host="WWIV 5.8", left=left)),
    "door.sys": lambda left: _lines("DOOR.SYS", door_sys(seconds=left, minutes=left)),
    "door.sys seconds": lambda left: _lines("DOOR.SYS", door_sys(seconds=left, minutes="59")),
    "door.sys minutes": lambda left: _lines("DOOR.SYS", door_sys(seconds="3540", minutes=left)),
    "dorinfo": lambda left: _lines("DORINFO1.DEF", dorinfo(("Ann", "Lee", "Home"), left=left)),
    "chain": lambda left: _lines("CHAIN.TXT", chain(left=left)),
    "bbsdev": lambda left: _lines("BBSDEV.DRP", bbsdev(deadline=left)),
}
SILENT_IF_EMPTY = ("door.sys seconds", "door.sys minutes")  # the other line knows
DECIMAL = ("chain",)


def arrives(written: Written, boards: dict[str, HostBoard]) -> Guest:
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), written)
        return arrive(DoorOptions(path, None, None), boards, {}, NOW, 1000.0).guest


def is_refused(written: Written) -> None:
    """Expect a refusal in a sentence under every agreement with the board."""
    for boards in AGREED:
        with pytest.raises(DropFileRefused) as refused:
            arrives(written, boards)
        sentence = str(refused.value)
        assert sentence.endswith(".")
        assert "time left" in sentence or "how long the caller may stay" in sentence


def plain_number(words: str, *, decimal: bool) -> bool:
    """Return whether a board may write these words for a time left."""
    digits, point, rest = words.strip(" \t").removeprefix("+").partition(".")
    whole = digits.isascii() and digits.isdigit() and len(digits) <= 10
    if not point:
        return whole
    return decimal and whole and (not rest or (rest.isascii() and rest.isdigit()))


SCRIPTS = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Nd"]
NONSENSE = (
    st.sampled_from(
        [
            *("sixty", "6O", "-60", "-0", "-1", "60 60", "6_0", "1_0", "1e3", "1E2", "0x3C", "nan"),
            *("NaN", "inf", "-inf", "Infinity", "60,0", "60:00", "1:00:00", "60 min", "unlimited"),
            *("none", "*", "?", "--60", "+-60", "+", "-", "9" * 11, "\u00a060", "60\u2003"),
            *("\u20076\u20070", "\x0b60", "\x1c60", "\u066660", "\uff16\uff10", "6\u0660"),
            *("\u00b2", "\u2460", "\u4e03\u5341", "60\x07"),
        ]
    )
    | st.text(alphabet=SCRIPTS[10:], min_size=1, max_size=4)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0\x1a"), max_size=8)
    | st.floats().map(str)
    | st.integers(max_value=-1).map(str)
    | st.integers(10**10, 10**30).map(str)
)


@given(st.sampled_from(sorted(WRITE)), NONSENSE)
@example("door32", "sixty")
@example("door32", "\u0666\u0660")
@example("door32", "6_0")
@example("chain", "nan")
@example("chain", "1e3")
@settings(deadline=None)
def test_an_invalid_number_brings_no_time(name: str, words: str) -> None:
    if plain_number(words, decimal=name in DECIMAL):
        return
    if name == "bbsdev" and not words:  # this format's "unlimited"
        return
    if name in SILENT_IF_EMPTY and not words.strip(" \t"):
        return
    is_refused(WRITE[name](words))


def sets_no_limit(written: Written) -> None:
    """The settings decide: the minutes of the board, or a share of a day at most."""
    for boards in AGREED:
        assert arrives(written, boards).seconds is None
    guest = arrives(written, _table(share=50))
    assert guest.seconds == LONGEST_SECONDS
    assert guest.board.share == 50


@given(
    st.sampled_from(sorted(set(WRITE) - {"bbsdev", "door.sys seconds", "door.sys minutes"})),
    st.integers(LONGEST_SECONDS + 1, 10**10 - 1),
)
@example("door32", MOST + 1)
@settings(deadline=None)
def test_more_than_a_day_is_no_limit(name: str, number: int) -> None:
    sets_no_limit(WRITE[name](f"{number}"))


@given(
    st.sampled_from(["door.sys seconds", "door.sys minutes"]),
    st.integers(LONGEST_SECONDS + 1, 10**10 - 1),
)
@settings(deadline=None)
def test_more_than_a_day_on_one_line_leaves_the_other(name: str, number: int) -> None:
    for boards in AGREED:
        assert arrives(WRITE[name](f"{number}"), boards).seconds == 3540


@given(st.integers(MOST + 1, 0xFFFF))
@settings(deadline=None)
def test_a_time_limit_of_more_than_a_day_is_no_limit(minutes: int) -> None:
    record = bytearray(remote_access())
    word(record, TIME_LIMIT, minutes)
    sets_no_limit(Written("EXITINFO.BBS", bytes(record)))


@pytest.mark.parametrize("deadline", ["9999-12-31T23:59:59Z", "2026-11-21T20:00:01Z"])
def test_a_deadline_more_than_a_day_ahead_is_no_limit(deadline: str) -> None:
    sets_no_limit(WRITE["bbsdev"](deadline))


@pytest.mark.parametrize(
    "deadline",
    [
        "0000-00-00T00:00:00Z",
        *("2026-11-20T20:30:00", "2026-11-20T20:30:00+01:00", "2026-11-20t20:30:00z", " ", "\t"),
        *("2026-11-20T24:00:00Z", "2026-02-30T20:30:00Z", "\u0662026-11-20T20:30:00Z", "60"),
    ],
)
def test_a_deadline_that_is_none_brings_nothing(deadline: str) -> None:
    is_refused(WRITE["bbsdev"](deadline))


@given(st.sampled_from(sorted(WRITE)), st.integers(0, 59))
@settings(deadline=None)
def test_a_readable_number_brings_exactly_that_time(name: str, number: int) -> None:
    left = f"2026-11-20T20:{number:02}:00Z" if name == "bbsdev" else f"{number}"
    for boards in AGREED:
        guest = arrives(WRITE[name](left), boards)
        assert guest.seconds is not None
        assert 0 <= guest.seconds <= number * 60
        assert brought_by(guest, guest.arrived).seconds == guest.seconds
