"""A page of the books, requested by a separate process.

    python -m bench.asking PORT PATH COOKIE

It prints the seconds until the page was complete, and imports next to nothing before. It stands for
a browser on another machine, so it takes no time that the board could use.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import sys
import time

HOST = "127.0.0.1"
PATIENCE = 1800.0  # seconds


def ask(port: int, path: str, cookie: str, form: str = "") -> http.client.HTTPResponse:
    """Request a page and discard the answer."""
    with contextlib.closing(http.client.HTTPConnection(HOST, port, timeout=PATIENCE)) as caller:
        kind = "application/x-www-form-urlencoded"
        headers = {"Cookie": cookie, "Content-Type": kind}
        caller.request("POST" if form else "GET", path, form or None, headers)
        answer = caller.getresponse()
        while answer.read(65536):
            continue
        return answer


def seconds_for(port: int, path: str, cookie: str) -> float:
    """Return how long a page takes to come whole."""
    began = time.perf_counter()
    answer = ask(port, path, cookie)
    if answer.status != http.client.OK:
        raise ConnectionError(f"{path}: {answer.status}")
    return time.perf_counter() - began


if __name__ == "__main__":
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    print(seconds_for(int(sys.argv[1]), *sys.argv[2:]))
