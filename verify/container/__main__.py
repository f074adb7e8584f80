"""Build the container that `door init --with container` writes, from this clone, and run it.

It needs buildah, a base image with Python and pip's way to the package index. Everything runs
without a daemon and without root's cgroups (`--isolation chroot`), on the network of this machine:
the board listens on a port of its own there. What was made is taken away at the end.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "door" / "setup" / "files" / "container" / "Containerfile"
TAG = "localhost/bjft-verify"
# What the image must say of itself: it is nobody's root, keeps its data and can be asked.
USER, VOLUME, CHECK = "bjft", "/board", ["CMD", "door", "nodes", "--json"]
PATIENCE = 60.0


def buildah(*words: str | Path) -> str:
    return subprocess.run(["buildah", *words], capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def container(image: str) -> Iterator[str]:
    name = buildah("from", "--pull=false", image).strip()
    try:
        yield name
    finally:
        buildah("rm", name)


def built(base: str, folder: Path, *, with_all: bool) -> None:
    """Build the image of a wheel of this clone, and of what it depends on `with_all`."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "-w", folder, ROOT]
    subprocess.run([*words, *([] if with_all else ["--no-deps"])], check=True)
    shutil.rmtree(ROOT / "build", ignore_errors=True)  # what setuptools leaves there
    shutil.copy(CONTAINERFILE, folder)
    what = ("--format", "docker", "--isolation", "chroot", "--build-arg", f"BASE={base}")
    buildah("bud", *what, "--tag", TAG, folder)


def says_what_it_is() -> None:
    found = json.loads(buildah("inspect", "--type", "image", TAG))["Docker"]["config"]
    assert found["User"] == USER, found
    assert list(found["Volumes"]) == [VOLUME], found
    assert found["Healthcheck"]["Test"] == CHECK, found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as port:
        return int(port.getsockname()[1])


def serves(name: str) -> None:
    """Make a board in the container, open it, call it, ask whether it is well, and close it."""
    run = ("run", "--isolation", "chroot", name, "--")
    port = free_port()
    assert buildah(*run, "id", "-un").strip() == USER
    buildah(*run, "door", "init", "--yes", "--port", str(port), VOLUME)
    words = ["buildah", *run, "door", "serve"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as board:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), 5) as call:
                    assert call.recv(1)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < until, "the board does not open"
                time.sleep(0.2)
        buildah(*run, *CHECK[1:])
        buildah(*run, "door", "stop")
        said, _ = board.communicate(timeout=PATIENCE)
    assert board.returncode == 0, said
    assert "Closing" in said
    buildah(*run, "timebank", "audit")


@click.command()
@click.option("--base", default="docker.io/library/python:3.13-slim", show_default=True)
@click.option(
    "--wheels",
    is_flag=True,
    help="Bring all wheels along: for a base with this Python's version and no way to the index.",
)
def main(base: str, wheels: bool) -> None:
    """Build and run the container on a BASE image with Python 3.11 or later."""
    if shutil.which("buildah") is None:
        raise click.ClickException("buildah is not installed.")
    try:
        with tempfile.TemporaryDirectory() as folder:
            built(base, Path(folder), with_all=wheels)
        says_what_it_is()
        with container(TAG) as name:
            serves(name)
    except subprocess.CalledProcessError as error:
        raise click.ClickException(f"{error}\n{error.stderr}") from error
    click.echo("The container was built, opened a board, took a call, was well, and closed.")


if __name__ == "__main__":
    main()
