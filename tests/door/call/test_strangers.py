"""Counts on their way to other servers: gathered, bounded, and read with care."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from door.call.strangers import AT_ONCE, GATHER_SECONDS, MOST_WAITING, SharedCounts
from door.defence.counts import ALL_OF_IT, DAY, StrangerCount
from door.servers import bus
from door.servers.bus import LARGEST, Bus
from tests.clock import FakeClock
from tests.world import NOON


class Way:
    """Where messages go, and where they come from."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.hear: Callable[[bytes], None]

    async def start(self, heard: Callable[[bytes], None], missed: Callable[[], None]) -> None:
        self.hear = heard

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def stop(self) -> None:
        pass


class Two:
    """One that tells, and one that hears."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOON)
        self.has_others = True
        self.way, self.other_way = Way(), Way()
        self.messages, self.other_messages = Bus([self.way]), Bus([self.other_way])
        self.here = SharedCounts(self.messages, self.clock, "here", lambda: self.has_others)
        there = SharedCounts(self.other_messages, self.clock, "there", lambda: True)
        self.heard: list[tuple[StrangerCount, str]] = []
        there.lead_to(lambda counts, who: self.heard.extend((each, who) for each in counts))

    async def passes(self) -> None:
        """Let what is gathered be sent, and be heard."""
        await self.other_messages.start()
        await self.clock.advance(GATHER_SECONDS)
        for message in self.way.sent:
            self.other_way.hear(message)
        assert max(map(len, self.way.sent), default=0) <= LARGEST


async def test_counts_of_a_moment_are_one_message() -> None:
    two = Two()
    for count in (
        StrangerCount("from", 1, 60.0, 99.0),
        StrangerCount("from", 1, 30.0, 99.0),
        StrangerCount("last", 2, 7, 0),
    ):
        two.here.tell(count)
    assert two.way.sent == []
    await two.passes()
    assert len(two.way.sent) == 1
    assert two.heard == [
        (StrangerCount("from", 1, 90.0, 99.0), "here"),
        (StrangerCount("last", 2, 7, 0), "here"),
    ]


async def test_a_server_that_is_alone_tells_nobody() -> None:
    two = Two()
    two.has_others = False
    two.here.tell(StrangerCount("from", 1, 60.0, 99.0))
    await two.passes()
    assert two.way.sent == []


async def test_a_flood_is_told_in_pieces_and_what_is_too_much_is_not() -> None:
    two = Two()
    longest = (1 << 128) - 1
    for number in range(MOST_WAITING + 50):
        two.here.tell(
            StrangerCount("about", longest - number, -ALL_OF_IT - 0.123456789, 10 * DAY + 0.1)
        )
    await two.passes()
    assert len(two.heard) == AT_ONCE
    for _ in range(MOST_WAITING // AT_ONCE):
        two.way.sent.clear()
        await two.passes()
    assert len(two.heard) == MOST_WAITING


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"server": "here"},
        {"server": 7, "counts": [["from", 1, 60.0, 99.0]]},
        {"server": "here", "counts": "all"},
        {"server": "here", "counts": [["from", 1, 60.0], "from", ["from", "1", 60.0, 99.0], None]},
        {"server": "here", "counts": [["from", 1, float("nan"), 99.0]]},
        {"server": "here", "counts": [["from", 1, 60.0, float("inf")]]},
    ],
)
async def test_what_are_no_counts_is_nothing(facts: dict[str, Any]) -> None:
    two = Two()
    two.messages.publish(bus.STRANGERS, **facts)
    await two.passes()
    assert len(two.way.sent) == 1
    assert two.heard == []
