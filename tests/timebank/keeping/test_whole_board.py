"""`timebank backup --all`: one file with the whole board, and what a restore of it writes."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import asyncssh
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from door.lines.ssh import host_key
from timebank import files
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
    texts.mkdir()
    (texts / "welcome.asc").write_text("Welcome to my board.\n", "utf-8")
    (texts / "news.fr.ans").write_bytes(b"\xe9t\xe9\r\n")
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
        *("CONTENTS.txt", "sysop.toml", "texts/news.fr.ans", "texts/welcome.asc"),
        *("ssh_host_key.pem", "ssh_host_rsa_key.pem", name),
    ]
    assert said == f"{path} holds 4 transfers, and is in order.\n{held['CONTENTS.txt'].decode()}"
    for words in (f"{name}: 4 transfers, in order", "texts/welcome.asc", "sealed with the pass"):
        assert words in said
    assert held["sysop.toml"] == (folder / "sysop.toml").read_bytes()
    assert held["texts/news.fr.ans"] == b"\xe9t\xe9\r\n"
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


def test_a_board_without_keys_is_not_asked_for_a_passphrase_to_add_them(
    board, timebank, folder: Path, passphrase: str
) -> None:
    for key in (folder / "data").glob("ssh_host*"):
        key.unlink()
    for path, *given in (("a.tar",), ("b.tar", "--passphrase-file", passphrase)):
        said = timebank.says("backup", "--all", *given, str(folder / path))
        assert "No SSH keys are in it; the board has none." in said


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
    for name in ("sysop.toml", "texts/welcome.asc", "texts/news.fr.ans"):
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


@pytest.mark.of_a_file
@pytest.mark.parametrize("texts", [".", "data", "../{}-texts"])
def test_only_screens_that_the_board_shows_are_among_the_texts(
    board, timebank, folder: Path, texts: str
) -> None:
    """Keys and passwords in the same folder are not, and no file that another user's link names."""
    texts = texts.format(folder.name)
    config, home = folder / "sysop.toml", folder / texts
    text = config.read_text("utf-8").replace("[board]\n", f'[board]\ntexts = "{texts}"\n')
    config.write_text(text, "utf-8")
    home.mkdir(exist_ok=True)
    for name in ("welcome.ans", "password.txt"):
        (home / name).write_text("Welcome.\n", "utf-8")
    (folder / "secret").write_text("secret", "utf-8")
    os.link(folder / "secret", home / "bank.ans")
    (home / "news.ans").symlink_to("nowhere")
    os.mkfifo(home / "menu.ans")
    timebank.says("backup", "--all", str(folder / "board.tar"))
    held = list(members(folder / "board.tar"))
    top = {".": "", "data": "data/"}.get(texts, "texts/")
    assert held == ["CONTENTS.txt", "sysop.toml", f"{top}welcome.ans", "books.sqlite3"]
    if top == "texts/":
        shutil.rmtree(home)


@pytest.mark.of_a_file
@pytest.mark.parametrize("words", [b"", b"\r\n", b"x" * 1024])
def test_a_passphrase_that_seals_nothing_is_refused(
    board, timebank, folder: Path, words: bytes
) -> None:
    (folder / "passphrase").write_bytes(words)
    asked = ("backup", "--all", "--passphrase-file", str(folder / "passphrase"))
    assert timebank.refuses(*asked, str(folder / "board.tar")) == (
        "The passphrase, the first line of its file, must have 1 to 1023 bytes.\n"
    )
    assert not (folder / "board.tar").exists()


@pytest.mark.of_a_file
def test_a_file_without_an_end_is_no_passphrase(board, timebank, folder: Path) -> None:
    asked = ("backup", "--all", "--passphrase-file", "/dev/zero", str(folder / "board.tar"))
    assert "must have 1 to 1023 bytes" in timebank.refuses(*asked)


@pytest.mark.of_a_file
def test_a_passphrase_without_the_whole_board_is_refused(
    board, timebank, folder: Path, passphrase: str
) -> None:
    """Its sysop would believe that the copy has the keys."""
    asked = ("backup", "--passphrase-file", passphrase, str(folder / "board.sqlite3"))
    assert "--passphrase-file seals keys, which only --all copies." in timebank.refuses(*asked)


