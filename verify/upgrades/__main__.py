"""The command `python -m verify.upgrades`: a rolling upgrade with two real builds, under callers.

    python -m verify.upgrades a4b80fb3
    python -m verify.upgrades a4b80fb3 --seconds 60 --robots 16

A wheel is built of the commit that is named, the release before, which must have the same tables,
and one of what is committed now, as the release after it. Two servers of the release before serve
one board from books on a server of PostgreSQL, which is started for the run; robots call both. Then
each server in turn drains, and one of the new release takes its place. What may not serve beside it
is tried meanwhile. At the end both releases' callers are compared with the books, and these are
audited.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click

from bench.processes import ROOT
from door.config import config as settings
from door.games import hands
from timebank.audit import accounts
from timebank.ledger.engines import books_of
from verify.kills.rounds import BAD, forgive_half_screens
from verify.kills.server import served
from verify.robots import HASTY, Robot, check, copied

PACE = replace(HASTY, stays=(3600.0, 7200.0), away=(0.5, 2.0), patience=5.0)
STARTING, ENDING = 120.0, 90.0  # seconds
LAG = 30.0  # that a screen may be behind the books
RUN = "from door.cli.entry import main; main()"
PREPARE = """
import json, sys
from pathlib import Path
from verify.robots import house
folder, names, url = json.loads(sys.argv[1])
house.prepare(Path(folder), names, url)
"""
VERSION = re.compile(r'^version = "(\d+)\.(\d+)\.', re.MULTILINE)


@dataclass(frozen=True)
class Build:
    """A release: its sources, and where its wheel is installed."""

    version: str
    sources: Path
    place: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.place), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this release."""
        return subprocess.run(
            [sys.executable, "-c", RUN, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )


def built(commit: str, folder: Path, version: str = "") -> Build:
    """Build a wheel of a commit, as this version if one is named, and install it."""
    sources, place = folder / "sources", folder / "installed"
    sources.mkdir(parents=True)
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(sources)], input=packed.stdout, check=True)
    project = sources / "pyproject.toml"
    text = project.read_text("utf-8")
    found = VERSION.search(text)
    assert found is not None, f"{commit} says no version"
    version = version or f"{found[1]}.{found[2]}.0"
    project.write_text(VERSION.sub(f'version = "{version}"\n# was: ', text, count=1), "utf-8")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    alone = ("--no-deps", "--no-build-isolation")
    wheels = folder / "wheels"
    subprocess.run([*pip, "wheel", *alone, "-w", str(wheels), str(sources)], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "install", *alone, "--target", str(place), str(wheel)], check=True)
    return Build(version, sources, place)


def after(version: str, by: int = 1) -> str:
    first, second, *_ = version.split(".")
    return f"{first}.{int(second) + by}.0"


class Server:
    """One of the board's servers, on a machine of its own as far as it knows."""

    def __init__(self, name: str, folder: Path, template: str) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.config = self.folder / "sysop.toml"
        self.port, link = free_port(), free_port()
        own = f'\n[server]\nname = "{name}"\nlink = "127.0.0.1:{link}"\n'
        text = template.replace("port = 0", f"port = {self.port}")
        self.config.write_text(text + own, "utf-8")
        self.log = self.folder / "server.log"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, build: Build) -> None:
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", RUN, "serve", "--config", str(self.config)),
                stdout=log,
                stderr=log,
                env=build.environment,
                cwd="/",
            )
        async with asyncio.timeout(STARTING):
            while True:
                assert self._process.returncode is None, self.log.read_text()
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    return
                await asyncio.sleep(0.2)

    async def refuses(self, build: Build) -> str:
        """Start it where it may not serve; give the last line that it says."""
        told = await asyncio.to_thread(build.run, "serve", "--config", str(self.config))
        assert told.returncode == 2, told
        return told.stderr.strip().splitlines()[-1]

    async def drains(self, build: Build) -> None:
        """Drain it twice, so that it closes, and wait for its end."""
        assert self._process is not None
        for _ in range(2):
            words = ("drain", "--config", str(self.config), "--server", self.name)
            told = await asyncio.to_thread(build.run, *words)
            if told.returncode and self._process.returncode is None:
                raise AssertionError(told.stderr)
            await asyncio.sleep(2)
        await self.ends()

    async def ends(self) -> None:
        assert self._process is not None
        async with asyncio.timeout(ENDING):
            assert await self._process.wait() == 0, self.log.read_text()

    async def stops(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        await self.ends()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._process is not None:
                self._process.kill()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextlib.asynccontextmanager
async def calling(robots: Sequence[Robot]) -> AsyncIterator[None]:
    stop = asyncio.Event()
    tasks = [asyncio.create_task(robot.play(stop)) for robot in robots]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)


