"""`timebank backup --all`: one file with the whole board, and what a restore of it writes."""

from __future__ import annotations

import errno
import io
import shutil
import sqlite3
import stat
import subprocess
import tarfile
from pathlib import Path

import asyncssh
import pytest
from click.testing import CliRunner

from timebank.cli.main import main

WORDS = "correct horse"


@pytest.fixture
def board(board, folder):
    """Ann's board with two texts and an SSH key."""
    call = board.call(board.caller("Ann"))
    call.lose(60)
    call.close()
    data, texts = folder / "data", folder / "texts"
    data.mkdir(exist_ok=True)
    (texts / "fr").mkdir(parents=True)
    (texts / "welcome.asc").write_text("Welcome to my board.\n", "utf-8")
    (texts / "fr" / "news.asc").write_bytes(b"\xe9t\xe9\r\n")
    key = data / "ssh_host_key"
    key.write_bytes(asyncssh.generate_private_key("ssh-ed25519").export_private_key())
    key.chmod(0o600)
    return board


@pytest.fixture
def passphrase(folder: Path) -> str:
    path = folder / "passphrase"
    path.write_text(f"{WORDS}\n", "utf-8")
    return str(path)


@pytest.fixture
def dump(board, timebank, folder: Path, passphrase: str) -> Path:
    path = folder / "board.tar"
    timebank.says("backup", "--all", "--passphrase-file", passphrase, str(path))
    return path


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of another machine."""
    path = tmp_path / "elsewhere"
    path.mkdir()
    return path / "sysop.toml"


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {each.name: tar.extractfile(each).read() for each in tar}


def test_the_dump_says_what_it_holds_and_needs_no_program_of_ours(
    board, timebank, folder: Path, passphrase: str
) -> None:
    path = folder / "board.tar"
    said = timebank.says("backup", "--all", "--passphrase-file", passphrase, str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    held = members(path)
    name = next(name for name in held if name.startswith("books."))
    assert list(held) == [
        *("CONTENTS.txt", "sysop.toml", "texts/fr/news.asc", "texts/welcome.asc"),
        *("ssh_host_key.pem", name),
    ]
    assert said == f"{path} holds 4 transfers, and is in order.\n{held['CONTENTS.txt'].decode()}"
    for words in (f"{name}: 4 transfers, in order", "texts: 2 files", "ssh_host_key.pem: the SSH"):
        assert words in said
    assert held["sysop.toml"] == (folder / "sysop.toml").read_bytes()
    assert held["texts/fr/news.asc"] == b"\xe9t\xe9\r\n"
    if name == "books.sqlite3":
        copy = folder / "by hand"
        copy.write_bytes(held[name])
        assert sqlite3.connect(copy).execute("SELECT count(*) FROM transfers").fetchone() == (4,)
    assert b"PRIVATE KEY" in held["ssh_host_key.pem"]
    assert asyncssh.import_private_key(held["ssh_host_key.pem"], WORDS)
    with pytest.raises(asyncssh.KeyImportError):
        asyncssh.import_private_key(held["ssh_host_key.pem"])
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_opens_the_key(dump: Path, folder: Path) -> None:
    sealed = folder / "sealed.pem"
    sealed.write_bytes(members(dump)["ssh_host_key.pem"])
    ran = subprocess.run(
        ["openssl", "pkey", "-in", sealed, "-passin", f"pass:{WORDS}", "-noout"], check=False
    )
    assert ran.returncode == 0


def test_without_a_passphrase_the_key_is_left_out(board, timebank, folder: Path) -> None:
    path = folder / "board.tar"
    said = timebank.says("backup", "--all", str(path))
    assert "No SSH key, because no passphrase was given" in said
    assert "ssh_host_key.pem" not in members(path)


@pytest.mark.of_a_file
def test_a_board_comes_back_in_an_empty_folder(
    dump: Path, elsewhere: Path, passphrase: str
) -> None:
    words = ["--passphrase-file", passphrase, "--config", str(elsewhere), str(dump)]
    tried = CliRunner().invoke(main, ["restore", "--dry-run", *words])
    assert (tried.exit_code, tried.stderr) == (0, "")
    assert list(elsewhere.parent.iterdir()) == []
    done = CliRunner().invoke(main, ["restore", *words])  # nothing is undone: it does not ask
    assert (done.exit_code, done.stderr) == (0, "")
    home, new = dump.parent, elsewhere.parent
    for name in ("sysop.toml", "texts/welcome.asc", "texts/fr/news.asc"):
        assert (new / name).read_bytes() == (home / name).read_bytes()
        assert str(new / name) in done.stdout
    keys = [asyncssh.read_private_key(each / "data" / "ssh_host_key") for each in (home, new)]
    assert keys[0] == keys[1]
    assert stat.S_IMODE((new / "data" / "ssh_host_key").stat().st_mode) == 0o600
    audit = CliRunner().invoke(main, ["audit", "--config", str(elsewhere)])
    assert audit.exit_code == 0, audit.stdout


@pytest.mark.of_a_file
def test_files_that_are_here_stay_and_those_that_differ_are_named(
    board, dump: Path, timebank, folder: Path
) -> None:
    (folder / "texts" / "welcome.asc").write_text("Newer.\n", "utf-8")
    (folder / "texts" / "fr" / "news.asc").unlink()
    board.database.close()
    said = timebank.says("restore", "--yes", str(dump))
    welcome, news = folder / "texts" / "welcome.asc", folder / "texts" / "fr" / "news.asc"
    assert f"Written: {news}.\n" in said
    assert f"Not as in the backup, and stays as it is: {welcome}.\n" in said
    assert "The SSH key stays sealed in the backup: --passphrase-file opens it.\n" in said
    assert welcome.read_text("utf-8") == "Newer.\n"


def test_a_wrong_passphrase_changes_nothing(board, dump: Path, elsewhere: Path) -> None:
    words = ["restore", "--passphrase-file", "-", "--config", str(elsewhere), str(dump)]
    done = CliRunner().invoke(main, words, input="wrong\n")
    assert (done.exit_code, done.stderr) == (2, "The passphrase does not open the SSH key.\n")
    assert list(elsewhere.parent.iterdir()) == []


def test_a_dump_that_is_cut_off_or_not_ours_changes_nothing(
    dump: Path, elsewhere: Path, folder: Path
) -> None:
    def refused(path: Path) -> str:
        done = CliRunner().invoke(main, ["restore", "--config", str(elsewhere), str(path)])
        assert done.exit_code == 2
        assert list(elsewhere.parent.iterdir()) == []
        return done.stderr

    cut = folder / "cut.tar"
    cut.write_bytes(dump.read_bytes()[:-20_000])
    assert "is cut off or damaged" in refused(cut)
    other = folder / "other.tar"
    with tarfile.open(other, "w") as tar:
        tar.addfile(tarfile.TarInfo("notes.txt"), io.BytesIO())
    assert refused(other) == f"{other} is not a backup of a board: it lacks books or sysop.toml.\n"


@pytest.mark.of_a_file
def test_a_member_cannot_leave_the_folders_of_the_board(dump: Path, elsewhere: Path) -> None:
    with tarfile.open(dump, "a") as tar:
        for name in ("texts/../../evil", "/evil", "evil", "texts//evil"):
            member = tarfile.TarInfo(name)
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("texts/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    done = CliRunner().invoke(main, ["restore", "--config", str(elsewhere), str(dump)])
    assert done.exit_code == 0, done.stderr
    new = elsewhere.parent
    written = {str(each.relative_to(new)) for each in new.rglob("*") if each.is_file()}
    assert {each for each in written if "data/" not in each} == {
        *("sysop.toml", "texts/welcome.asc", "texts/fr/news.asc", "texts/evil")
    }
    assert not any(each.name == "evil" for each in new.parent.iterdir())


def test_a_full_disk_is_a_sentence_and_leaves_no_half(
    board, timebank, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "board.tar"

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    assert timebank.refuses("backup", "--all", str(path)) == (
        f"{path} cannot be written: No space left on device.\n"
    )
    assert not path.exists()
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


# What a restore undoes.


@pytest.mark.of_a_file
def test_a_restore_shows_what_it_undoes_and_asks(board, dump: Path, timebank) -> None:
    board.wait(2 * 86_400)
    call = board.call(board.caller("Bob"))
    call.lose(60)
    call.close()
    number = board.sql("SELECT max(id) FROM transfers")
    board.database.close()
    code, said, error = timebank("restore", str(dump))
    assert (code, error) == (1, "Aborted!\n")
    assert said.startswith("Nothing was changed. A restore would do this:\nIt undoes 4 transfers, ")
    assert "1 call, 1 hand, 1 caller (Bob), from 20" in said
    assert " to 2026-03-03 12:00.\n" in said
    assert said.endswith("Restore? [y/N]: ")
    assert board.sql("SELECT max(id) FROM transfers") == number
    board.database.close()
    result = CliRunner().invoke(
        main, ["restore", "--config", str(timebank.config), str(dump)], input="y\n"
    )
    assert result.exit_code == 0, result.stderr
    assert board.sql("SELECT name FROM callers") == [("Ann",)]
