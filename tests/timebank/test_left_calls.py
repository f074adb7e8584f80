"""Processes that have left calls in the books."""

import os
from pathlib import Path

import pytest

from tests.timebank.books import settings_for
from timebank import serving
from timebank.serving import left_to, this_process
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
    """Leave the traces of a killed server."""
    lock = serving.take(bank.lock, serving.SERVING)
    with open(bank.lock, "r+") as file:
        text = file.read().replace(this_process(), SERVER)
        file.seek(0)
        file.truncate()
        file.write(text)
    os.close(lock.file)


def test_under_the_lock_of_a_file_every_other_process_has_ended(file: BankSettings) -> None:
    with serving.take(file.lock, serving.STARTING) as lock:
        for process in (SERVER, OTHER, f"door {OTHER}"):  # the last as release 1.0 names doors
            assert left_to(lock, in_file=True)(process)
    assert not left_to(None, in_file=True)(SERVER), "nothing is known without it"


def test_of_books_on_a_server_the_last_one_of_this_folder_has_ended(
    on_server: BankSettings,
) -> None:
    was_killed(on_server)
    with serving.take(on_server.lock, serving.STARTING) as lock:
        assert left_to(lock, in_file=False)(SERVER)
        assert not left_to(lock, in_file=False)(OTHER)
