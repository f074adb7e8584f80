"""From a wheel to a hand: install into a bare environment, `door init`, `door serve`, a call.

Then a hand and `timebank accounts`. The limit of a minute is processor time, because the machine
may be busy.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests import ROOT
from tests.door.playing import Table
from tests.door.processes import Served, audits_are_clean, open_a_hand, question
from tests.world import PASSWORD, confirm_look, log_on
from tools import check_page, manual

pytestmark = pytest.mark.long

SOURCES = (
    *("ansi", "door", "timebank", "tools", "setup.py", "pyproject.toml", "README.md", "LICENSE"),
    *("sysop.toml", "MANIFEST.in", "CHANGELOG.md", "docs"),
)
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
MINUTE = 60.0


def run(*words: str | Path, folder: Path, **environment: str) -> str:
    """Run a command in a folder, with nothing of this Python's own in its environment."""
    known = {key: os.environ[key] for key in ("PATH", "HOME", "XDG_CACHE_HOME")}
    done = subprocess.run(
        words, cwd=folder, env=known | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheel_built_in(folder: Path, *changes: tuple[str, str, str]) -> Path:
    """Build the wheel from a copy of the sources, where setuptools may leave files.

    A change is a file, a text in it, and the replacement.
    """
    sources = folder / "sources"
    sources.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            junk = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, sources / name, ignore=junk, symlinks=True)
        else:
            shutil.copy(ROOT / name, sources)
    for name, before, after in changes:
        text = (sources / name).read_text(encoding="utf-8")
        assert before in text
        (sources / name).write_text(text.replace(before, after), encoding="utf-8")
    name = run(sys.executable, "-c", BUILD, folder, folder=sources).splitlines()[-1]
    return folder / name


def assert_is_complete(wheel: Path) -> None:
    """All that the packages have is in it."""
    with zipfile.ZipFile(wheel) as archive:
        there = set(archive.namelist())
    ours = {
        str(each.relative_to(ROOT))
        for package in ("ansi", "door", "timebank")
        for each in (ROOT / package).rglob("*")
        if each.is_file() and each.suffix not in (".pyc", ".po", ".pot")
    }
    assert ours - there == set()
    share = f"blackjack_for_time-{wheel.name.split('-')[1]}.data/data/share"
    documents = {
        f"{share}/doc/blackjack-for-time/docs/{path.relative_to(ROOT / 'docs')}"
        for path in (ROOT / "docs").rglob("*.md")
        if "screens" not in path.parts
    }
    assert len(documents) > 30
    pages = {f"{share}/man/man1/{page}.1" for name in manual.COMMANDS for page in pages_of(name)}
    completions = {
        f"{share}/bash-completion/completions/door",
        f"{share}/zsh/site-functions/_timebank",
        f"{share}/fish/vendor_completions.d/door.fish",
    }
    assert documents | pages | completions <= there
    with zipfile.ZipFile(wheel) as archive:
        page = archive.read(f"{share}/doc/blackjack-for-time/check.html").decode("utf-8")
    assert page == check_page.built()


def pages_of(name: str) -> set[str]:
    """The pages of a command and of all below it, by their names."""

    def below(command: click.Command, name: str) -> Iterator[str]:
        yield name
        for other, each in getattr(command, "commands", {}).items():
            yield from below(each, f"{name}-{other}")

    return set(below(manual.COMMANDS[name], name))


def installed(wheel: Path, folder: Path) -> Path:
    """Install only a wheel, next to its own Python; return the folder of the commands.

    Its dependencies are those of the suite's Python, as there may be no network here.
    """
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder.parent)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    install(wheel, folder)
    # As paths alone: editable installs stay out of reach.
    others = [each for each in sys.path if each.endswith("-packages")]
    (packages / "others.pth").write_text("\n".join(others), encoding="utf-8")
    where = run(folder / "bin/python", "-c", "import door; print(door.__file__)", folder=folder)
    assert where.startswith(str(packages))
    return folder / "bin"


def install(wheel: Path, folder: Path) -> None:
    """Install or update a wheel, as a sysop does."""
    run(
        *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet"),
        *("--no-deps", "--no-index", "--disable-pip-version-check", wheel),
        folder=folder,
    )


class FromTheWheel(Served):
    """A board that is served by an installed command."""

    commands: Path

    def program(self) -> tuple[str, ...]:
        return (str(self.commands / "door"),)


def spent() -> float:
    """Seconds of the processor that processes have taken which have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def test_from_a_wheel_to_a_hand_in_a_minute(tmp_path: Path) -> None:
    begun = spent()
    wheel = wheel_built_in(tmp_path)
    assert_is_complete(wheel)
    commands = installed(wheel, tmp_path / "python")
    asked = {"_DOOR_COMPLETE": "bash_complete", "COMP_WORDS": "door dra", "COMP_CWORD": "1"}
    assert run(commands / "door", folder=tmp_path, **asked) == "plain,drain\n"
    assert "door-drain.1" in os.listdir(commands.parent / manual.MAN)
    page = run(commands / "door", "docs", "guide/running", folder=tmp_path)
    assert page == (ROOT / "docs/guide/running.md").read_text("utf-8")
    listed = run(commands / "door", "docs", folder=tmp_path)
    assert listed.startswith(
        f"The documents are in {commands.parent}/share/doc/blackjack-for-time/"
    )
    folder = tmp_path / "board"
    folder.mkdir()
    answers = ("--yes", "--sysop", "Ann", "--port", "0", "--with", "all")
    output = run(commands / "door", "init", *answers, folder=folder, BJFT_SYSOP_PASSWORD=PASSWORD)
    assert "Ann is registered, with sysop powers." in output
    assert f"    {commands / 'door'} serve\n" in output
    settings = folder / "sysop.toml"
    # The nightly event of a new board may come while this runs.
    text = re.sub(r"\[\[events\]\]\n(.+\n)+", "", settings.read_text(encoding="utf-8"))
    text = text.replace("[board]\n", '[board]\nanimation = "off"\n')
    settings.write_text(f"events = []\n{text}", encoding="utf-8")
    board = FromTheWheel(folder)
    board.commands = commands
    try:
        await board.serve()
        ann = Table(board, await board.call(), "Ann")
        await log_on(ann.terminal, "Ann")
        await confirm_look(ann.terminal)
        while await question(ann, "Press any key", "oodbye", "tour?") != "oodbye":
            ann.terminal.send("n" if "tour?" in ann.prompt_row else " ")
            await ann.terminal.wait_for(lambda here: not here.shows("ress any key"), "what comes")
        ann.terminal.send("b")
        await ann.prompt("<B>et")
        await open_a_hand(ann)
        assert "Ann" in run(commands / "timebank", "accounts", folder=folder)
    finally:
        await board.close()
    audits_are_clean(board)
    assert spent() - begun < MINUTE
