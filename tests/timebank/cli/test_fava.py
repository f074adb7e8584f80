"""`timebank fava` with the real Fava, asked as a browser asks it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import NEED_CLIENTS

pytestmark = pytest.mark.long

PATIENCE = 60.0  # seconds
LEDGER = "/black-jack-for-time"


@pytest.fixture
def port(evening, config: Path) -> Iterator[int]:
    """The port of Fava on the books of an evening; it ends with Ctrl-C, as for a sysop."""
    if find_spec("fava") is None:
        assert NEED_CLIENTS not in os.environ, "Fava must be here: pip install -e '.[test]'"
        pytest.skip(f"Fava is not installed; {NEED_CLIENTS} makes that a failure")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    # A run of tests in the background has Ctrl-C ignored, and so would have what it starts.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from timebank.cli.main import main; main()"
    )
    words = ("fava", "--config", str(config), "--port", str(number))
    with subprocess.Popen([sys.executable, "-c", code, *words], text=True) as process:
        try:
            yield number
        finally:
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(PATIENCE) == 0
            finally:
                process.kill()  # who does not end is not waited for


def asked(port: int, path: str) -> tuple[int, str]:
    """What comes back for a path, once Fava is there."""
    end = time.monotonic() + PATIENCE
    while True:
        caller = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            caller.request("GET", path)
            answer = caller.getresponse()
            return answer.status, answer.read().decode()
        except ConnectionRefusedError:
            assert time.monotonic() < end, "Fava does not answer"
            time.sleep(0.1)  # nothing tells from outside when it listens
        finally:
            caller.close()


def said(port: int, path: str) -> Any:
    status, text = asked(port, f"{LEDGER}/api/{path}")
    assert status == 200
    return json.loads(text)["data"]


def test_fava_shows_the_books_without_an_error(port: int) -> None:
    status, page = asked(port, f"{LEDGER}/income_statement/")
    assert (status, "Black Jack For Time" in page) == (200, True)
    assert said(port, "errors") == []
    (assets, *_) = said(port, "balance_sheet")["trees"]
    names = [each["account"] for each in assets["children"][0]["children"]]
    assert [name.rpartition("-")[2] for name in names] == ["Ann", "Bob"]
