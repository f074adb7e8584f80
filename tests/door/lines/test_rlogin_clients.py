"""rlogin programs that people and boards really have, in a terminal of their own."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.lines.rlogin.header import RloginHeader
from door.lines.rlogin.rlogin import USUAL_LIMITS
from tests.door.lines.board import PATIENCE
from tests.door.lines.host import Pty, terminal
from tests.door.lines.test_rlogin import open_port

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip

# A new session on the terminal, so that the program gets size changes; then the program.
BEGIN = "import os, sys; os.login_tty(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"


def installed(program: str, package: str) -> str:
    """Where a program is."""
    path = shutil.which(program)
    if path is None:
        missing = f"{program} is not installed (apt-get install {package})"
        assert NEED_CLIENTS not in os.environ, missing
        pytest.skip(f"{missing}; {NEED_CLIENTS} makes that a failure")
    return path


@asynccontextmanager
async def running(home: Path, *words: str, ends: int | None = 0) -> AsyncIterator[Pty]:
    """Run a program in a window of 100 columns and 40 rows; check its exit status."""
    with terminal() as window:
        window.resize(100, 40)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", BEGIN, str(window.slave), *words),
            pass_fds=(window.slave,),
            env=os.environ | {"TERM": "vt100", "LANG": "en_US.UTF-8", "HOME": str(home)},
        )
        try:
            yield window
            async with asyncio.timeout(PATIENCE):
                assert ends in (await process.wait(), None)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def test_the_rlogin_of_debian_sends_every_key_and_its_window(tmp_path: Path) -> None:
    rlogin = installed("rsh-redone-rlogin", "rsh-redone-client")
    async with (
        open_port(USUAL_LIMITS) as port,
        running(
            tmp_path, rlogin, "-p", str(port.listener.port), "-l", "Ada", "127.0.0.1"
        ) as window,
    ):
        call, header = await port.answered()
        assert (header.second, header.terminal, header.xtrn) == ("Ada", "vt100", "")
        await call.until(lambda call: call.sizes == [(100, 40)])
        for key in (b"a", b"\x03", b"\x13", b"\x11", b"\x1b[A", b"\xc3\xa9", b"\xff", b"\r"):
            call.typed.clear()
            window.far.types(key + b".")
            await call.until_typed(key + b".")
        window.resize(132, 50)
        await call.until(lambda call: call.sizes[-1] == (132, 50))
        call.line.write(b"\r\n\x80\xff\xc3\xa9Goodbye.")
        await window.far.until_shown(b"Board.\r\n\x80\xff\xc3\xa9Goodbye.")
        call.over.set()


async def test_plink_shows_the_output_and_sends_its_window(tmp_path: Path) -> None:
    plink = installed("plink", "putty-tools")
    sessions = tmp_path / ".putty" / "sessions"
    sessions.mkdir(parents=True)
    # Its own user is the first field, and has no option on the command line.
    (sessions / "board").write_text(
        "Protocol=rlogin\nHostName=127.0.0.1\nLocalUserName=secret\nTerminalType=xtrn=BJFT\n"
    )
    async with (
        open_port(USUAL_LIMITS) as port,
        running(
            tmp_path, plink, "-load", "board", "-P", str(port.listener.port), "-l", "[ACME]Ada"
        ) as window,
    ):
        call, header = await port.answered()
        assert header == RloginHeader("secret", "Ada", "", "BJFT", "ACME")
        await call.until(lambda call: call.sizes == [(100, 40)])
        window.resize(132, 50)
        await call.until(lambda call: call.sizes[-1] == (132, 50))
        await window.far.until_shown(b"Board.")
        window.far.types(b"a line\r")  # it leaves the terminal cooked, so that it sends lines
        await call.until_typed(b"a line\n")
        call.over.set()
