"""A host and a server that see and may do different things: a server that may not write where the
host reads, one that does not see that folder at all, and one of another user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from door.lines import hand_over
from tests.door import hosting
from tests.door.hosting import BOARD, GENEROUS, HANG_UP, Host, Visit, hosted
from tests.door.processes import dealt_door

MINUTE = 60
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
HIDDEN = 'mount -t tmpfs none "$0" && exec "$@"'
# Numbers of users and of their group that this machine need not know.
SERVER, BBS, GROUP = 4_000_001, 4_000_002, 4_000_003


def refuses_namespaces() -> bool:
    """Whether this user may not give a process a view of the disk of its own."""
    tried = ["unshare", "--mount", "true"]
    return shutil.which(tried[0]) is None or bool(subprocess.run(tried, check=False).returncode)


def as_user(user: int) -> tuple[str, ...]:
    return ("setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups")


async def wins(host: Host) -> tuple[Visit, int]:
    """Play until more was won than lost; return how many whole minutes are theirs then."""
    visit = await host.on_socket("--dropfile", str(host.node(1)))
    await visit.comes_in()
    await visit.sits_down()
    await visit.plays_until(lambda host: host.won >= MINUTE)
    return visit, host.won // MINUTE


@pytest.mark.skipif(refuses_namespaces(), reason="This user may not make mount namespaces.")
@pytest.mark.parametrize("world", [READ_ONLY, HIDDEN], ids=["read-only", "hidden"])
async def test_a_server_serves_a_caller_with_files_out_of_its_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: str
) -> None:
    def program(host: Host) -> tuple[str, ...]:
        inside = ("sh", "-c", world, str(host.node(1)))
        return ("unshare", "--mount", *inside, *dealt_door(host.folder))

    monkeypatch.setattr(Host, "program", program)
    toml = hosting.with_keys(BOARD, "black-jack-for-time", {"turns_per_day": 0, **GENEROUS})
    async with hosted(tmp_path, toml=toml, at_server=True) as host:
        host.node(1)
        visit, minutes = await wins(host)
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes
        assert host.given_back() == [(minutes, "written")]


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that other users reach, which is not so of one that pytest makes."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run servers as the owner of the data folder; a third user owns that of node 1."""

    async def serve(host: Host) -> None:
        data = host.config.board.data
        for path in (data, *data.iterdir()):
            os.chown(path, SERVER, GROUP)
            path.chmod(0o2770 if path.is_dir() else 0o660)
        texts = host.folder / "texts"
        texts.mkdir()
        os.chown(texts, SERVER, GROUP)
        host.node(1).chmod(0o700)
        os.chown(host.node(1), BBS, -1)
        await usual(host)

    usual = Host.serve
    monkeypatch.setattr(Host, "serve", serve)
    monkeypatch.setattr(Host, "program", lambda host: as_user(SERVER) + dealt_door(host.folder))


@pytest.mark.usefixtures("another_user")
@pytest.mark.skipif(os.geteuid() != 0, reason="Only root can be two other users.")
async def test_a_server_of_another_user_serves_callers_of_its_group(
    shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "dealt_door", lambda folder: as_user(BBS) + dealt_door(folder))
    toml = hosting.with_keys(BOARD, "black-jack-for-time", {"turns_per_day": 0, **GENEROUS})
    toml = toml.replace("[board]", '[board]\ndata_mode = "0770"')
    async with hosted(shared_folder, toml=toml, at_server=True) as host:
        sock = (host.config.board.data / hand_over.NAME).stat()
        assert (sock.st_uid, sock.st_gid, sock.st_mode & 0o777) == (SERVER, GROUP, 0o660)
        visit, minutes = await wins(host)
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        assert host.moduser() == minutes
        assert (host.node(1) / "MODUSER.DAT").stat().st_uid == BBS
        assert host.given_back() == [(minutes, "written")]


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root can have a server of another user.")
@pytest.mark.usefixtures("another_user")
async def test_root_is_the_sysop_at_a_server_of_another_user(shared_folder: Path) -> None:
    async with hosted(shared_folder, at_server=True) as host:
        visit = await host.on_terminal("--local", name="Sysop")
        await visit.terminal.until("You have sysop powers now.")
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
