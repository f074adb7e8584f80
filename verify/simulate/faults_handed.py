"""Faults of the hand-over, which only callers by a door to a server can reveal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from signal import Signals
from types import FrameType

import pytest

from door.dropfiles import give_back
from door.dropfiles.interpretation import GiveBack
from door.lines import hand_over
from door.run import relay
from door.server import door_calls
from door.session.arrival import DoorCall


def charges_again_what_a_server_has_charged(patch: pytest.MonkeyPatch) -> None:
    """A server that counts from the instant at which its caller came to the one before."""

    def continued_call(arrival: DoorCall, now: float) -> DoorCall:
        return arrival

    patch.setattr(door_calls, "continued_call", continued_call)


def brings_again_what_a_server_has_charged(patch: pytest.MonkeyPatch) -> None:
    """A server that continues a caller with the whole time of the drop file."""

    def continued_call(arrival: DoorCall, now: float) -> DoorCall:
        return replace(arrival, guest=replace(arrival.guest, arrived=now))

    patch.setattr(door_calls, "continued_call", continued_call)


def gives_again_after_the_hand_over(patch: pytest.MonkeyPatch) -> None:
    """A relay that writes its caller's winnings into the file twice, one on top of the other."""
    real = give_back.give

    def give(way: GiveBack, minutes: int) -> Path:
        file = real(way, minutes)
        after = None if way.minutes is None else way.minutes + minutes
        (file.parent / "MODUSER.DAT").unlink(missing_ok=True)
        more = minutes * 2 if way.minutes is None else minutes
        return real(replace(way, minutes=after), more)

    patch.setattr(give_back, "give", give)


def hears_no_hang_up_at_a_relay(patch: pytest.MonkeyPatch) -> None:
    """A relay that keeps to itself that the host has hung up."""
    real = relay._Relay._pass_on

    def pass_on(self: relay._Relay, number: int, frame: FrameType | None) -> None:
        if relay._SIGNALS[Signals(number)] == hand_over.RESIZED:
            real(self, number, frame)

    patch.setattr(relay._Relay, "_pass_on", pass_on)


# With the first seed of each search.
FAULTS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    charges_again_what_a_server_has_charged: 3,
    brings_again_what_a_server_has_charged: 5,
    gives_again_after_the_hand_over: 1,
    hears_no_hang_up_at_a_relay: 1,
}
