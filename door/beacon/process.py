"""The process that fetches rounds for a board, and checks that the network has signed them.

A question is a line of JSON on standard input, its answer one on standard output, with the same
`id`: a `signature` that was checked, or `failed`, a code, with `why` for the log. Several questions
are worked on at a time, each in a thread. What relays send is read here and nowhere else. The
process ends with its input.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, BinaryIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from door.beacon.signed import INSTALL, can_check, is_signed
from door.errors import NotSigned

# Why there is no round: no relay answers; none has it in time; what they answer is not signed; it
# was published before it should be, so the clock here is slow.
UNREACHABLE, LATE, FALSE, PAST = "unreachable", "late", "false", "past"

LARGEST = 4096  # bytes of an answer
PATIENCE = 2.0  # seconds for one relay
PAUSE = 0.4  # seconds between two tries
_NOT_YET = (HTTPStatus.NOT_FOUND, HTTPStatus.TOO_EARLY)
_WORDS = {
    UNREACHABLE: "no relay could be reached",
    LATE: "no relay had it in time",
    FALSE: "what the relays have is not signed by the network",
    PAST: "it was published before the bet: the clock of this machine is slow",
}


@dataclass(frozen=True)
class WantedRound:
    """A round that is asked for."""

    urls: tuple[str, ...]
    chain: str
    key: str
    number: int
    # In how many seconds it is published, below zero for one that should be out.
    due: float
    # How many seconds to try for, from then on or from now.
    seconds: float


def main() -> None:
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more questions."""
    lock = threading.Lock()

    def answer(said: dict[str, Any]) -> None:
        number = said.pop("id")
        wanted = WantedRound(**{**said, "urls": tuple(said["urls"])})
        line = json.dumps({"id": number, **fetch(wanted)}).encode() + b"\n"
        with lock:
            answers.write(line)
            answers.flush()

    for question in questions:
        threading.Thread(target=answer, args=(json.loads(question),), daemon=True).start()


def fetch(wanted: WantedRound) -> dict[str, str]:
    """Return the signature of a round once it is published, or why there is none."""
    if not can_check():
        return _failed(UNREACHABLE, f"for want of {INSTALL}")
    begun = time.monotonic()
    due = begun + wanted.due
    if wanted.due > 0 and _is_past(wanted, due):
        return _failed(PAST)
    time.sleep(max(0.0, due - time.monotonic()))
    end = max(begun, due) + wanted.seconds
    worst = (0, UNREACHABLE, "")
    turn = wanted.number  # so that all relays get their share
    while (left := end - time.monotonic()) > 0:
        for _ in wanted.urls:
            url = wanted.urls[turn % len(wanted.urls)]
            turn += 1
            try:
                number, signature = _asked(wanted, url, str(wanted.number), min(PATIENCE, left))
                if number != wanted.number:
                    raise NotSigned(f"it is round {number}")
            except NotSigned as error:
                worst = max(worst, (2, FALSE, f"{url}: {error}"))
            except HTTPError as error:
                is_late = error.code in _NOT_YET
                said = (1, LATE) if is_late else (0, UNREACHABLE)
                worst = max(worst, (*said, f"{url}: {error}"))
            except (OSError, HTTPException, ValueError) as error:
                worst = max(worst, (0, UNREACHABLE, f"{url}: {error}"))
            else:
                return {"signature": signature}
            if (left := end - time.monotonic()) <= 0:
                break
        time.sleep(max(0.0, min(PAUSE, left)))
    return _failed(*worst[1:])


def _failed(code: str, last: str = "") -> dict[str, str]:
    return {"failed": code, "why": f"{_WORDS[code]} ({last})" if last else _WORDS[code]}


def _is_past(wanted: WantedRound, due: float) -> bool:
    """Tell whether a relay has the round, or a later one, before it is due by the clock here. What
    cannot be asked in time proves nothing."""
    for url in wanted.urls:
        left = due - time.monotonic()
        if left <= 0:
            break
        try:
            number, _ = _asked(wanted, url, "latest", min(PATIENCE, left))
        except (OSError, HTTPException, ValueError):
            continue
        # Published in the meantime it is as it should be.
        return number >= wanted.number and time.monotonic() < due
    return False


def _asked(wanted: WantedRound, url: str, what: str, seconds: float) -> tuple[int, str]:
    """Ask a relay for a round; return its number and signature. OSError, HTTPException or
    ValueError when that cannot be; `NotSigned` when the network has not signed it."""
    until = time.monotonic() + seconds
    asked = Request(
        f"{url.rstrip('/')}/{wanted.chain}/public/{what}",
        headers={"User-Agent": "blackjack-for-time", "Accept": "application/json"},
    )
    text = b""
    with urlopen(asked, timeout=seconds) as answer:
        while piece := answer.read1(LARGEST):
            text += piece
            if len(text) > LARGEST:
                raise NotSigned("it is too long")
            if time.monotonic() > until:
                raise TimeoutError("it is too slow")
    try:
        said = json.loads(text)
        number, signature = said["round"], said["signature"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NotSigned("it has no round in it") from None
    if type(number) is not int or not isinstance(signature, str):
        raise NotSigned("it has no round in it")
    if not is_signed(wanted.key, number, signature):
        raise NotSigned("the network has not signed it")
    return number, signature
