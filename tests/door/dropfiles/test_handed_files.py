"""Drop files that a door passes to a server: their content, and refusals."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from door.dropfiles import terminal_ini
from door.dropfiles.disk import HostFiles
from door.dropfiles.dropfile import Format
from door.dropfiles.formats import kind_of
from door.dropfiles.interpretation import understand
from door.dropfiles.search import find
from door.errors import DropFileRefused
from door.lines import hand_over
from tests.door.dropfiles.reads import AS_WRITTEN, NO_ENVIRONMENT, put
from tests.door.dropfiles.writers import WRITERS

SYNCHRONET = WRITERS["synchronet stdio"]


def passed_on(place: Path) -> HostFiles:
    """Read files as a door and the resulting messages as a server."""
    *folder, files = hand_over.files_at(str(place))
    sent = [hand_over.file_in(hand_over.file_packed(file)) for file in files]
    return HostFiles(*folder, [file for file in sent if file is not None])


def call_or_refusal(place: Path, at: HostFiles | None = None) -> object:
    """Return the understood call, or the reason of the refusal."""
    try:
        files = find(place, NO_ENVIRONMENT, None, at=at)
        call = understand(files, AS_WRITTEN)
    except DropFileRefused as refused:
        return str(refused)
    left = {(each.path, each.why) for each in call.left}
    return call.files, call.doubts, left, call.gives, call.screen, call.event


def test_a_sentence_without_sense_is_a_refusal_all_the_same() -> None:
    entry = ("DOOR.SYS", 1, hand_over.UNEXPECTED, b"\xff")
    with pytest.raises(OSError, match="\N{REPLACEMENT CHARACTER}"):
        HostFiles("/", False, 0, [entry]).content(Path("/DOOR.SYS"))


def a_file(folder: Path) -> Path:
    return put(folder, SYNCHRONET)


def whole(folder: Path) -> None:
    """Write the files of one call, of another call, and unrelated old ones."""
    a_file(folder)
    put(folder, WRITERS["synchronet door.sys"], ago=900)
    (folder / "terminal.ini").write_text("cols = 132\nrows = 40\n")
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


def make_a_strangers_file(folder: Path) -> None:
    """Only root can give a file away; for anybody else it is a file of their own."""
    file = a_file(folder)
    folder.chmod(0o777)
    if os.geteuid() == 0:
        os.chown(file, 4_000_000, -1)


def nothing(folder: Path) -> None:
    (folder / "XTRN.DAT").write_text("nothing of ours")


def no_folder(folder: Path) -> None:
    folder.rmdir()


WORLDS = [
    whole,
    link,
    link_to_nowhere,
    two_names,
    pipe,
    another_case,
    too_large,
    make_a_strangers_file,
]
WORLDS += [nothing, no_folder]


@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize("fill", WORLDS, ids=lambda fill: fill.__name__)
def test_a_server_accepts_and_refuses_the_same_files_as_its_door(
    tmp_path: Path, fill: Callable[[Path], None], is_named: bool
) -> None:
    folder = tmp_path / "node"
    folder.mkdir()
    fill(folder)
    place = folder / SYNCHRONET.name if is_named else folder
    expected = call_or_refusal(place)
    at = passed_on(place)
    shutil.rmtree(folder, ignore_errors=True)  # only the passed-on files count
    assert call_or_refusal(place, at) == expected


def test_the_names_passed_on_are_the_names_read() -> None:
    of_nodes = ["DORINFO1.DEF", "dorinfoa.def", "DorInfo123.Def"]
    kinds = [kind.value for kind in Format if kind is not Format.DORINFO]
    for name in [*kinds, terminal_ini.NAME, *of_nodes]:
        assert hand_over.is_read(name.casefold())
    read = [name for name in hand_over.FILES if kind_of(name) is not None]
    assert len(hand_over.FILES) == len(read) + 1
    assert not hand_over.is_read("dorinfo_of_somebody.def")


@pytest.mark.parametrize("takes_its_place", [os.mkfifo, os.mkdir])
def test_a_pipe_or_folder_in_place_of_a_file_is_not_passed_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    takes_its_place: Callable[[Path], None],
) -> None:
    file = a_file(tmp_path)
    real = hand_over._entries

    def exchanged(folder: int, named: str) -> list[tuple[str, os.stat_result]]:
        entries = real(folder, named)
        file.unlink()
        takes_its_place(file)
        return entries

    monkeypatch.setattr(hand_over, "_entries", exchanged)
    (found,) = hand_over.files_at(str(tmp_path))[3]
    assert found[2:] == (hand_over.NO_FILE, b"")
    (file.rmdir if file.is_dir() else file.unlink)()
    a_file(tmp_path)
    assert "there is no drop file" in str(call_or_refusal(tmp_path, passed_on(tmp_path)))


def test_a_full_folder_passes_on_the_named_and_the_newest_files(
    tmp_path: Path,
) -> None:
    named = a_file(tmp_path)
    os.utime(named, (1, 1))
    for number in range(hand_over.MOST_FILES + 20):
        (tmp_path / f"DORINFO{number}.DEF").write_text("\n")
    files = hand_over.files_at(str(named))[3]
    assert len(files) == hand_over.MOST_FILES
    assert files[0][0] == named.name


def test_a_file_in_a_folder_of_very_many_names_is_read(tmp_path: Path) -> None:
    """Seen live: past 20,000 names some were skipped and the log reported no file."""
    for number in range(20_001):
        os.mknod(tmp_path / f"{number}")
    named = a_file(tmp_path)
    assert f"{named}" in str(call_or_refusal(tmp_path))
    assert call_or_refusal(tmp_path) == call_or_refusal(tmp_path, passed_on(tmp_path))


def test_any_content_and_any_name_is_passed_on(tmp_path: Path) -> None:
    name = os.fsdecode(b"DOOR\xff.SYS")
    file = (name, 1, 0, bytes(range(256)) * 2)
    assert hand_over.file_in(hand_over.file_packed(file)) == file
    assert hand_over.file_in(hand_over.packed(hand_over.CALL, name)) is None
