"""Between the ports and the board: who is let in, who is believed, and what is written down of it.

What is counted, and how, is `door.defence`; here are its clock, its settings as they are now, the
words for callers, and the log of refusals that a sysop or fail2ban reads.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable
from logging.handlers import RotatingFileHandler
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from door.defence import TOO_MANY_NAMES, Defence, Fault, Held, NotTaken, key_of
from door.lines.gate import Blame, Refused
from timebank import names

if TYPE_CHECKING:
    from door.clock import Clock
    from door.config import Config

LOG = "refused.log"
LOG_BYTES = 1_000_000  # then it is set aside, in the place of the one before
REMEMBERED = 20_000  # calls of the past whose addresses are known when the board opens

BELONG_NOT = "That name and that password do not belong together."
_HELD_BACK = (
    "Too many wrong passwords came for that name, or from where you are. Please try again in {}."
)
_TODAY = "No more new names are taken from where you call today. Please call again tomorrow."
_WORDS = {
    Fault.BLOCKED: "",
    Fault.AT_ONCE: "Too many calls come from where you are. Please call again later.",
    Fault.TOO_FAST: "Too many calls come from where you are. Please call again in a minute.",
    Fault.SHUT_OUT: "Too many wrong passwords came from where you are. Please call again in {}.",
    Fault.CROWDED: "Too many are at the log-on just now. Please call again in a minute.",
}


class Distrusted(Exception):
    """A caller is not believed, and is told so in these words; his line is dropped."""


class Reception:
    """The gate of all ports of a board, and the judge at the log-on."""

    def __init__(self, config: Config, clock: Clock, on_nodes: Callable[[], int]) -> None:
        """Open for strangers; `on_nodes` tells how many callers are on a node."""
        self._clock = clock
        self._on_nodes = on_nodes
        self._defence = Defence(config.defence)
        # Every call that was let in, the longest first: where it comes from, and what ends it.
        self._calls: dict[int, tuple[str, Callable[[], None]]] = {}
        self._number = 0
        # Of this board alone: no other of the same process shall write into its file.
        self._log = logging.Logger("door.refused", logging.INFO)
        self._log.addHandler(logging.NullHandler())
        self.keep_to(config)

    def keep_to(self, config: Config) -> None:
        """Hold by the settings as they are now; calls that were let in stay."""
        boards = (network for each in config.boards.values() for network in each.trusted.addresses)
        fronts = (network for listener in config.listeners for network in listener.proxies)
        # A front end's own address says nothing of its callers, a board's stands for many of them.
        self._defence.keep_to(config.defence, (*boards, *fronts))

    def open_log(self, folder: Path) -> None:
        """Write refusals into a file of this folder from now on."""
        with contextlib.suppress(OSError):
            (folder / LOG).touch()  # fail2ban wants to find it from the beginning
        handler = _RefusalLog(
            folder / LOG, maxBytes=LOG_BYTES, backupCount=1, encoding="ascii", delay=True
        )
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
        self._log.addHandler(handler)

    def close_log(self) -> None:
        """Write no more."""
        for handler in self._log.handlers:
            with contextlib.suppress(OSError):
                handler.close()
        self._log.handlers.clear()

    # At the ports: a `Gate`.

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        """Let a call in and return what is to be called when it is over; else `Refused`."""
        waiting = len(self._calls) - self._on_nodes()
        try:
            taken = self._defence.take(address, waiting, self._clock.monotonic())
        except NotTaken as refusal:
            self._note(address, refusal.fault.value, his_own=refusal.fault.his_own)
            raise Refused(_WORDS[refusal.fault].format(minutes(refusal.wait))) from refusal
        if self._defence.is_crowded(waiting) and taken is not None:
            self._make_room()
        self._number += 1
        number = self._number
        self._calls[number] = address, cut

        def leave() -> None:
            del self._calls[number]
            self._defence.end(taken)

        return leave

    def malformed(self, address: str, what: str) -> None:
        """Write down what a front end of ours has said wrong; nobody is to be banned for it."""
        self._note(address, f"a front end is not understood: {what}", his_own=False)

    def cut_off(self, address: str, blame: Blame) -> None:
        """Write down why a call was cut off.

        Nobody is to be banned whose address stands for many callers.
        """
        his_own = blame.his_own and not self._defence.is_allowed(address)
        self._note(address, f"cut off: {blame.why}", his_own=his_own)

    def _make_room(self) -> None:
        """Let the stranger who has waited longest go, for a caller whose address is known."""
        for address, cut in tuple(self._calls.values()):
            if not self._defence.callers_live_at(address):
                self._note(address, Fault.CROWDED.value, his_own=False)
                cut()
                return

    # At the log-on.

    def remember(self, calls: Iterable[tuple[str, str]]) -> None:
        """Learn who has called from where, as (name, address), the latest last."""
        for name, address in calls:
            self._defence.right(address, names.fold(name))

    def believe(self, address: str, name: str, *, right: bool) -> bool:
        """Tell whether name and password are believed, after the password has been checked.

        Raises `Distrusted` when they are not and there is to be no further try. It has to be asked
        for right and wrong ones alike: what is told does not depend on whether a name exists.
        """
        now, folded = self._clock.monotonic(), names.fold(name)
        if right and not self._defence.wait_to_try(address, folded, now):
            return True
        wait = self._defence.wait_to_tell(address, folded, now)
        self._defence.wrong(address, folded, now)
        self._note(address, Fault.SHUT_OUT.value if wait else "wrong name or password")
        if wait:
            # This try counts as well: who waits as long as he is told is believed then.
            wait = self._defence.wait_to_tell(address, folded, now)
            raise Distrusted(_HELD_BACK.format(minutes(wait)))
        return False

    def hold_back(self, address: str, name: str) -> None:
        """Raise `Distrusted` where a right password would not be believed just now.

        For those who are on a call under this name: to a stranger it would tell that the name has
        logged on from there.
        """
        wait = self._defence.wait_to_try(address, names.fold(name), self._clock.monotonic())
        if wait:
            raise Distrusted(_HELD_BACK.format(minutes(wait)))

    def logged_on(self, address: str, name: str) -> None:
        """Remember that a caller has logged on from there."""
        self._defence.right(address, names.fold(name))

    def allow_new_name(self, address: str) -> None:
        """Count that one more new name is asked for; `Distrusted` when it is one too many today."""
        if not self._defence.may_ask_for_a_name(address, self._clock.monotonic()):
            self._note(address, TOO_MANY_NAMES)
            raise Distrusted(_TODAY)

    def not_known(self, address: str, why: str) -> None:
        """Write down that a board is not believed that sends a caller by rlogin."""
        self._note(address, f"rlogin: {why}")

    def not_let_in(self, address: str, why: str, *, his_own: bool) -> None:
        """Write down why somebody did not come from the log-on to a call."""
        self._note(address, why, his_own=his_own)

    # For the sysop.

    def held(self, most: int) -> tuple[list[Held], int]:
        """List the addresses that are held back now, `most` of them, and count them all."""
        return self._defence.held(self._clock.monotonic(), most)

    def names_held(self) -> int:
        """Count the names for which strangers have to wait."""
        return self._defence.names_held(self._clock.monotonic())

    def forgive(self, who: str) -> bool:
        """Let an address or a name off what is counted against it; tell whether it was anything."""
        address = who.partition("/")[0]
        if key_of(address) is not None:
            return self._defence.forgive_address(address)
        return self._defence.forgive_name(names.fold(who))

    def _note(self, address: str, why: str, *, his_own: bool = True) -> None:
        self._log.info("%s %s: %s", "refused" if his_own else "turned away", address, why)


class _RefusalLog(RotatingFileHandler):
    """A log that is no reason to fail: where it cannot be written, calls are refused all the same.

    It is never larger than twice LOG_BYTES, whoever fills it.
    """

    def handleError(self, record: logging.LogRecord) -> None:
        """Let it be."""


def minutes(seconds: float) -> str:
    """Say how long to wait, in whole minutes and never too few.

    >>> minutes(1), minutes(61)
    ('a minute', '2 minutes')
    """
    count = max(1, ceil(seconds / 60))
    return "a minute" if count == 1 else f"{count} minutes"
