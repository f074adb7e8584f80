"""Which users of this machine may read the board's files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from door.config import config as settings
from door.config import privacy
from door.config.config import Config
from tests.certificates import pair
from tests.door.processes import served
from tests.door.shell import Shell
from tests.door.strangers import defended, refusals
from tests.world import world
from timebank.errors import SettingsError


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"


def board(folder: Path, data_mode: str = "", more: str = "") -> Config:
    path = folder / "sysop.toml"
    line = f'data_mode = "{data_mode}"\n' if data_mode else ""
    path.write_text(f"[board]\n{line}{more}", encoding="utf-8")
    return settings.load(path)


def with_books(config: Config, folder_mode: int = 0o755) -> Path:
    """An old board's data folder."""
    data = config.board.data
    data.mkdir()
    data.chmod(folder_mode)
    (data / "board.sqlite3").touch(0o600)
    return data


def checked(config: Config) -> str:
    result = Shell(config.path)("check")
    assert result.status == 0
    return result.output.replace(str(config.path.parent), "HERE")


async def test_a_new_board_hides_its_data_and_lets_the_group_read_the_log(
    tmp_path: Path,
) -> None:
    async with served(tmp_path):
        data = tmp_path / "data"
        assert mode(data) == "0700"
        assert mode(data / "refused.log") == "0640"
        assert mode(data / "board.sqlite3") == "0600"
        assert mode(data / "door.sock") == "0600"
    assert ": run chmod" not in checked(settings.load(tmp_path / "sysop.toml"))


async def test_a_rotated_refusal_log_is_no_more_open_than_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("door.defence.reception.LOG_BYTES", 2000)
    async with world(tmp_path, toml=defended()) as here:
        while not (tmp_path / "data" / "refused.log.1").exists():
            here.server.board.reception.malformed("192.0.2.7", "nothing")
        assert refusals(here)
    for name in ("refused.log", "refused.log.1"):
        assert mode(tmp_path / "data" / name) == "0640"


@pytest.mark.parametrize(
    ("set_to", "folder"), [("", "0700"), ("0750", "0750"), ("770", "0770"), ("0755", "0755")]
)
def test_a_new_folder_is_as_the_sysop_says(tmp_path: Path, set_to: str, folder: str) -> None:
    config = board(tmp_path, set_to)
    privacy.make_folder(config)
    assert mode(config.board.data) == folder
    assert privacy.restrict_modes(config) == privacy.doubts(config) == []


@pytest.mark.parametrize("wrong", ["0777", "0600", "rwx------", "0702", "01700"])
def test_a_mode_that_no_folder_should_have_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(SettingsError, match='must be the mode of a folder such as "0700"'):
        board(tmp_path, wrong)


def test_a_start_closes_files_that_an_earlier_version_left_open(
    tmp_path: Path,
) -> None:
    config = board(tmp_path)
    data = with_books(config)
    (data / "refused.log").touch(0o644)
    text = checked(config)
    assert "HERE/data is 0755: run chmod 0700 HERE/data.\n" in text
    assert "HERE/data/refused.log is 0644: run chmod 0640 HERE/data/refused.log.\n" in text
    lines = privacy.restrict_modes(config)
    assert lines == [
        f"{data} was 0755 and is 0700 now; data_mode in [board] can say otherwise",
        f"{data}/refused.log was 0644 and is 0640 now; data_mode in [board] can say otherwise",
    ]
    assert (mode(data), mode(data / "refused.log")) == ("0700", "0640")
    assert privacy.doubts(config) == []


def test_files_that_the_sysop_opened_or_closed_stay_so(tmp_path: Path) -> None:
    config = board(tmp_path, "0755")
    data = with_books(config, 0o750)
    (data / "refused.log").touch(0o644)
    assert privacy.restrict_modes(config) == []
    assert (mode(data), mode(data / "refused.log")) == ("0750", "0644")


def test_a_shared_folder_is_reported_and_left(tmp_path: Path) -> None:
    config = board(tmp_path)
    config.board.data.mkdir()
    config.board.data.chmod(0o1777)
    (config.board.data / "board.sqlite3").touch(0o600)
    (line,) = privacy.restrict_modes(config)
    assert line.endswith(f"is 1777: run chmod 1700 {config.board.data}")
    assert mode(config.board.data) == "1777"


def test_books_that_a_group_shares_are_no_matter_where_it_may_write(tmp_path: Path) -> None:
    shared, alone = board(tmp_path, "0770"), board(tmp_path, "0750")
    data = with_books(shared, 0o750)
    (data / "board.sqlite3").chmod(0o660)
    assert privacy.doubts(shared) == []
    books = data / "board.sqlite3"
    assert privacy.doubts(alone) == [f"{books} is 0660: run chmod 0600 {books}."]


def test_readable_copies_logs_keys_and_secrets_are_reported(tmp_path: Path) -> None:
    for name, content in zip(("certificate.pem", "key.pem"), pair(), strict=True):
        (tmp_path / name).write_bytes(content)
    more = (
        '[[listeners]]\nkind = "telnets"\ncertificate = "certificate.pem"\nkey = "key.pem"\n'
        '[boards.Xibalba]\naddresses = ["192.0.2.7"]\nsecret = "jaguar"\n'
    )
    config = board(tmp_path, more=more)
    data = with_books(config, 0o700)
    for name in ("board.sqlite3.v3-backup", "board.sqlite3-wal", "server.log"):
        (data / name).touch(0o644)
    (data / "THEBANK.EXT").touch(0o644)
    lines = [line for line in checked(config).splitlines() if "run chmod" in line]
    assert [line.split()[0] for line in lines] == [
        "HERE/data/board.sqlite3-wal",
        "HERE/data/board.sqlite3.v3-backup",
        "HERE/data/server.log",
        "HERE/key.pem",
        "HERE/sysop.toml",
    ]
    assert "jaguar" not in "".join(lines)


def test_a_folder_with_files_of_other_programs_is_reported_and_left(tmp_path: Path) -> None:
    config = board(
        tmp_path, more='[timebank]\nmode = "external"\nthebank_ext = "data/THEBANK.EXT"\n'
    )
    data = with_books(config)
    (line,) = privacy.restrict_modes(config)
    assert line == (
        f"{data} is 0755: run chmod 0700 {data},"
        f" once {data}/THEBANK.EXT is elsewhere: other programs use it"
    )
    assert mode(data) == "0755"
