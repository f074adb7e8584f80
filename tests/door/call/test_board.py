"""What is known of the processes that have left calls in the books."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from door.call.process import BY_ITSELF, left_beside, left_to, lock_of
from tests.timebank.books import settings_for
from timebank import serving
from timebank.serving import this_process
from timebank.settings.place import read_place
from timebank.settings.settings import BankSettings

SERVER, OTHER = "here/4026531836:12", "there/4026531836:12"


@pytest.fixture
def file(tmp_path: Path) -> BankSettings:
    return settings_for(tmp_path)


@pytest.fixture
def on_server(tmp_path: Path) -> BankSettings:
    return settings_for(tmp_path, server=read_place("postgresql://host/books"))


def was_killed(bank: BankSettings) -> None:
    """Leave behind what a server that was killed has left."""
    lock = serving.take(lock_of(bank), serving.SERVING)
    with open(lock_of(bank), "r+") as file:
        text = file.read().replace(this_process(), SERVER)
        file.seek(0)
        file.truncate()
        file.write(text)
    os.close(lock.file)


def test_under_the_lock_of_a_file_every_other_server_has_ended(file: BankSettings) -> None:
    with serving.take(lock_of(file), serving.STARTING) as lock:
        assert left_to(lock, file)(SERVER)
        assert left_to(lock, file)(OTHER)
    assert not left_to(None, file)(SERVER), "nothing is known without it"


def test_of_books_on_a_server_the_last_one_of_this_folder_has_ended(
    on_server: BankSettings,
) -> None:
    was_killed(on_server)
    has_ended = left_beside(on_server, is_server=False)
    assert has_ended(SERVER)
    assert not has_ended(OTHER)
    with serving.take(lock_of(on_server), serving.STARTING) as lock:
        assert left_to(lock, on_server)(SERVER)
        assert not left_to(lock, on_server)(OTHER)
        assert not has_ended(SERVER), "the next server closes its calls"


def test_a_server_that_runs_knows_that_no_other_one_has_left_calls(file: BankSettings) -> None:
    assert not left_beside(file, is_server=True)(SERVER)


def test_a_door_by_itself_looks_whether_a_server_runs(file: BankSettings) -> None:
    has_ended = left_beside(file, is_server=False)
    with serving.take(lock_of(file), serving.SERVING):
        assert not has_ended(SERVER)
    assert has_ended(SERVER)


# Doors that serve their callers themselves hold no lock.


def door(number: int) -> str:
    return f"{BY_ITSELF}{this_process().rpartition(':')[0]}:{number}"


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_door_lives_until_its_process_has_ended(file: BankSettings, has_lock: bool) -> None:
    with serving.take(lock_of(file), serving.STARTING) as lock:
        has_ended = left_to(lock, file) if has_lock else left_beside(file, is_server=True)
        assert not has_ended(door(os.getpid()))
        assert not has_ended(f"{BY_ITSELF}another machine:1")
        assert not has_ended(f"{BY_ITSELF}no number at all")
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as killed:
            assert not has_ended(door(killed.pid))
            killed.kill()
            os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
            assert has_ended(door(killed.pid)), "before its parent has taken note"
        assert has_ended(door(killed.pid))
