"""The lock of the books: its holder, the messages, and its release."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from timebank import serving
from timebank.errors import BooksTaken, DatabaseRefused

# Takes the lock of its argument, says so, and holds it until it is killed.
HOLDER = """
import sys
from timebank import serving
lock = serving.take(sys.argv[1], serving.SERVING, "/srv/board")
print(serving.this_process(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path) -> str:
    return serving.place_of(str(tmp_path / "board.sqlite3"))


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "PATIENCE_SECONDS", 0.0)


def test_one_process_has_the_lock_and_another_reads_who(place: str) -> None:
    with serving.take(place, serving.SERVING, "/srv/board"):
        assert serving.is_held(place)
        with pytest.raises(BooksTaken) as it:
            serving.take(place, serving.SERVING)
        assert str(it.value).startswith(f"Process {os.getpid()} of ")
        pattern = r", with the data folder /srv/board, since [-\d]+ [\d:]+ \S+$"
        assert re.search(pattern, str(it.value)), "the zone of the machine may not be the board's"
        assert (it.value.state, it.value.data) == (serving.SERVING, "/srv/board")
    assert not serving.is_held(place)
    assert serving.read(place) is None, "nothing is left in order"
    with serving.take(place, serving.SERVING):
        pass


def test_a_look_at_the_lock_does_not_block_it(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "PATIENCE_SECONDS", 5.0)
    Path(place).touch()
    with open(place) as looks:
        fcntl.flock(looks, fcntl.LOCK_SH)

        def looked(seconds: float) -> None:
            fcntl.flock(looks, fcntl.LOCK_UN)

        monkeypatch.setattr(serving.time, "sleep", looked)
        serving.take(place, serving.SERVING).__exit__(None)


def test_a_kill_frees_the_lock_and_the_note_names_the_holder(place: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        name = holder.stdout.readline().strip()
        assert serving.take_now(place) is None
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    # A start that fails in between hides nothing of that.
    for _ in range(2):
        lock = serving.take_now(place)
        assert lock is not None
        assert lock.left == name
        lock.note(serving.STARTING)
        os.close(lock.file)
    with serving.take(place, serving.SERVING) as lock:
        assert lock.left == name
    with serving.take(place, serving.SERVING) as lock:
        assert lock.left == "", "it is said once"


def test_a_failed_write_of_the_note_leaves_the_earlier_one(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note names earlier servers whose calls must be closed."""
    lock = serving.take(place, serving.SERVING, "/srv/a/board/with/a/long/name")
    notes = []
    for dies in (True, False):
        with monkeypatch.context() as disk:
            if dies:
                disk.setattr(serving.os, "pwrite", full_disk)
            lock.note(serving.SERVING, "/srv")
        note = serving.read(place)
        notes.append(None if note is None else (note.data, note.left))
    assert notes == [
        ("/srv/a/board/with/a/long/name", serving.this_process()),
        ("/srv", serving.this_process()),
    ]


def full_disk(*parts: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_it_is_handed_down_and_lasts_as_long_as_one_has_it(place: str) -> None:
    lock = serving.take(place, serving.STARTING)
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        pass_fds=[lock.file],
    ) as heir:
        os.close(lock.file)
        assert serving.take_now(place) is None
        heir.kill()
    assert serving.take_now(place) is not None


def test_one_of_other_books_that_was_handed_down_is_refused(tmp_path: Path, place: str) -> None:
    other = serving.place_of(str(tmp_path / "other.sqlite3"))
    with serving.take(place, serving.STARTING) as lock, serving.take(other, serving.STARTING):
        lock.refuse_another(place)
        with pytest.raises(DatabaseRefused, match="is not the lock that was handed"):
            lock.refuse_another(other)


def test_two_ways_to_the_same_books_are_one_lock(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for each in (one, two):
        each.mkdir()
    (one / "board.sqlite3").touch()
    (two / "board.sqlite3").symlink_to(one / "board.sqlite3")
    places = {serving.place_of(str(each / "board.sqlite3")) for each in (one, two)}
    assert places == {str(one / "board.sqlite3.serving")}
    place = serving.place_of(str(two / "board.sqlite3"), on_server=True)
    assert place == str(two / "serving"), "each machine has its own"


@pytest.mark.parametrize(("mode", "wanted"), [(0o700, 0o600), (0o770, 0o660), (0o750, 0o600)])
def test_writers_of_the_folder_may_take_the_lock(
    tmp_path: Path, place: str, mode: int, wanted: int
) -> None:
    tmp_path.chmod(mode)
    with serving.take(place, serving.SERVING):
        assert stat.S_IMODE(os.stat(place).st_mode) == wanted


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_one_that_root_has_made_is_that_of_the_owner_of_the_folder(
    tmp_path: Path, place: str
) -> None:
    os.chown(tmp_path, 65534, 65534)
    with serving.take(place, serving.RESTORING):
        assert (os.stat(place).st_uid, os.stat(place).st_gid) == (65534, 65534)


def test_a_disk_that_locks_nothing_is_named(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(serving.fcntl, "flock", flock)
    with pytest.raises(DatabaseRefused, match="must be on a disk of this machine"):
        serving.take(place, serving.SERVING)
    assert not serving.is_held(place)


def test_a_link_or_a_folder_in_its_place_is_named(tmp_path: Path, place: str) -> None:
    os.symlink(tmp_path / "elsewhere", place)
    with pytest.raises(DatabaseRefused, match="serving cannot be opened: "):
        serving.take(place, serving.SERVING)
    assert not (tmp_path / "elsewhere").exists()
    os.unlink(place)
    os.mkdir(place)
    with pytest.raises(DatabaseRefused, match="serving cannot be opened: "):
        serving.take(place, serving.SERVING)


def test_a_malformed_note_does_not_block_the_lock(place: str) -> None:
    Path(place).write_bytes(b"\xff\0nonsense\n=\n")
    with serving.take(place, serving.SERVING) as lock:
        assert lock.left == ""
