"""Any file, written and read in any pieces, against a simpler account of its lines."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.timebank.books import Books
from tests.timebank.conftest import SHARED_MEMORY
from tests.timebank.importing import NAMES, Board
from timebank.errors import NotARecord
from timebank.thebank.format import LONGEST_LINE, NOWHERE, LineReader, Position, parse_record

MOST = 1440

names = st.sampled_from([b"Ann", b"ann", b" BOB ", b"Cid", b""])
minutes = st.integers(-20, 20) | st.sampled_from([0, MOST, MOST - 10, -(10**15), 10**15])
records = st.builds(
    lambda name, amount, number: b"%b;%d;Door;2026-06-01 12:00%b" % (name, amount, number),
    names,
    minutes,
    st.sampled_from([b"", b";1", b";x"]),
)
lines = (
    st.sampled_from([b"", b"; note", b"x" * (LONGEST_LINE + 1), b"x;" * 400])
    | records
    | records
    | st.binary(max_size=30)
)
contents = st.lists(
    st.tuples(lines, st.sampled_from([b"\r\n", b"\n", b"\x1a", b"\r\n\x1a"])).map(b"".join),
    max_size=12,
).map(b"".join)


@contextmanager
def a_board() -> Iterator[Board]:
    where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        books = Books(Path(folder))
        yield Board(books)
        books.close()


class Expected:
    """The expected balances after the lines of a file, in minutes."""

    def __init__(self) -> None:
        self.bank = dict.fromkeys(NAMES, 10)
        self.applied = self.refused = 0

    def read(self, content: bytes) -> None:
        """Apply the documented rules in the simplest way: all complete lines at once."""
        ended = content[: max(content.rfind(b"\n"), content.rfind(b"\x1a")) + 1]
        for line in ended.replace(b"\x1a", b"\n").split(b"\n"):
            try:
                record = parse_record(line)
            except NotARecord:
                self.refused += 1
                continue
            if record is None:
                continue
            name = record.name.capitalize()
            after = self.bank.get(name, 0) + record.minutes
            most = MOST if record.minutes > 0 else max(MOST, after)
            if name in self.bank and record.minutes and 0 <= after <= most:
                self.bank[name] = after
                self.applied += 1
            else:
                self.refused += 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(contents, st.lists(st.integers(0, 400), max_size=4), st.booleans())
def test_the_books_change_by_the_records_however_the_file_was_cut(content, cuts, held_open):
    content += b"\n"
    expected = Expected()
    expected.read(content)
    applied = refused = 0
    with a_board() as board:
        begin = 0
        # Either way of writing: opened for every piece, or kept open from the first one on.
        with board.path.open("ab", buffering=0) as file:
            for end in [*sorted(cuts), len(content)]:
                piece, begin = content[begin:end], max(begin, end)
                if held_open:
                    file.write(piece)
                else:
                    board.append(piece)
                report = board.take()
                applied += report.applied
                refused += report.refused
        assert {name: board.bank(name) for name in NAMES} == expected.bank
        assert (applied, refused) == (expected.applied, expected.refused)
        assert len(board.errors()) == refused
        kept = [path.read_bytes() for path in sorted(board.path.parent.glob("*.BAK"))]
        assert sorted(b"".join(kept)) == sorted(content)


@given(st.binary(max_size=300), st.lists(st.sampled_from([b"\n", b"\r\n", b"\x1a"]), max_size=9))
def test_lines_are_the_same_wherever_reading_begins_again(noise, ends):
    content = b"Ann;1;x".join([noise[:100], *ends, noise[100:]])
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        whole = list(LineReader(file.fileno(), NOWHERE))
        for line in whole:
            position = Position(line.end, line.lines, "")
            rest = list(LineReader(file.fileno(), position))
            assert rest == whole[len(whole) - len(rest) :]
            assert len(rest) == len(whole) - 1 - whole.index(line)
        for line in whole:
            assert line.content is not None
            assert content[line.start :].startswith(line.content)
            assert line.number == 1 + content.count(b"\n", 0, line.start)
