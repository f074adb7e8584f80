"""Any bytes give a drop file or a refusal, soon, and never an invented time."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from door.cli.doctor import sentences
from door.dropfiles.dropfile import LONGEST_SECONDS, DropFile, Limit
from door.dropfiles.formats import read
from door.dropfiles.give_back import door_sys_credit, exitinfo_time
from door.dropfiles.lines import LARGEST
from door.errors import DropFileRefused, NotGivenBack
from tests.door.dropfiles.reads import AS_WRITTEN, put, understood_in
from tests.door.dropfiles.writers import WRITERS, Written

NAMES = ["DOOR32.SYS", "DOOR.SYS", "DORINFO1.DEF", "CHAIN.TXT", "BBSDEV.DRP", "EXITINFO.BBS"]
SOON = timedelta(seconds=2)  # a read takes about a millisecond

written = st.sampled_from(sorted(WRITERS)).map(WRITERS.__getitem__)
fields = (
    st.sampled_from(
        b"|0|-1|60|99999999999|GR|NG|Y|N|COM1:|1.0|Ann|03:00|\x1a|\x1b[2J|\xff|9.5".split(b"|")
    )
    | st.binary(max_size=30)
    | st.integers(-(10**6), 10**6).map(lambda number: b"%d" % number)
)


@contextmanager
def a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def outcome(folder: Path, file: Written) -> DropFile | DropFileRefused:
    """Read a file, check the invariants, and describe the result in words."""
    path = put(folder, file)
    try:
        found = read(path, AS_WRITTEN)
    except DropFileRefused as refused:
        return refused
    assert (found.time.limit is Limit.LEFT) == (found.time.seconds is not None)
    assert found.time.seconds is None or 0 <= found.time.seconds <= LONGEST_SECONDS
    assert found.event.minute is None or 0 <= found.event.minute < 1440
    assert found.number is None or found.number > 0
    for text in (found.alias, found.real_name, found.board, found.software, found.sysop):
        assert len(text) <= 80
        assert text.isprintable()
    assert all(sentences(understood_in(folder)))
    return found


def place(refused: DropFileRefused) -> str:
    return "" if refused.line is None else f", line {refused.line}"


@given(st.sampled_from(NAMES), st.binary(max_size=3000))
@example("BBSDEV.DRP", b"1.7\n\n\n\n\x07" + b"\n" * 14 + b"m")
@example("DORINFO1.DEF", b"\nKeeper\n" + b"l" * 72 + b"M1\n\n\n0\nA\n\n\n\n5\n\n")
@settings(deadline=SOON)
def test_noise_is_read_or_refused(name, noise):
    with a_folder() as folder:
        file = outcome(folder, Written(name, noise))
    if isinstance(file, DropFileRefused):
        assert str(file) == f"{file.file}{place(file)}: {file.what}. {file.remedy}"


@given(
    st.sampled_from(NAMES),
    st.lists(fields, max_size=60),
    st.sampled_from([b"\r\n", b"\n", b"\r", b"\n\r", b"\r\r\n"]),
)
@settings(deadline=SOON)
def test_lines_of_any_kind_are_read_or_refused(name, lines, end):
    with a_folder() as folder:
        outcome(folder, Written(name, end.join(lines)))


@given(written, st.data())
@settings(deadline=SOON, max_examples=300)
def test_a_file_with_lines_lost_doubled_or_replaced_is_read_or_refused(file, data):
    lines = file.content.split(b"\n")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at : at + 1] = data.draw(
            st.sampled_from([[], [lines[at], lines[at]], [b"\r", lines[at]]])
            | fields.map(lambda field: [field + b"\r"])
        ) or [b""]
    with a_folder() as folder:
        outcome(folder, Written(file.name, b"\n".join(lines)))


@pytest.mark.parametrize("writer", sorted(WRITERS))
def test_a_file_cut_anywhere_is_refused_or_says_the_same(writer, tmp_path: Path):
    file = WRITERS[writer]
    whole = outcome(tmp_path, file)
    assert isinstance(whole, DropFile)
    for cut in range(len(file.content)):
        piece = outcome(tmp_path, Written(file.name, file.content[:cut]))
        if isinstance(piece, DropFile):
            assert piece.time == whole.time
            assert piece.identity == whole.identity
            assert piece.credit_minutes in (None, whole.credit_minutes)
            assert piece.event.minute in (None, whole.event.minute)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("filling", [b"\n", b"\r", b"9", b" ", b"\x1a", b"0\n", b"Y\r\n", b"GR\n"])
def test_the_largest_file_is_soon_done_with(name, filling, tmp_path: Path):
    content = (filling * LARGEST)[:LARGEST]
    lines = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal lines
        lines += event == "call"

    sys.setprofile(count)
    try:
        result = outcome(tmp_path, Written(name, content))
    finally:
        sys.setprofile(None)
    assert isinstance(result, DropFileRefused)
    assert lines < 5000  # calls of functions: nothing is done for each line again and again


@given(st.lists(fields, min_size=52, max_size=54), st.integers(0, 32767))
@settings(deadline=SOON)
def test_credits_are_written_where_they_are_read_or_not_at_all(lines, minutes):
    lines[19], lines[25], lines[41] = b"GR", b"42", b"7"
    content = b"\r\n".join(lines) + b"\r\n"
    with a_folder() as folder:
        path = put(folder, Written("DOOR.SYS", content))
        try:
            before = read(path, AS_WRITTEN)
            door_sys_credit(path, minutes)
        except (DropFileRefused, NotGivenBack):
            assert path.read_bytes() == content
        else:
            after = read(path, AS_WRITTEN)
            assert after.credit_minutes == minutes
            assert (after.identity, after.time) == (before.identity, before.time)


@given(st.binary(min_size=2363, max_size=2363), st.integers(0, 32767))
@settings(deadline=SOON)
def test_a_time_limit_is_two_bytes_of_a_record_or_nothing_is_written(content, minutes):
    with a_folder() as folder:
        path = put(folder, Written("EXITINFO.BBS", content))
        try:
            exitinfo_time(path, minutes)
        except NotGivenBack:
            assert path.read_bytes() == content
        else:
            after = path.read_bytes()
            assert sum(map(int.__ne__, content, after)) <= 2
            assert len(after) == len(content)
            exitinfo_time(path, minutes)
            assert path.read_bytes() == after
