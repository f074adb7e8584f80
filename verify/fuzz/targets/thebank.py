"""timebank/thebank/format.py: THEBANK.EXT, which other programs write."""

from __future__ import annotations

import os
from collections.abc import Iterator

from timebank.errors import NotARecord
from timebank.thebank.bookings import LONGEST_SHOWN, shown
from timebank.thebank.format import (
    LONGEST_LINE,
    NOWHERE,
    SEMICOLONS,
    LineReader,
    Position,
    RawLine,
    Record,
    digest,
    is_ended,
    spellings,
)
from verify.fuzz.oracles import assert_one_line, ways_to_cut
from verify.fuzz.target import Target

MOST_PIECES = 300


def check(data: bytes) -> None:
    """A file read at once, and read on each time that a piece of it has been added."""
    file = os.memfd_create("THEBANK.EXT")
    try:
        os.write(file, data)
        whole, left = _read(file, NOWHERE)
        ended = is_ended(file)
    finally:
        os.close(file)
    _check_lines(data, whole)
    assert left == 0 or not ended or data.endswith(b"\x1a")
    for packets in ways_to_cut(data):
        if len(packets) > MOST_PIECES:
            continue  # each is a read of the file, and a digest of what stands before it
        lines = _in_pieces(packets)
        assert _said(lines) == _said(whole), "how it was written makes a difference"
    for line in whole:
        _check_record(line.content)


def _read(file: int, position: Position) -> tuple[list[RawLine], int]:
    reader = LineReader(file, position)
    return list(reader), reader.unended


def _in_pieces(packets: list[bytes]) -> list[RawLine]:
    file = os.memfd_create("THEBANK.EXT")
    position, lines = NOWHERE, []
    try:
        for packet in packets:
            os.write(file, packet)
            assert position.is_in(file)
            found, _ = _read(file, position)
            lines += found
            if found:
                last = found[-1]
                position = Position(last.end, last.lines, digest(file, last.end))
    finally:
        os.close(file)
    return lines


def _said(lines: list[RawLine]) -> list[bytes | None]:
    """What lines say; those that say nothing are not worth a comparison."""
    return [line.content for line in lines if line.content != b""]


def _check_lines(data: bytes, lines: list[RawLine]) -> None:
    at = 0
    for line in lines:
        assert at <= line.start <= line.end <= len(data)
        assert data[at : line.start].strip(b"\x1a\r\n") == b"", "bytes are passed over"
        at = line.end
        kept = data[line.start : line.end].rstrip(b"\n").removesuffix(b"\r")
        if line.content is None:
            assert len(kept) >= LONGEST_LINE
        else:
            assert len(line.content) <= LONGEST_LINE
            assert line.content.strip(b"\x1a") == kept.strip(b"\x1a")
            assert b"\n" not in line.content


def _check_record(line: bytes | None) -> None:
    if line is None:
        return
    assert_one_line(shown(line.decode("cp437"), LONGEST_SHOWN))
    try:
        record = SEMICOLONS.parse_record(line)
    except NotARecord as refused:
        assert_one_line(str(refused))
        return
    if record is None:
        return
    _check_written(record)
    names = spellings(record.name)
    assert names[0] == record.name
    assert len(names) <= 3
    assert_one_line(shown(record.source, 40))


def _names_somebody(name: str) -> bool:
    """Tell whether it is a name that may be written: ours have no controls and no semicolons."""
    return name.isprintable() and bool(name.strip()) and not name.startswith(";")


def _check_written(record: Record) -> None:
    written = SEMICOLONS.format_record(record)
    assert written.count(b"\n") == written.count(b"\r") == 1
    assert written.endswith(b"\r\n")
    if not _names_somebody(record.name):
        return
    again = SEMICOLONS.parse_record(written)
    assert again is not None
    assert (again.minutes, again.at, again.number) == (record.minutes, record.at, record.number)
    assert SEMICOLONS.parse_record(SEMICOLONS.format_record(again)) == again


def _seeds() -> Iterator[bytes]:
    yield b"Ann;12;Black Jack For Time;2024-12-31 23:59;17\r\nBob;-5;x;2026-11-20 20:00\r\n"
    yield b"; a comment\r\n\r\nJos\x82;+7;Lotto;2026-01-02 03:04;1\n\x1a"
    yield b"\x1aAnn;1;x;2024-12-31 23:59;1\x1aBob;2;y;2024-12-31 23:59;2\r\n"
    yield b"\\u0141ukasz;3;z;1999-12-31 00:00;999999999999999999\r\nunended;1"
    yield b"x" * 1030 + b"\r\nAnn;1;x;2024-12-31 23:59;1\r\n"
    yield "Zoë;60;Größe;2026-11-20 20:00;4\r\n".encode()


TARGET = Target(
    name="thebank",
    check=check,
    seeds=_seeds,
    tokens=(
        *(
            b";",
            b"\r\n",
            b"\n",
            b"\r",
            b"\x1a",
            b"2026-11-20 20:00",
            b"-5",
            b"+",
            b"\\u0141",
            b"17",
        ),
        *(b"0000-00-00 00:00", b"\xff", b"\xc3\xab", b" ", b"9" * 18, b"x" * 600, b"\0"),
    ),
    longest=1536,
    seconds=0.5,
)
