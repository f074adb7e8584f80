"""The Debian package: where its files are, what lintian says, and what it does at its removal."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from door.config import config
from tests import ROOT
from tests.door.server.test_systemd import exposures
from tools import manual

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="this is no Debian")

# In a process of its own: commands that click-man has read have no `-h` any more.
LAY_OUT = """
import pathlib, sys
from tools import debian
root = pathlib.Path(sys.argv[1])
debian.lay_out(root)
debian.write_control(root)
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is laid out, without the wheels, which need an index."""
    folder = tmp_path_factory.mktemp("debian") / "root"
    known = {**os.environ, "DEBFULLNAME": "Ann Lee", "DEBEMAIL": "ann@debian.org"}
    command = (sys.executable, "-c", LAY_OUT, folder)
    subprocess.run(command, cwd=ROOT, env=known, check=True, stderr=subprocess.DEVNULL)
    return folder


@pytest.mark.long
def test_lintian_finds_nothing_to_say(root: Path, tmp_path: Path) -> None:
    lintian = shutil.which("lintian")
    if lintian is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "lintian must be here"
        pytest.skip("lintian is not here")
    package = tmp_path / "bjft.deb"
    build = ("dpkg-deb", "--root-owner-group", "-z1", "--build", str(root), str(package))
    subprocess.run(build, check=True, capture_output=True)
    said = subprocess.run(
        (lintian, "--allow-root", "--fail-on", "error,warning", str(package)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stdout) == (0, "")


def test_man_pages_and_completions_are_where_the_system_looks(root: Path) -> None:
    share = root / "usr" / "share"
    for command in manual.COMMANDS:
        page = gzip.decompress((share / "man/man1" / f"{command}.1.gz").read_bytes())
        assert page.startswith(b'.TH "')
        for place in ("bash-completion/completions/{}", "zsh/vendor-completions/_{}"):
            assert command in (share / place.format(command)).read_text("utf-8")
        assert (share / "fish/vendor_completions.d" / f"{command}.fish").is_file()
    assert not list(share.rglob("*.1"))
    page = gzip.decompress((share / "man/man1/door-config-get.1.gz").read_bytes())
    assert b"Print the value of a KEY such as calls.nodes, or its default.\n.SH" in page  # whole


@pytest.mark.parametrize(
    ("here", "named", "used"),
    [
        (False, None, "/etc/bjft/sysop.toml"),
        (True, None, "-"),
        (False, "/bbs/own.toml", "/bbs/own.toml"),
        (True, "/bbs/own.toml", "/bbs/own.toml"),
    ],
)
def test_a_command_finds_the_board_of_the_package(
    root: Path, tmp_path: Path, here: bool, named: str | None, used: str
) -> None:
    script = (root / "usr/bin/timebank").read_text("utf-8")
    assert 'exec /opt/bjft/bin/timebank "$@"\n' in script
    shown = script.replace("exec /opt/bjft/bin/timebank", 'echo "${BJFT_CONFIG:--}"')
    if here:
        (tmp_path / "sysop.toml").touch()
    done = subprocess.run(
        ("sh", "-c", shown, "timebank", "accounts"),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]} | ({} if named is None else {"BJFT_CONFIG": named}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{used} accounts\n"


def test_the_removal_stops_and_disables_every_unit(root: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    (tmp_path / "systemctl").write_text(f'#!/bin/sh\necho "$*" >>{calls}\n', encoding="utf-8")
    (tmp_path / "systemctl").chmod(0o755)
    prerm = (root / "DEBIAN/prerm").read_text("utf-8").replace("/run/systemd/system", "/")
    known = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(("sh", "-c", prerm, "prerm", "upgrade", "2"), env=known, check=True)
    assert not calls.exists()
    subprocess.run(("sh", "-c", prerm, "prerm", "remove"), env=known, check=True)
    disabled, stopped = calls.read_text("utf-8").splitlines()
    shipped = {path.name for path in (root / "lib/systemd/system").iterdir() if path.is_file()}
    for line, verb in ((disabled, "--quiet disable"), (stopped, "stop")):
        assert line.startswith(f"{verb} ")
        assert set(line.removeprefix(f"{verb} ").split()) == shipped
    # What starts a unit ends before the unit.
    order = stopped.split()
    assert order.index("bjft-audit.timer") < order.index("bjft-audit.service")
    assert order.index("bjft.socket") < order.index("bjft.service")


def test_its_settings_and_units_are_in_order(root: Path) -> None:
    path = root / "etc/bjft/sysop.toml"
    assert config.load(path).board.data == Path("/var/lib/bjft")
    assert 'data = "/var/lib/bjft"\n' in path.read_text("utf-8")
    (root / "etc/systemd").mkdir()
    (root / "etc/systemd/system").symlink_to(root / "lib/systemd/system")
    exposed = exposures(root / "etc/systemd/system")
    assert {unit: level for unit, level in exposed.items() if level > 3.0} == {}
