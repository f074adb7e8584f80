"""Servers in processes of their own: started, asked through their pipes, ended by their own id."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 20.0  # seconds that a server has for closing
STATM = Path("/proc/self/statm")


class Usage(NamedTuple):
    """The resources of a process: seconds of CPU so far, kilobytes of memory now."""

    cpu: float
    memory: float


def environment() -> dict[str, str]:
    """The environment of a child that shall find this very program."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def more_files() -> None:
    """Raise this process's limit of open connections to the system's."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def kept_port(host: str = "127.0.0.1") -> Iterator[int]:
    """Yield a free port for a program to listen on, and keep it from all others meanwhile.

    The system gives the port of a bound socket to nobody else. SO_REUSEADDR, which servers set
    too, lets one of them listen on it.
    """
    with socket.socket() as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wire.bind((host, 0))
        port: int = wire.getsockname()[1]
        yield port


class Child:
    """A server that runs until `close`: it obeys lines on its input, and ends where that ends."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self.port = int(self._answer())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def usage(self) -> Usage:
        return Usage(*self.ask("usage"))

    def ask(self, order: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a server ended unasked (its status is {self._process.wait()})")
        return json.loads(answer)


async def obey(port: int, orders: Mapping[str, Callable[[str], object]]) -> None:
    """Print the port, then answer orders from standard input until that ends.

    An order is a word and perhaps a text after it.
    """
    known = {"usage": _usage, **orders}
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print(json.dumps(port), flush=True)
    while order := (await reader.readline()).decode():
        word, _, rest = order.strip().partition(" ")
        print(json.dumps(known[word](rest)), flush=True)


def _usage(_: str) -> Usage:
    return Usage(time.process_time(), _memory())


def _memory() -> float:
    """Resident kilobytes; where the system does not say, the most there ever were."""
    if STATM.exists():
        return int(STATM.read_text().split()[1]) * resource.getpagesize() / 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