class Upgrade:
    def __init__(self, folder: Path, before: Build, now: Build, later: Build, url: str) -> None:
        self.before, self.now, self.later = before, now, later
        self.folder, self.url = folder, url
        self.wrong: list[str] = []

    async def play(self, count: int, seconds: float) -> None:
        names = [f"Robot {number}" for number in range(1, count + 1)]
        await asyncio.to_thread(self._prepare, names)
        template = (self.folder / "sysop.toml").read_text("utf-8")
        one, two, third = (Server(name, self.folder, template) for name in ("A", "B", "C"))
        chance = random.Random(1)
        robots = [
            Robot(name, "127.0.0.1", 0, chance.getrandbits(32), pace=PACE, is_known=True)
            for name in names
        ]
        for number, robot in enumerate(robots):
            robot.port = (one, two)[number % 2].port
        try:
            await one.start(self.before)
            await two.start(self.before)
            async with calling(robots):
                await self._under(seconds, robots, f"both of {self.before.version}")
                await two.drains(self.before)
                await two.start(self.now)
                self._say("beside one of the release before", "serves")
                shown = await asyncio.to_thread(
                    self.now.run, "nodes", "--json", "--config", str(two.config)
                )
                assert len(json.loads(shown.stdout)["servers"]) == 2, shown
                await self._under(seconds, robots, "one of each")
                self._say(
                    "the release before, started after that", await third.refuses(self.before)
                )
                self._say("two releases on", await third.refuses(self.later))
                await one.drains(self.before)
                await one.start(self.now)
                await self._under(seconds, robots, f"both of {self.now.version}")
            await one.stops()
            await two.stops()
        finally:
            for server in (one, two, third):
                server.kill()
        self._compare(robots, (one, two))

    def _prepare(self, names: Sequence[str]) -> None:
        """Have the release before make the books, and enter all callers."""
        told = json.dumps([str(self.folder), names, self.url])
        env = {**self.before.environment, "PYTHONPATH": str(self.before.sources)}
        subprocess.run([sys.executable, "-c", PREPARE, told], env=env, check=True, cwd="/")

    async def _under(self, seconds: float, robots: Sequence[Robot], what: str) -> None:
        """Let robots play for a while; each of the servers must have somebody to serve."""
        keys = [robot.seen.keys for robot in robots]
        await asyncio.sleep(seconds)
        played = [robot.seen.keys - before for robot, before in zip(robots, keys, strict=True)]
        for number, whose in enumerate((played[::2], played[1::2])):
            if not sum(whose):
                self.wrong.append(f"{what}: nobody plays at server {'AB'[number]}")
        self._say(what, f"{sum(played)} keys")

    def _say(self, what: str, said: str) -> None:
        click.echo(f"{what}: {said}")

    def _compare(self, robots: Sequence[Robot], servers: Sequence[Server]) -> None:
        bank = settings.load(servers[0].config).bank
        database = books_of(bank)
        database.open_existing()
        with database.reading(bank, datetime.now(UTC)) as desk:
            self.wrong += map(str, [*accounts.audit(desk), *hands.audit(desk)[0]])
        database.close()
        everybody = [robot.seen for robot in robots]
        for seen in everybody:
            forgive_half_screens(seen)
        compared = check.against_the_books(copied.to_read(bank, self.folder), everybody, LAG)
        self.wrong += compared.wrong
        self.wrong += [
            f"{server.log}: {server.log.read_text()[-2000:]}"
            for server in servers
            if BAD.search(server.log.read_text())
        ]
        longest = max((wait[0] for seen in everybody for wait in seen.unanswered), default=0.0)
        self._say(
            "compared",
            f"{sum(seen.calls for seen in everybody)} calls, {compared.hands} hands,"
            f" {compared.settlements} settlements seen, longest wait {longest:.1f} s",
        )


@click.command()
@click.argument("before")
@click.option("--robots", default=12, show_default=True, help="How many call.")
@click.option("--seconds", default=20.0, show_default=True, help="How long each stage is.")
def main(before: str, robots: int, seconds: float) -> None:
    """Upgrade a board from the commit BEFORE to what is committed now, under callers."""
    folder = Path(tempfile.mkdtemp(prefix="upgrades-"))
    old = built(before, folder / "before")
    new = built("HEAD", folder / "now", after(old.version))
    later = built("HEAD", folder / "later", after(old.version, 2))
    with served() as url:
        board = folder / "board"
        board.mkdir()
        upgrade = Upgrade(board, old, new, later, url)
        asyncio.run(upgrade.play(robots, seconds))
    for words in upgrade.wrong:
        click.echo(words)
    if upgrade.wrong:
        click.echo(f"Something was wrong; all of it is in {folder}.")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
