"""Rounds of a public beacon at the tables, where the sysop has that: which one, and what is told.

A round is fixed with the bet, and is published after it; then the cards are dealt. Where it cannot
be had, the shoe is shuffled without it, and the journal says why. For a while after that no round
is fixed at all: so a caller knows before the bet, and waits in vain once.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from typing import TYPE_CHECKING

from door.call.shared import Shared
from door.games.engine.descriptor import find
from timebank.language import N_, _
from timebank.wagers.beacons import BeaconRound

if TYPE_CHECKING:
    from door.beacon.fetching import Fetching
    from door.beacon.network import Network
    from door.call.board import Board
    from door.call.console import Console
    from door.errors import Interruption
    from timebank.wagers.journal import Shoe

LONG = 3600.0  # the round, or a reason, comes long before
PAUSE = 60.0  # seconds without rounds after one that could not be had
# Why there is no round, besides what `door.beacon.process` says: another one failed a moment ago.
PAUSED, UNREACHABLE = "paused", "unreachable"
WHY = {
    UNREACHABLE: N_("none of its relays could be reached"),
    "late": N_("no relay had it in time"),
    "false": N_("what came was not signed by the network"),
    "past": N_("it was out before your bet was in the books"),
    PAUSED: N_("the last one did not come, a moment ago"),
}

log = logging.getLogger("door.beacon")


class Rounds(Shared):
    """Where the tables of a board get their rounds from."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._paused_until = float("-inf")

    @property
    @abstractmethod
    def network(self) -> Network:
        """Whose rounds they are."""

    @abstractmethod
    async def _fetched(self, beacon: BeaconRound, due: float, seconds: float) -> BeaconRound:
        """Return a round, due in `due` seconds, with its signature or with why there is none."""

    @property
    def is_on(self) -> bool:
        return self._board.config.beacon.is_on

    def shuffles(self, shoe: Shoe) -> bool:
        """Tell whether a shoe is to be shuffled with a round: one that is fresh, and of a chain."""
        return self.is_on and shoe.fresh and shoe.anchor is not None

    def paused(self) -> BeaconRound | None:
        """Return what is noted of a shoe that waits for no round, because one failed a moment ago;
        None while they can be had, for all that is known."""
        if self._board.clock.monotonic() >= self._paused_until:
            return None
        now = int(self._board.clock.now().timestamp())
        return BeaconRound(self.network.key, 0, now, failed=PAUSED)

    async def outcome(self, beacon: BeaconRound, *, is_new: bool) -> BeaconRound:
        """Return a round that was fixed, with its signature or with why there is none.

        `is_new` where it was fixed just now: then it must not be out yet.
        """
        if beacon.key != self.network.key:
            return beacon.without(UNREACHABLE)
        due = beacon.due - self._board.clock.now().timestamp()
        # What was fixed is soon out, unless somebody has set a clock in the meantime.
        due = min(due, self.network.longest_wait)
        if is_new and due <= 0:
            log.warning("round %d is not used: its bet took too long", beacon.number)
            return beacon.without("past")
        found = await self._fetched(beacon, due, self._board.config.beacon.wait_seconds)
        if found.failed:
            self._paused_until = self._board.clock.monotonic() + PAUSE
        return found


class RoundsOfRelays(Rounds):
    """Rounds of drand's quicknet, from its relays. Nothing of it is loaded before one is wanted."""

    def __init__(self, board: Board) -> None:
        super().__init__(board)
        self._fetching: Fetching | None = None

    @property
    def network(self) -> Network:
        network: Network = find("door.beacon.network:QUICKNET")
        return network

    async def _fetched(self, beacon: BeaconRound, due: float, seconds: float) -> BeaconRound:
        if self._fetching is None:
            self._fetching = find("door.beacon.fetching:Fetching")(self.network)
        return await self._fetching.fetch(beacon, self._board.config.beacon.urls, due, seconds)

    async def close(self) -> None:
        if self._fetching is not None:
            await self._fetching.close()


def rounds_of(board: Board) -> Rounds:
    rounds = board.shared["beacon"]
    assert isinstance(rounds, Rounds)
    return rounds


async def awaited(
    console: Console,
    rounds: Rounds,
    beacon: BeaconRound,
    *,
    is_new: bool,
    despite: type[Interruption],
) -> BeaconRound:
    """Return what comes of a round, while its caller waits: keys that they press meanwhile are
    dropped. Raises the `Interruption` that comes instead, but for those that must not keep the hand
    from being dealt: `despite`."""
    fetched = asyncio.ensure_future(rounds.outcome(beacon, is_new=is_new))
    fetched.add_done_callback(lambda _: console.nudge())
    try:
        while not fetched.done():
            if console.interruption is None:
                console.forget_keys()
                await console.pause(LONG)
            elif isinstance(console.interruption, despite):
                await asyncio.wait([fetched])
            else:
                raise console.interruption
        console.forget_keys()
        return fetched.result()
    finally:
        fetched.cancel()


def waiting_words(beacon: BeaconRound) -> str:
    """Return what is said while a round is waited for."""
    words = _("The bet is placed. Waiting for round {number} of drand...")
    return f"|07{words.format(number=f'|15{beacon.number}|07')}"


def failed_words(beacon: BeaconRound) -> str:
    """Return what is said of a shoe that is shuffled without a round; "" for one that is not."""
    if not beacon.failed:
        return ""
    why = _(WHY.get(beacon.failed, WHY[UNREACHABLE]))
    if not beacon.number:
        words = _("No round of drand is waited for: {why}. This shoe is shuffled without one.")
        return f"|14{words.format(why=why)}"
    words = _("Round {number} of drand: {why}. This shoe is shuffled without it.")
    return f"|14{words.format(number=beacon.number, why=why)}"