@pytest.mark.of_a_file
def test_a_passphrase_in_any_letters_seals_as_it_stands(board, timebank, folder: Path) -> None:
    """Editors of Windows begin a file with a mark that nobody could type again."""
    (folder / "passphrase").write_bytes(b"\xef\xbb\xbfc\xe9dre\r\n")
    asked = ("backup", "--all", "--passphrase-file", str(folder / "passphrase"))
    timebank.says(*asked, str(folder / "board.tar"))
    sealed = members(folder / "board.tar")["ssh_host_key.pem"]
    assert load_pem_private_key(sealed, b"c\xe9dre")


@pytest.mark.of_a_file
def test_keys_that_no_library_can_seal_are_refused_with_what_to_install(
    board, timebank, folder: Path, passphrase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extra was there when the board made the keys; this machine has the books alone."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    asked = ("backup", "--all", "--passphrase-file", passphrase, str(folder / "board.tar"))
    assert "'blackjack-for-time[ssh]'" in (said := timebank.refuses(*asked))
    assert said.startswith("A library that seals keys is missing: run ")


@pytest.mark.of_a_file
def test_the_contents_name_folders_outside_the_board(
    board, timebank, folder: Path, passphrase: str, tmp_path: Path
) -> None:
    """Debian's package has its settings in /etc, and all else in /var/lib."""
    home = tmp_path / "etc"
    home.mkdir()
    data, texts = folder / "data", folder / "texts"
    (home / "sysop.toml").write_text(f'[board]\ndata = "{data}"\ntexts = "{texts}"\n', "utf-8")
    asked = ("backup", "--config", str(home / "sysop.toml"), "--all", str(tmp_path / "board.tar"))
    told = CliRunner().invoke(main, [*asked, "--passphrase-file", passphrase])
    steps = [line.strip() for line in told.stdout.splitlines()[-3:]]
    assert steps == [
        f"mkdir -p {texts}; mv texts/* {texts}",
        f"openssl pkey -in ssh_host_key.pem -out {data}/ssh_host_key",
        f"openssl pkey -in ssh_host_rsa_key.pem -out {data}/ssh_host_rsa_key",
    ]


@pytest.mark.of_a_file
def test_a_file_of_the_board_that_cannot_be_read_is_named(
    board, timebank, folder: Path, passphrase: str
) -> None:
    key = folder / "data" / "ssh_host_key"
    key.unlink()
    key.mkdir()
    asked = ("backup", "--all", "--passphrase-file", passphrase, str(folder / "board.tar"))
    assert timebank.refuses(*asked) == f"{key} cannot be read: Is a directory.\n"


@pytest.mark.of_a_file
@pytest.mark.parametrize("books", [b"garbage", b"SQLite format 3\0garbage", b"PGDMP"])
def test_a_refusal_names_the_dump_and_not_where_its_books_were_unpacked(
    board, timebank, folder: Path, books: bytes
) -> None:
    path = folder / "board.tar"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("books.sqlite3")
        member.size = len(books)
        tar.addfile(member, io.BytesIO(books))
    assert f"{path} " in (said := timebank.refuses("restore", "--yes", str(path)))
    assert "/timebank-" not in said


@pytest.mark.of_a_file
@pytest.mark.parametrize("packing", [bz2, gzip, lzma])
def test_a_packed_dump_is_no_backup(board, dump: Path, timebank, folder: Path, packing) -> None:
    """Half of one would be an error that each way of packing has for itself."""
    packed = folder / "packed"
    whole = packing.compress(dump.read_bytes())
    for data in (whole, whole[: len(whole) // 2], whole[:30]):
        packed.write_bytes(data)
        assert timebank.refuses("restore", str(packed)) == f"{packed} is not a backup of books.\n"


@pytest.mark.of_a_file
def test_a_full_disk_for_temporary_files_is_not_blamed_on_the_dump(
    board, dump: Path, timebank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "put_new", full)
    assert timebank.refuses("restore", str(dump)) == (
        f"{dump} cannot be unpacked into {tempfile.gettempdir()}: No space left on device.\n"
    )


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
