"""A line lost or written twice, anywhere in a file: the same call is read, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.errors import DropFileRefused
from tests.door.dropfiles.reads import understood
from tests.door.dropfiles.writers import Written, chain, door32, door_sys, dorinfo, text

DOOR_SYS = door_sys(name="Ann Example")
DOOR_SYS[4] = "57600"
SPARSE = list(DOOR_SYS)
for _line in (12, 13, 14, 23, 24, 25, 27, 33, 34, 50):
    SPARSE[_line - 1] = ""
USER = ("Ann", "Example", "Nowhere")
FILES: dict[str, Written] = {
    "52 lines": Written("DOOR.SYS", text(*DOOR_SYS)),
    "52 lines, many empty": Written("DOOR.SYS", text(*SPARSE)),
    "blank from 32 on": Written("DOOR.SYS", text(*DOOR_SYS[:31], *[""] * 21)),
    "37 lines": Written("DOOR.SYS", text(*DOOR_SYS[:37])),
    "31 lines": Written("DOOR.SYS", text(*DOOR_SYS[:31])),
    "door32": Written("DOOR32.SYS", text(*door32())),
    "dorinfo": Written("DORINFO1.DEF", text(*dorinfo(USER), "-1")),
    "dorinfo, 1 at its end": Written("DORINFO1.DEF", text(*dorinfo(USER), "1")),
    "chain": Written("CHAIN.TXT", text(*chain())),
}


def moved(file: Written, line: int, count: int) -> Written:
    lines = file.content.splitlines(keepends=True)
    lines[line - 1 : line] = [lines[line - 1]] * count
    return Written(file.name, b"".join(lines))


def wrongly_read(folder: Path, file: Written, count: int) -> dict[int, tuple[object, ...]]:
    whole = understood(folder, *file)
    wrong: dict[int, tuple[object, ...]] = {}
    for line in range(1, len(file.content.splitlines()) + 1):
        try:
            call = understood(folder, *moved(file, line, count))
            seconds = call.known_time().seconds
        except DropFileRefused:
            continue
        who = call.who == whole.who or call.who.caller == "name ann example"
        name = call.name in (whole.name, "Ann Example")
        node = call.node in (whole.node, None)
        if not (who and name and node and seconds == whole.time.seconds):
            wrong[line] = (call.name, call.who, seconds, call.node)
    return wrong


# Twelve lines ending with a 1 look like a caller with one minute left.
UNSEEN: dict[tuple[str, int], set[int]] = {("dorinfo, 1 at its end", 0): {11, 12}}


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("name", FILES)
def test_a_line_lost_or_doubled_is_never_guessed(name, count, tmp_path: Path) -> None:
    assert set(wrongly_read(tmp_path, FILES[name], count)) == UNSEEN.get((name, count), set())
