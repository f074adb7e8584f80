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

from door.lines.ssh import host_key
from timebank.cli.main import main

WORDS = "correct horse"


@pytest.fixture
def board(board, folder):
    """Ann's board with two texts and both SSH keys."""
    call = board.call(board.caller("Ann"))
    call.lose(60)
    call.close()
    data, texts = folder / "data", folder / "texts"
    data.mkdir(exist_ok=True)
    (texts / "fr").mkdir(parents=True)
    (texts / "welcome.asc").write_text("Welcome to my board.\n", "utf-8")
    (texts / "fr" / "news.asc").write_bytes(b"\xe9t\xe9\r\n")
    for kind, name in host_key.FILES.items():
        (data / name).write_bytes(asyncssh.generate_private_key(kind).export_private_key())
        (data / name).chmod(0o600)
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
        *("ssh_host_key.pem", "ssh_host_rsa_key.pem", name),
    ]
    assert said == f"{path} holds 4 transfers, and is in order.\n{held['CONTENTS.txt'].decode()}"
    for words in (f"{name}: 4 transfers, in order", "texts/welcome.asc", "sealed with the pass"):
        assert words in said
    assert held["sysop.toml"] == (folder / "sysop.toml").read_bytes()
    assert held["texts/fr/news.asc"] == b"\xe9t\xe9\r\n"
    if name == "books.sqlite3":
        copy = folder / "by hand"
        copy.write_bytes(held[name])
        assert sqlite3.connect(copy).execute("SELECT count(*) FROM transfers").fetchone() == (4,)
    for each in ("ssh_host_key.pem", "ssh_host_rsa_key.pem"):
        assert f"{each}: an SSH key, sealed with the passphrase" in said
        assert asyncssh.import_private_key(held[each], WORDS)
        with pytest.raises(asyncssh.KeyImportError):
            asyncssh.import_private_key(held[each])
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def test_without_a_passphrase_the_keys_are_left_out(board, timebank, folder: Path) -> None:
    path = folder / "board.tar"
    said = timebank.says("backup", "--all", str(path))
    assert "No SSH keys are in it; --passphrase-file adds them." in said
    assert [name for name in members(path) if name.startswith("ssh")] == []


def test_a_key_in_the_form_that_openssl_writes_is_sealed_too(
    board, timebank, folder: Path, passphrase: str
) -> None:
    """So is it in the data folder after a board was put back as its contents say."""
    path, key = folder / "board.tar", folder / "data" / "ssh_host_key"
    key.write_bytes(asyncssh.read_private_key(key).export_private_key("pkcs8-pem"))
    timebank.says("backup", "--all", "--passphrase-file", passphrase, str(path))
    sealed = members(path)["ssh_host_key.pem"]
    assert asyncssh.import_private_key(sealed, WORDS) == asyncssh.read_private_key(key)


@pytest.mark.of_a_file
def test_a_board_comes_back_in_an_empty_folder_as_its_contents_say(
    dump: Path, elsewhere: Path
) -> None:
    told = CliRunner().invoke(main, ["restore", "--config", str(elsewhere), str(dump)])
    assert (told.exit_code, told.stderr) == (
        2,
        f"There is no {elsewhere} here."
        " `tar xf FILE` unpacks it from a backup of the whole board.\n",
    )
    unpack, *open_keys = members(dump)["CONTENTS.txt"].decode().splitlines()[-3:]
    tar, _, restore = unpack.strip().replace("FILE", str(dump)).partition("; timebank ")
    subprocess.run(tar.split(), check=True, cwd=elsewhere.parent)
    done = CliRunner().invoke(main, [*restore.split(), "--config", str(elsewhere)])
    assert (done.exit_code, done.stderr) == (0, "")  # nothing is undone: it does not ask
    if shutil.which("openssl"):
        for open_key, name in zip(open_keys, host_key.FILES.values(), strict=True):
            words = [*open_key.split(), "-passin", f"pass:{WORDS}"]
            subprocess.run(words, check=True, cwd=elsewhere.parent)
            keys = [each.parent / "data" / name for each in (dump, elsewhere)]
            assert asyncssh.read_private_key(keys[0]) == asyncssh.read_private_key(keys[1])
    for name in ("sysop.toml", "texts/welcome.asc", "texts/fr/news.asc"):
        assert (elsewhere.parent / name).read_bytes() == (dump.parent / name).read_bytes()
    assert not (elsewhere.parent / "books.sqlite3").exists()
    audit = CliRunner().invoke(main, ["audit", "--config", str(elsewhere)])
    assert audit.exit_code == 0, audit.stdout


@pytest.mark.of_a_file
def test_texts_elsewhere_are_among_the_texts(board, timebank, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "news.asc").write_text("News.\n", "utf-8")
    config = folder / "sysop.toml"
    text = config.read_text("utf-8")
    config.write_text(text.replace("[board]\n", f'[board]\ntexts = "{tmp_path}"\n'), "utf-8")
    timebank.says("backup", "--all", str(folder / "board.tar"))
    assert members(folder / "board.tar")["texts/news.asc"] == b"News.\n"


def test_a_dump_that_is_cut_off_or_not_ours_changes_nothing(
    board, dump: Path, timebank, folder: Path
) -> None:
    cut = folder / "cut.tar"
    cut.write_bytes(dump.read_bytes()[:-20_000])
    assert "is cut off or damaged" in timebank.refuses("restore", str(cut))
    other = folder / "other.tar"
    with tarfile.open(other, "w") as tar:
        tar.addfile(tarfile.TarInfo("notes.txt"), io.BytesIO())
        link = tarfile.TarInfo("books.sqlite3")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert timebank.refuses("restore", str(other)) == (
        f"{other} is not a backup of a board: it holds no books.\n"
    )


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
