"""A Debian package of the program, with units, user and folders: `python -m tools.debian FOLDER`.

The package contains its wheels and creates an environment of the machine's own Python in /opt/bjft
when it is installed, without downloads. It fits the architecture and the Python of the machine that
builds it, so build it on the same release of Debian. The build needs `dpkg-deb` and pip's index.

    apt install ./bjft_1.0.0_amd64.deb

The board does not start by itself: read /etc/bjft/sysop.toml, then run `systemctl enable --now
bjft`. A purge of the package leaves /var/lib/bjft, because it holds the callers' time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from door.config import default_file

HOUSE = Path(__file__).parent.parent
UNITS = HOUSE / "door" / "setup" / "files" / "systemd"
WHEELS = Path("usr/share/bjft/wheels")
EXTRAS = "console,pages,postgres,ssh,web"
MODE_OF_SCRIPT = 0o755

CONTROL = """\
Package: bjft
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Depends: python3 (>= {python}), python3 (<< {next_python}), python3-venv, passwd
Section: games
Priority: optional
Description: Black Jack For Time, a BBS door game board
 A board over telnet, SSH and the web, and a door for other boards, which
 deals black jack for minutes online. Its books always balance.
"""
# Run again after an update: the environment is rebuilt, whatever the old one was.
POSTINST = """\
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
getent passwd bjft >/dev/null || useradd --system --user-group \\
    --home-dir /var/lib/bjft --shell /usr/sbin/nologin bjft
install -d -o bjft -g bjft -m 0700 /var/lib/bjft /var/lib/bjft/backups
rm -rf /opt/bjft.new
python3 -m venv /opt/bjft.new
/opt/bjft.new/bin/pip install --quiet --no-index --find-links /{wheels} \\
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
PRERM = """\
#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
if [ -d /run/systemd/system ]; then
    systemctl disable --now bjft.socket bjft.service \\
        bjft-maintain.timer bjft-backup.timer bjft-audit.timer || true
fi
"""
POSTRM = """\
#!/bin/sh
set -e
case "$1" in remove|purge) rm -rf /opt/bjft /opt/bjft.new ;; esac
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
"""
SETTINGS = {
    'data = "data"': 'data = "/var/lib/bjft"',
    'texts = "texts"': 'texts = "/var/lib/bjft/texts"',
}


def settings() -> str:
    """Return the annotated settings, with the folders of the package."""
    text = default_file.text()
    for usual, ours in SETTINGS.items():
        assert usual in text
        text = text.replace(usual, ours, 1)
    return text


def lay_out(root: Path) -> None:
    """Put everything but the wheels where it belongs below a root."""
    units = root / "lib/systemd/system"
    units.mkdir(parents=True)
    for unit in sorted(UNITS.iterdir()):
        shutil.copy(unit, units)
    (root / "etc/bjft").mkdir(parents=True)
    (root / "etc/bjft/sysop.toml").write_text(settings(), encoding="utf-8")
    (root / "usr/bin").mkdir(parents=True)
    for command in ("door", "timebank"):
        (root / "usr/bin" / command).symlink_to(f"/opt/bjft/bin/{command}")


def write_control(root: Path) -> str:
    """Write dpkg's control file, and return the name of the package's file."""
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text("utf-8"))["project"]
    architecture = _output("dpkg", "--print-architecture")
    major, minor = sys.version_info[:2]
    known = {
        "version": project["version"],
        "architecture": architecture,
        "maintainer": _output("sh", "-c", "echo ${DEBEMAIL:-root@localhost}"),
        "python": f"{major}.{minor}",
        "next_python": f"{major}.{minor + 1}",
        "wheels": WHEELS,
        "extras": EXTRAS,
    }
    folder = root / "DEBIAN"
    folder.mkdir()
    (folder / "control").write_text(CONTROL.format(**known), encoding="utf-8")
    (folder / "conffiles").write_text("/etc/bjft/sysop.toml\n", encoding="utf-8")
    scripts = {"postinst": POSTINST.format(**known), "prerm": PRERM, "postrm": POSTRM}
    for name, script in scripts.items():
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(MODE_OF_SCRIPT)
    return f"bjft_{project['version']}_{architecture}.deb"


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
