"""A board of one file: `timebank backup --all`, and a restore on another machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from asyncssh import import_private_key

from door.lines.ssh import host_key
from tests.door.processes import NEWS, OPEN_ALL_DAY, Served, audits_are_clean, served
from tests.world import log_on

TOML = OPEN_ALL_DAY.replace('name = "The Test Board"', 'name = "Moved"\ntexts = "our texts"')
WELCOME = "This screen came with the dump."


def timebank(folder: Path, *words: str, typed: str = "") -> str:
    """Run the command in a process of its own, in a folder."""
    program = "from timebank.cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        input=typed,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout


def unpack(dump: Path, folder: Path) -> None:
    subprocess.run(["tar", "xf", dump, "--exclude=books.sqlite3"], check=True, cwd=folder)


async def test_a_board_is_dumped_while_it_serves_and_starts_again_elsewhere(tmp_path: Path) -> None:
    home, away, dump = tmp_path / "home", tmp_path / "away", tmp_path / "dump.tar"
    for folder in (home, away):
        folder.mkdir()
    (home / "our texts").mkdir()
    (home / "our texts" / "welcome.asc").write_text(f"{WELCOME}\n", "ascii")
    async with served(home, toml=TOML) as board:
        board.enter("Ada")
        key = host_key.host_key(home / "data")
        terminal = await board.call()
        await log_on(terminal, "Ada")
        await terminal.until(NEWS)
        words = ("backup", "--all", "--passphrase-file", "-", str(dump))
        assert "ssh_host_key.pem" in timebank(home, *words, typed="four words\n")
    unpack(dump, away)
    assert "Closed 1 call that the copy had open." in timebank(away, "restore", str(dump))
    sealed = (away / "ssh_host_key.pem").read_bytes()
    plain = import_private_key(sealed, "four words").export_private_key("pkcs8-pem")
    (away / "data" / "ssh_host_key").write_bytes(plain)
    assert host_key.existing(away / "data") == key
    moved = Served(away)
    try:
        await moved.serve()
        terminal = await moved.call()
        await log_on(terminal, "Ada")
        assert WELCOME in terminal.transcript
        await terminal.until("The books of this board were restored")
    finally:
        await moved.close()
    audits_are_clean(moved)
