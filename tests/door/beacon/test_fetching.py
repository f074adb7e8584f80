"""How rounds are fetched from relays: by a process that checks what they say."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from door.beacon import process
from door.beacon.fetching import Fetching
from door.beacon.process import WantedRound, fetch
from tests.beacons import OWN, sign
from timebank.wagers.beacons import BeaconRound

Said = Callable[[str], tuple[int, bytes]]  # status and text, by what is asked for


def said_of(number: int, signature: str = "") -> bytes:
    return json.dumps({"round": number, "signature": signature or sign(number)}).encode()


def right(what: str) -> tuple[int, bytes]:
    return 200, said_of(6 if what == "latest" else int(what))


@contextmanager
def relay(says: Said, asked: list[str] | None = None) -> Iterator[str]:
    """A relay on this machine, which `says` what it is told to."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what = self.path.rpartition("/")[2]
            if asked is not None:
                asked.append(self.path)
            status, text = says(what)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_said: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def wanted(*urls: str, due: float = 0.0, seconds: float = 0.3) -> WantedRound:
    return WantedRound(urls, OWN.chain, OWN.key, 7, due, seconds)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PAUSE", 0.02)


def test_a_round_that_is_signed_is_had_from_any_relay_that_has_it() -> None:
    asked: list[str] = []
    with relay(right, asked) as good, relay(lambda _: (500, b"")) as broken:
        assert fetch(wanted(good)) == {"signature": sign(7)}
        assert asked == [f"/{OWN.chain}/public/7"]
        gone = "http://127.0.0.1:9"  # where nobody listens
        assert fetch(wanted(gone, broken, f"{good}/")) == {"signature": sign(7)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (said_of(7, sign(8)), "has not signed it"),
        (said_of(8), "it is round 8"),
        (b'{"round": 7}', "it has no round in it"),
        (b'{"round": true, "signature": 7}', "it has no round in it"),
        (b"[" * 3000, "it has no round in it"),
        (b"<html>", "it has no round in it"),
        (b" " * 5000, "it is too long"),
    ],
)
def test_what_is_not_signed_is_refused(text: bytes, why: str) -> None:
    with relay(lambda _: (200, text)) as liar:
        found = fetch(wanted(liar, seconds=0.5))
        assert found["failed"] == "false"
        assert why in found["why"]
        with relay(right) as good:
            assert fetch(wanted(liar, good)) == {"signature": sign(7)}


def test_one_that_is_not_out_is_asked_for_again() -> None:
    tries = iter([(425, b""), (404, b""), (200, said_of(7))])
    with relay(lambda _: next(tries)) as slow:
        assert fetch(wanted(slow, seconds=5.0)) == {"signature": sign(7)}
    with relay(lambda _: (404, b"")) as never:
        assert fetch(wanted(never, seconds=0.1))["failed"] == "late"
    assert fetch(wanted("http://127.0.0.1:9", seconds=0.1))["failed"] == "unreachable"


def test_one_that_is_out_before_its_time_is_refused() -> None:
    """The clock of this machine is slow: others knew the round when the bet was placed."""
    asked: list[str] = []
    ahead = {"latest": (200, said_of(9)), "7": (200, said_of(7))}
    with relay(ahead.__getitem__, asked) as early:
        assert fetch(wanted(early, due=30.0))["failed"] == "past"
        assert [each.rpartition("/")[2] for each in asked] == ["latest"]
    with relay(right) as punctual:  # the latest is the one before
        assert fetch(wanted(punctual, due=0.1)) == {"signature": sign(7)}
    lies = {"latest": (200, said_of(9, sign(8))), "7": (200, said_of(7))}
    with relay(lies.__getitem__) as liar:  # whoever lies of the latest delays nothing
        assert fetch(wanted(liar, due=0.1)) == {"signature": sign(7)}


async def test_a_process_fetches_each_round_once_and_is_started_again_when_it_died() -> None:
    asked: list[str] = []
    fetching = Fetching(OWN)
    seventh, eighth = (BeaconRound(OWN.key, number, OWN.published(number)) for number in (7, 8))
    with relay(right, asked) as good:
        try:
            found = [await fetching.fetch(seventh, [good], -5.0, 5.0) for _ in range(3)]
            assert found == [seventh.signed(sign(7))] * 3
            assert len(asked) == 1
            number = fetching.process_id
            assert number is not None
            os.kill(number, signal.SIGKILL)
            assert fetching._hearing is not None
            await fetching._hearing
            again = await fetching.fetch(eighth, [good], -5.0, 5.0)
            assert again == eighth.signed(sign(8))
            assert fetching.process_id != number
            ninth = BeaconRound(OWN.key, 9, OWN.published(9))
            lost = await fetching.fetch(ninth, ["http://127.0.0.1:9"], -5.0, 0.1)
            assert lost == ninth.without("unreachable")
            assert await fetching.fetch(ninth, [good], -5.0, 5.0) == ninth.signed(sign(9))
        finally:
            await fetching.close()
    assert fetching.process_id is None
