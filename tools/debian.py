"""A Debian package of the program, with units, user and folders: `python -m tools.debian FOLDER`.

The package contains its wheels and creates an environment of the machine's own Python in /opt/bjft
when it is installed, without downloads. It fits the architecture and the Python of the machine that
builds it, so build it on the same release of Debian. The build needs `dpkg-deb` and pip's index.

    apt install ./bjft_1.0.0_amd64.deb

The board does not start by itself: read /etc/bjft/sysop.toml, then run `systemctl enable --now
bjft`. Commands given outside a board's folder are for that board. A purge of the package leaves
/var/lib/bjft, because it holds the callers' time.
"""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import tomllib
from email.utils import formatdate
from pathlib import Path

import tomlkit

from tools import manual
from tools.page import text

HOUSE = Path(__file__).parent.parent
UNITS = HOUSE / "door" / "setup" / "files" / "systemd"
WHEELS = Path("usr/share/bjft/wheels")
DOCUMENTS = Path("usr/share/doc/bjft")
EXTRAS = "console,pages,postgres,ssh,web"
MODE_OF_SCRIPT = 0o755

CONTROL = """\
Package: bjft
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Depends: python3 (>= {python}), python3 (<< {next_python}), python3-venv, passwd
Section: comm
Priority: optional
Description: Black Jack For Time, a BBS door game board
 A board over telnet, SSH and the web, and a door for other boards, which
 deals black jack for minutes online. Its books always balance.
"""
CHANGES = """\
bjft ({version}) stable; urgency=medium

  * Release {version}: see CHANGELOG.md.

 -- {maintainer}  {date}
"""
COMMAND = """\
#!/bin/sh
# Outside a board's folder, commands are for the board of this package.
if [ ! -e sysop.toml ] && [ -z "$BJFT_CONFIG" ]; then
    export BJFT_CONFIG=/etc/bjft/sysop.toml
fi
exec /opt/bjft/bin/{command} "$@"
"""
# Run again after an update: the environment is rebuilt, whatever the old one was. The settings may
# hold the secrets of other boards. Who reads them is changed only if they are as dpkg unpacks them.
POSTINST = """\
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
getent passwd bjft >/dev/null || useradd --system --user-group \\
    --home-dir /var/lib/bjft --shell /usr/sbin/nologin bjft
install -d -o bjft -g bjft -m 0700 /var/lib/bjft /var/lib/bjft/backups
if [ "$(stat -c '%U:%G %a' /etc/bjft/sysop.toml)" = 'root:root 644' ]; then
    chgrp bjft /etc/bjft/sysop.toml
    chmod 0640 /etc/bjft/sysop.toml
fi
rm -rf /opt/bjft.new
python3 -m venv /opt/bjft.new
/opt/bjft.new/bin/pip --isolated install --quiet --no-index --find-links /{wheels} \\
    --disable-pip-version-check 'blackjack-for-time[{extras}]=={version}'
# Scripts name their Python by its whole path; the Python itself is a link, and stays one.
find /opt/bjft.new/bin -type f -exec sed -i 's|/opt/bjft.new/|/opt/bjft/|g' {{}} +
rm -rf /opt/bjft
mv /opt/bjft.new /opt/bjft
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart bjft.service
fi
"""
# Only systemctl knows what the sysop has enabled. It removes links without a running systemd too.
PRERM = """\
#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
units="{units}"
if command -v systemctl >/dev/null; then
    systemctl --quiet disable $units || true
fi
if [ -d /run/systemd/system ]; then
    systemctl stop $units || true
fi
"""
POSTRM = """\
#!/bin/sh
set -e
case "$1" in remove|purge) rm -rf /opt/bjft /opt/bjft.new ;; esac
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
"""
OVERRIDES = """\
# The units are enabled by the sysop, with systemctl, and not by this package.
bjft: maintainer-script-calls-systemctl
"""
FOLDERS = {"data": "/var/lib/bjft", "texts": "/var/lib/bjft/texts"}


def settings() -> str:
    """Return the settings of a new board, with the folders of the package."""
    document = tomlkit.parse(text())
    document["board"].update(FOLDERS)
    return tomlkit.dumps(document)


def units() -> list[str]:
    """Return the units to stop and disable: those that start something first."""
    names = (path.name for path in UNITS.iterdir() if path.is_file())
    return sorted(names, key=lambda name: (name.endswith(".service"), name))


def lay_out(root: Path) -> None:
    """Put everything but the wheels where it belongs below a root."""
    shutil.copytree(UNITS, root / "lib/systemd/system")
    _write(root / "etc/bjft/sysop.toml", settings())
    for command in manual.COMMANDS:
        _write(root / "usr/bin" / command, COMMAND.format(command=command), MODE_OF_SCRIPT)
    manual.write(root / "usr", version())
    zsh = root / "usr/share/zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")  # Debian's place for packages
    for page in (root / "usr" / manual.MAN).iterdir():
        _compress(page)
    no_pictures = shutil.ignore_patterns("screens")
    shutil.copytree(HOUSE / "docs", root / DOCUMENTS / "docs", ignore=no_pictures)
    shutil.copy(HOUSE / "CHANGELOG.md", root / DOCUMENTS)
    shutil.copy(HOUSE / "LICENSE", root / DOCUMENTS / "copyright")
    dated = formatdate((HOUSE / "CHANGELOG.md").stat().st_mtime)
    entry = CHANGES.format(version=version(), maintainer=maintainer(), date=dated)
    _write(root / DOCUMENTS / "changelog", entry)
    _compress(root / DOCUMENTS / "changelog")
    _write(root / "usr/share/lintian/overrides/bjft", OVERRIDES)
    for path in (root, *root.rglob("*")):
        path.chmod(MODE_OF_SCRIPT if path.is_dir() else path.stat().st_mode & ~0o022 | 0o044)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def _compress(path: Path) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


def version() -> str:
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def maintainer() -> str:
    """Return who builds the package, as Debian's other tools know them."""
    address = os.environ.get("DEBEMAIL") or f"root@{socket.getfqdn()}"
    return f"{os.environ.get('DEBFULLNAME') or 'Sysop'} <{address}>"


def write_control(root: Path) -> str:
    """Write dpkg's control file, and return the name of the package's file."""
    architecture = _output("dpkg", "--print-architecture")
    major, minor = sys.version_info[:2]
    known = {
        "version": version(),
        "architecture": architecture,
        "maintainer": maintainer(),
        "python": f"{major}.{minor}",
        "next_python": f"{major}.{minor + 1}",
        "wheels": WHEELS,
        "extras": EXTRAS,
        "units": " ".join(units()),
    }
    folder = root / "DEBIAN"
    _write(folder / "control", CONTROL.format(**known))
    _write(folder / "conffiles", "/etc/bjft/sysop.toml\n")
    for name, script in {"postinst": POSTINST, "prerm": PRERM}.items():
        _write(folder / name, script.format(**known), MODE_OF_SCRIPT)
    _write(folder / "postrm", POSTRM, MODE_OF_SCRIPT)
    return f"bjft_{known['version']}_{architecture}.deb"


def _output(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def main(folder: Path) -> Path:
    """Build the package into a folder, and return its file."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        root.chmod(0o755)
        lay_out(root)
        wheels = root / WHEELS
        what = f"{HOUSE}[{EXTRAS}]"
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "-w", wheels, what], check=True
        )
        shutil.rmtree(HOUSE / "build", ignore_errors=True)  # setuptools' leftovers
        made = folder / write_control(root)
        words = ("dpkg-deb", "--build", "--root-owner-group", str(root), str(made))
        subprocess.run(words, check=True)
    return made


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
