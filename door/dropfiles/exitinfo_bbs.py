"""EXITINFO.BBS: a record of fixed size, little-endian, with Pascal strings.

RemoteAccess 2.x writes 2363 bytes. QuickBBS has other fields; Synchronet writes that record with
DORINFO. Size and length bytes are checked before any field is trusted, because some programs leave
fields out, which moves all fields after them. The password in RemoteAccess's record is not read.
"""

from __future__ import annotations

from pathlib import Path

from door.dropfiles import dropfile
from door.dropfiles.lines import LONGEST_TEXT, WRITTEN_AGAIN, cells
from door.errors import DropFileRefused
from timebank.words import clean

RA_SIZE = 2363
# QuickBBS 2.75, Synchronet before it wrote the last fields, and QuickBBS 2.90.
QUICKBBS_SIZES = (644, 702, 903)

TIME_LIMIT = 1293
_ANSI = 1 << 3
_EVENT_ENABLED = 1

# Offsets and greatest lengths of the strings. Times and dates of the log-on are full there, which
# shows records that were cut to the size of another.
_RA_NAME, _RA_HANDLE, _RA_START = (241, 35), (507, 35), (1258, 5)
_RA_STRINGS = (_RA_NAME, (277, 25), _RA_HANDLE, _RA_START)
_RA_LOGON = ((1278, 5), (1284, 8), (1307, 5))
_QUICK_NAME = (241, 35)
_QUICK_STRINGS = (_QUICK_NAME, (277, 25), (345, 5), (351, 8))
_QUICK_LOGON = ((420, 5), (426, 8))
_Fields = tuple[tuple[int, int], ...]


class _Record:
    __slots__ = ("_content", "path")

    def __init__(self, path: Path, content: bytes, strings: _Fields, full: _Fields) -> None:
        self.path = path
        self._content = content
        wrong = [offset for offset, size in strings if content[offset] > size]
        wrong += [offset for offset, size in full if content[offset] != size]
        if wrong:
            what = f"the text at byte {wrong[0]} cannot be as long as it says, so fields have moved"
            raise DropFileRefused(path, None, what, WRITTEN_AGAIN)

    def string(self, field: tuple[int, int]) -> str:
        offset = field[0] + 1
        return self._content[offset : offset + self._content[field[0]]].decode("cp437").strip()

    def byte(self, offset: int) -> int:
        return self._content[offset]

    def word(self, offset: int) -> int:
        return int.from_bytes(self._content[offset : offset + 2], "little")

    def positive(self, offset: int) -> int | None:
        """Read a signed number; return None unless it is 1 or more."""
        number = int.from_bytes(self._content[offset : offset + 2], "little", signed=True)
        return number if number > 0 else None


def parse(path: Path, content: bytes, reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the record; raise `DropFileRefused` if size or fields fit neither program."""
    minutes = columns = None
    name = ""
    if len(content) == RA_SIZE:
        record = _Record(path, content, _RA_STRINGS, _RA_LOGON)
        alias, name = record.string(_RA_HANDLE), record.string(_RA_NAME)
        number, level, ansi, rows, columns = 1299, 691, 675, 723, record.byte(1155)
        minutes = record.word(TIME_LIMIT)
        time = dropfile.TimeLeft.left(minutes * 60, f"TimeLimit of {path.name}")
        event = _event(record, reading)
    elif len(content) in QUICKBBS_SIZES:
        record = _Record(path, content, _QUICK_STRINGS, _QUICK_LOGON)
        alias = record.string(_QUICK_NAME)
        number, level, ansi, rows = 445, 373, 360, 389
        place = f"TimeLimit of {path.name}, which is the allowance for a call here"
        time = dropfile.TimeLeft(dropfile.Limit.UNKNOWN, place)
        event = dropfile.no_event("the record of QuickBBS")
    else:
        what = f"it has {len(content)} bytes, neither {RA_SIZE} as RemoteAccess writes nor those"
        raise DropFileRefused(path, None, f"{what} of QuickBBS", WRITTEN_AGAIN)
    return dropfile.DropFile(
        kind=dropfile.Format.EXITINFO,
        path=path,
        alias=clean(alias, LONGEST_TEXT),
        real_name=clean(name, LONGEST_TEXT),
        name_key=dropfile.fold_name(alias or name),
        number=record.positive(number),
        level=record.word(level),
        time=time,
        event=event,
        emulation="ansi" if record.byte(ansi) & _ANSI else "ascii",
        rows=cells(record.word(rows)),
        columns=cells(columns),
        time_limit=minutes,
        doubts=(time.doubt,) if time.limit is dropfile.Limit.UNREADABLE else (),
    )


def _event(record: _Record, reading: dropfile.HostSettings) -> dropfile.NextEvent:
    place = f"the event in {record.path.name}"
    if record.byte(1257) == _EVENT_ENABLED:
        return reading.event(record.string(_RA_START), place)
    return dropfile.NextEvent(dropfile.EventKind.NONE, None, place)
