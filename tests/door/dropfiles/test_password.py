"""The clear-text password of DOOR.SYS is nowhere but in the file."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from door.cli.doctor import sentences
from door.dropfiles.formats import read
from door.dropfiles.give_back import door_sys_credit
from door.dropfiles.interpretation import understand
from door.dropfiles.lines import Lines, raw
from door.dropfiles.search import find
from door.errors import DropFileRefused, NotGivenBack
from tests.door.dropfiles.reads import AS_WRITTEN, NO_ENVIRONMENT, put
from tests.door.dropfiles.writers import PASSWORD, WRITERS, Written, door_sys, text

LINES = door_sys(name="Ann Example", alias="Moth")
# Whole, without any one of its lines, with any one twice, and cut after any of them.
FILES = [
    LINES,
    *([*LINES[:n], *LINES[n + 1 :]] for n in range(52) if n != 13),
    *([*LINES[:n], LINES[n], *LINES[n:]] for n in range(52)),
    *(LINES[:n] for n in range(1, 52)),
    *([*LINES[:n], "", *LINES[n:]] for n in range(52)),
]
NAMES = ["DOOR.SYS", "DOOR32.SYS", "DORINFO1.DEF", "CHAIN.TXT", "BBSDEV.DRP", "EXITINFO.BBS"]


def trace_of(error: BaseException) -> str:
    """Everything that a log could show of an error, the locals of its frames included."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames = [frame for frame in trace.stack if "/tests/" not in frame.filename]
    trace.stack = traceback.StackSummary.from_list(frames)
    return "".join(trace.format()) + repr(error) + repr(error.__context__) + repr(vars(error))


@pytest.mark.parametrize("name", NAMES)
def test_no_result_and_no_error_holds_it(name, tmp_path: Path, caplog):
    caplog.set_level(logging.DEBUG)
    for lines in FILES:
        path = put(tmp_path, Written(name, text(*lines)))
        try:
            understood = understand(find(path, NO_ENVIRONMENT, None), AS_WRITTEN)
            call = repr(understood) + "".join(sentences(understood))
        except DropFileRefused as refused:
            call = trace_of(refused)
        assert PASSWORD not in call
    assert PASSWORD not in caplog.text


def test_the_locals_of_frames_are_looked_at():
    def careless() -> None:
        line_14 = PASSWORD
        raise RuntimeError(len(line_14))

    with pytest.raises(RuntimeError) as caught:
        careless()
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert PASSWORD in "".join(trace.format())


def test_a_refusal_has_left_the_frames_that_held_it(tmp_path: Path):
    path = put(tmp_path, Written("DOOR.SYS", text(*LINES[:22])))
    with pytest.raises(DropFileRefused) as caught:
        read(path, AS_WRITTEN)
    assert caught.value.__context__ is None
    assert "breaks off" in trace_of(caught.value)
    assert PASSWORD not in trace_of(caught.value)


def test_a_file_that_is_gone_leaves_no_other_error_behind(tmp_path: Path):
    with pytest.raises(DropFileRefused) as caught:
        read(tmp_path / "DOOR.SYS", AS_WRITTEN)
    assert caught.value.__context__ is None


def test_a_failed_giving_back_does_not_show_it(tmp_path: Path):
    for lines, why in ((LINES[:31], "no time credits"), (LINES[:18], "breaks off")):
        path = put(tmp_path, Written("DOOR.SYS", text(*lines)))
        with pytest.raises(NotGivenBack) as caught:
            door_sys_credit(path, 20)
        assert caught.value.__context__ is None
        assert why in trace_of(caught.value)
        assert PASSWORD not in trace_of(caught.value)


def test_the_lines_are_not_shown_by_repr(tmp_path: Path):
    path = put(tmp_path, WRITERS["synchronet door.sys"])
    held = raw(path)
    assert repr(held).startswith("Raw(")
    assert repr(Lines(path, held.content)) == "Lines(52 of DOOR.SYS)"
