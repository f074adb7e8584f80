"""Processes of the command `door` without the second that Python needs for its imports.

One process (`dealt.py --fork`) imports the modules once, and each `door` is a fork of it. The fork
is a child of the test's process with its own descriptors, environment and folder, and runs the
command as `dealt.py` does. It exits like any Python process, but skips freeing its memory: that
would copy every shared page and cost a quarter of the test's time. Only Linux lets a fork be the
child of its parent's parent (CLONE_PARENT). Elsewhere, and for other kinds of start, a process
starts as usual. `processes.dealt_door` always starts one as usual: for servers that are killed or
limited, and doors that load modules during a call.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import inspect
import io
import json
import os
import pkgutil
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

CLONE_PARENT, SIGCHLD = 0x8000, 17
SYS_CLONE = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
LIMITS = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_AS)
REQUEST_BYTES, MOST_DESCRIPTORS, HIGH = 1 << 20, 32, 500
DEALT = str(Path(__file__).with_name("dealt.py"))

BEFORE = dict(os.environ)  # the environment before any test has changed it

# Variables that a program reads while it starts.
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "GLIBC_", "MALLOC_", "OPENSSL_")


def command(*words: str, terminal: int | None = None) -> tuple[str, ...]:
    """Return the arguments of `asyncio.create_subprocess_exec` for `dealt.py` with these words.

    `terminal` is a descriptor that becomes the process's terminal, in its own session.
    """
    if not (sys.platform == "linux" and SYS_CLONE):
        begin = () if terminal is None else (sys.executable, "-c", BEGIN, str(terminal))
        return (*begin, sys.executable, DEALT, *words)
    _take_over()
    return (DEALT, str(terminal), *words)


BEGIN = "import os, sys; os.login_tty(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"


# The test's side


class _Parent:
    """The process that has imported everything, and is forked."""

    def __init__(self) -> None:
        self.started_with = _read_at_start(BEFORE)
        self._wire, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, DEALT, "--fork", str(far.fileno())],
            pass_fds=[far.fileno()],
            env=BEFORE,
        )
        far.close()
        atexit.register(self.close)

    def fork(self, request: dict[str, Any], descriptors: list[int]) -> int:
        socket.send_fds(self._wire, [json.dumps(request).encode()], descriptors)
        answer = self._wire.recv(64)
        assert answer, "the process that is forked has ended"
        return int(answer)

    def close(self) -> None:
        self._wire.close()
        self._process.wait()


@cache
def _parent() -> _Parent:
    return _Parent()


@cache
def _take_over() -> None:
    """Make `subprocess` fork where the program is `DEALT`; other programs start as usual."""
    usual = subprocess.Popen._execute_child
    asked = inspect.signature(usual)

    def execute(self: Any, *given: Any) -> None:
        how = asked.bind(self, *given).arguments
        if how["args"][0] != DEALT:
            return usual(self, *given)
        terminal, *words = how["args"][1:]
        environment = dict(os.environ if how["env"] is None else how["env"])
        if _read_at_start(environment) != _parent().started_with:
            begin = () if terminal == "None" else (sys.executable, "-c", BEGIN, terminal)
            bound = asked.bind(self, *given)
            bound.arguments["args"] = [*begin, sys.executable, DEALT, *words]
            bound.arguments["executable"] = bound.arguments["args"][0]
            return usual(*bound.args)
        assert how["preexec_fn"] is None
        assert not how["start_new_session"]
        ends = (how["p2cread"], how["c2pwrite"], how["errwrite"])
        descriptors = [number if end == -1 else end for number, end in enumerate(ends)]
        passed = sorted(how["pass_fds"])
        self.pid = _parent().fork(
            {
                "words": words,
                "terminal": None if terminal == "None" else int(terminal),
                "environment": environment,
                "folder": str(how["cwd"] or Path.cwd()),
                "targets": [0, 1, 2, *passed],
                "limits": [resource.getrlimit(limit) for limit in LIMITS],
            },
            [*descriptors, *passed],
        )
        self._child_created = True
        self._close_pipe_fds(
            *(how[end] for end in ("p2cread", "p2cwrite", "c2pread", "c2pwrite")),
            *(how[end] for end in ("errread", "errwrite")),
        )
        return None

    subprocess.Popen._execute_child = execute  # type: ignore[method-assign]


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


# The side that is forked


def serve(descriptor: int) -> list[str]:
    """Fork for each request; return in the children with their command line."""
    atexit.register(_end)  # registered first, so that it runs last
    import_all()
    make_ready()
    wire = socket.socket(fileno=descriptor)
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(wire, REQUEST_BYTES, MOST_DESCRIPTORS)
        if not message:
            sys.exit()
        pid = _fork_a_sibling()
        if pid == 0:
            wire.close()
            return _become(json.loads(message), descriptors)
        for number in descriptors:
            os.close(number)
        wire.send(str(pid).encode())


def import_all() -> None:
    for name in ("door", "timebank", "ansi"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in ("uvloop", "sqlalchemy.dialects.sqlite", "argon2"):
        with suppress(ImportError):
            importlib.import_module(name)


def make_ready() -> None:
    """Prepare what all processes share: the texts of statements, and the house's pictures."""
    from sqlalchemy import create_engine

    from door.lobby import texts
    from timebank.ledger.sql import STATEMENTS

    dialect = create_engine("sqlite://").dialect
    for statement in STATEMENTS:
        statement.text(dialect)
    for picture in texts.OURS.glob("*.ans"):
        texts.header_rows(texts._ours(picture.name))


def _fork_a_sibling() -> int:
    """Fork a child of our parent. We have one thread, and Python's own hooks are called."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid = ctypes.PyDLL(None).syscall(SYS_CLONE, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    assert pid >= 0
    return int(pid)


def _become(request: dict[str, Any], descriptors: list[int]) -> list[str]:
    """Adopt the descriptors, environment and folder of a new process."""
    import fcntl

    high = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, HIGH) for number in descriptors]
    os.closerange(0, HIGH)
    for number, target in zip(high, request["targets"], strict=True):
        os.dup2(number, target, inheritable=True)
        os.close(number)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    for limit, values in zip(LIMITS, request["limits"], strict=True):
        resource.setrlimit(limit, tuple(values))
    os.chdir(request["folder"])
    if request["terminal"] is not None:
        os.login_tty(request["terminal"])
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = _stream(0, "r")
    sys.stdout = sys.__stdout__ = _stream(1, "w", unbuffered=unbuffered)
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace", unbuffered=unbuffered)
    return list(request["words"])


_statuses: list[int] = []


def end_soon(code: object) -> None:
    """Exit a fork with the status of a SystemExit, after its threads and exit handlers.

    Python prints a status that is no number and exits as usual.
    """
    if code is None or isinstance(code, int):
        _statuses.append(code or 0)


def _end() -> None:
    if not _statuses:  # the process that is forked, or a fork that crashed
        return
    with suppress(OSError, ValueError):  # Python reports a failed write as usual
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_statuses[0] & 0xFF)


def _stream(
    descriptor: int, mode: str, errors: str = "strict", *, unbuffered: bool = False
) -> io.TextIOWrapper:
    raw: Any = open(descriptor, f"{mode}b", buffering=0 if unbuffered else -1, closefd=False)  # noqa: SIM115
    lines = descriptor == 2 or raw.isatty()
    return io.TextIOWrapper(
        raw, errors=errors, line_buffering=lines, write_through=unbuffered, newline="\n"
    )
