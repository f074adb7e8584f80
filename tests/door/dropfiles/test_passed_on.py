"""Drop files that a door has opened for a server: what is read of them, and what is refused."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import FileIO
from pathlib import Path

import pytest

from door.dropfiles import events_ra, terminal_ini
from door.dropfiles.disk import DISK, Disk, HandedFiles
from door.dropfiles.dropfile import Format
from door.dropfiles.finding import find
from door.dropfiles.formats import kind_of
from door.dropfiles.understanding import understand
from door.errors import DropFileRefused
from door.lines import handed
from tests.door.dropfiles.reads import AS_WRITTEN, NO_ENVIRONMENT, put
from tests.door.dropfiles.writers import WRITERS

SYNCHRONET = WRITERS["synchronet stdio"]


@contextmanager
def passed_on(place: Path) -> Iterator[HandedFiles]:
    """Open what is there as a door does, and read the message as a server does."""
    _, texts, ends = handed.files_at(str(place))
    said = dict(text.split("=", 1) for text in texts if not text.startswith("#"))
    names = [text[1:].rpartition("=") for text in texts if text.startswith("#")]
    files = {name: value for name, _, value in names}
    with closing(HandedFiles(said, files, [FileIO(end) for end in ends])) as at:
        yield at


def told(place: Path, at: Disk = DISK) -> object:
    """What is understood of a call, or why it is refused."""
    try:
        found = find(place, NO_ENVIRONMENT, None, at=at)
        call = understand(found, AS_WRITTEN)
    except DropFileRefused as refused:
        return str(refused)
    left = {(each.path, each.why) for each in call.left}
    return call.files, call.doubts, left, call.gives, call.screen, call.event


def a_file(folder: Path) -> Path:
    return put(folder, SYNCHRONET)


def whole(folder: Path) -> None:
    """Write files of one call, of another one, and those that lie beside them for years."""
    a_file(folder)
    put(folder, WRITERS["synchronet door.sys"], ago=900)
    (folder / "terminal.ini").write_text("cols = 132\nrows = 40\n")
    (folder / "Events.RA").write_bytes(b"\0" * 19)
    (folder / "XTRN.DAT").write_text("nothing of ours")


def link(folder: Path) -> None:
    a_file(folder).rename(folder / "elsewhere")
    (folder / SYNCHRONET.name).symlink_to(folder / "elsewhere")


def link_to_nowhere(folder: Path) -> None:
    (folder / SYNCHRONET.name).symlink_to(folder / "elsewhere")


def two_names(folder: Path) -> None:
    (folder / "another").hardlink_to(a_file(folder))


def pipe(folder: Path) -> None:
    os.mkfifo(folder / SYNCHRONET.name)


def another_case(folder: Path) -> None:
    a_file(folder).rename(folder / SYNCHRONET.name.lower())


def too_large(folder: Path) -> None:
    a_file(folder).write_bytes(b"x" * 100_000)


def of_a_stranger(folder: Path) -> None:
    """Only root can give a file away; for anybody else it is a file of their own."""
    file = a_file(folder)
    folder.chmod(0o777)
    if os.geteuid() == 0:
        os.chown(file, 4_000_000, -1)


def nothing(folder: Path) -> None:
    (folder / "XTRN.DAT").write_text("nothing of ours")


def no_folder(folder: Path) -> None:
    folder.rmdir()


WORLDS = [whole, link, link_to_nowhere, two_names, pipe, another_case, too_large, of_a_stranger]
WORLDS += [nothing, no_folder]


@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize("fill", WORLDS, ids=lambda fill: fill.__name__)
def test_a_server_reads_and_refuses_what_its_door_would(
    tmp_path: Path, fill: Callable[[Path], None], is_named: bool
) -> None:
    folder = tmp_path / "node"
    folder.mkdir()
    fill(folder)
    place = folder / SYNCHRONET.name if is_named else folder
    expected = told(place)
    with passed_on(place) as at:
        shutil.rmtree(folder, ignore_errors=True)  # what is passed on is all that counts
        assert told(place, at) == expected


def test_the_names_that_are_passed_on_are_those_that_are_read() -> None:
    of_nodes = ["DORINFO1.DEF", "dorinfoa.def", "DorInfo123.Def"]
    kinds = [kind.value for kind in Format if kind is not Format.DORINFO]
    for name in [*kinds, events_ra.NAME, terminal_ini.NAME, *of_nodes]:
        assert handed.is_read(name.casefold())
    read = [name for name in handed.FILES if kind_of(name) is not None]
    assert len(handed.FILES) == len(read) + 2
    assert not handed.is_read("dorinfo_of_somebody.def")


@pytest.mark.parametrize("takes_its_place", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_that_takes_the_place_of_a_file_is_not_passed_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    takes_its_place: Callable[[Path], None],
) -> None:
    file = a_file(tmp_path)
    seen = handed._found

    def exchanged(folder: int, named: str) -> list[tuple[str, os.stat_result]]:
        found = seen(folder, named)
        file.unlink()
        takes_its_place(file)
        return found

    monkeypatch.setattr(handed, "_found", exchanged)
    _, texts, ends = handed.files_at(str(tmp_path))
    assert ends == []
    assert texts[-1].endswith(f":{handed.NO_FILE}")
    (file.rmdir if file.is_dir() else file.unlink)()
    a_file(tmp_path)
    with passed_on(tmp_path) as at:
        assert "there is no drop file" in str(told(tmp_path, at))


def test_a_pipe_is_not_read_whatever_a_door_says_of_it(tmp_path: Path) -> None:
    a_file(tmp_path)
    _, texts, ends = handed.files_at(str(tmp_path))
    said = dict(text.split("=", 1) for text in texts if not text.startswith("#"))
    (name,) = (text[1:].rpartition("=") for text in texts if text.startswith("#"))
    os.close(ends[0])
    reading, writing = os.pipe()
    with closing(HandedFiles(said, {name[0]: name[2]}, [FileIO(reading)])) as at:
        assert "cannot be read" in str(told(tmp_path, at))
    os.close(writing)


def test_of_a_full_folder_the_newest_are_passed_on_and_the_one_that_is_named(
    tmp_path: Path,
) -> None:
    named = a_file(tmp_path)
    os.utime(named, (1, 1))
    for number in range(handed.MOST_FILES + 20):
        (tmp_path / f"DORINFO{number}.DEF").write_text("\n")
    _, texts, ends = handed.files_at(str(named))
    for end in ends:
        assert stat.S_ISREG(os.fstat(end).st_mode)
        os.close(end)
    assert len(ends) == handed.MOST_FILES
    assert [text for text in texts if text.startswith(f"#{named.name}=")]


def test_a_file_that_is_named_is_found_among_more_names_than_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed, "MOST_ENTRIES", 0)
    named = a_file(tmp_path)
    with passed_on(named) as at:
        assert told(named, at) == told(named)
