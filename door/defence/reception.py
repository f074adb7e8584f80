"""The gate between the ports and the board: lets callers in, checks passwords, logs refusals.

`door.defence.counts` counts. This module has its clock, its settings, the words for callers, and
the log that a sysop or fail2ban reads. A line of that log begins with whose fault it was: "refused"
is the caller's own fault, "turned away" and "delayed" are not.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterable
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from door.config.log_file import LogFile
from door.defence import front_ends
from door.defence.counts import TOO_MANY_NAMES, Defence, HeldOff, Rank, use, wait_of
from door.defence.tries import Tries, Try
from door.errors import CallRefused, Fault, NotAdmitted, TooManyTries
from door.lines.blame import Blame
from timebank import files
from timebank.language import N_, Phrase
from timebank.names import names
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.clock import Clock, Timer
    from door.config.config import Config

LOG = "refused.log"
LOG_MODE = 0o640  # of a new file, minus the umask
LOG_BYTES = 1_000_000  # then the log replaces its older half
REMEMBERED = 20_000  # past calls whose addresses are known when the board opens

WRONG = N_("Wrong name or password.")
_HELD_BACK = N_("Too many wrong passwords. Try again in {time}.")
_TODAY = N_("No more new names from your address today. Please call again tomorrow.")
_WORDS = {
    Fault.BLOCKED: "",
    Fault.AT_ONCE: N_("Too many calls from your address. Please call again later."),
    Fault.TOO_FAST: N_("Too many calls from your address. Please call again in a minute."),
    Fault.CROWDED: N_("Too many callers are logging on. Please call again in a minute."),
}


log = logging.getLogger("door.reception")


class Reception:
    def __init__(
        self, config: Config, clock: Clock, on_nodes: Callable[[], int], of: str = ""
    ) -> None:
        """Without `of` it is the board's, else that of a front desk whose readers sit here, too."""
        self._clock = clock
        self._of = f"{of}: " if of else ""  # in the log
        self._on_nodes = on_nodes  # how many callers are on a node
        self._defence = Defence(config.defence, trusts_itself=not of)
        self._tries = Tries(self._defence)
        self._timer: Timer | None = None  # until a waiting password may be checked
        # Callers by name and address, until the log has a warning about a front end.
        self._callers: set[tuple[str, str]] | None = set()
        # All calls at the log-on, the longest first: the address, and the function that ends it.
        self._calls: dict[int, tuple[str, Callable[[], None]]] = {}
        self._number = 0
        # Since the start: calls and passwords refused, by the caller's own fault or not.
        self.refused = self.turned_away = 0
        # A logger of this board's own: another board of the process must not write into its file.
        self._log = logging.Logger("door.refused", logging.INFO)
        self._log.addHandler(logging.NullHandler())
        self.keep_to(config)

    def keep_to(self, config: Config) -> None:
        """Apply new settings; calls in progress stay."""
        self._config = config
        # A front end's own address says nothing about its callers; a board's stands for many.
        self._defence.keep_to(config.defence, front_ends.known_networks(config))
        self._look()

    def open_log(self, folder: Path) -> None:
        handler = _RefusalLog(files.own_links_followed(folder / LOG))
        with contextlib.suppress(OSError):
            handler.open()  # fail2ban needs the file from the start
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
        self._log.addHandler(handler)

    def close_log(self) -> None:
        for handler in self._log.handlers:
            with contextlib.suppress(OSError):
                handler.close()
        self._log.handlers.clear()

    @property
    def let_in(self) -> int:
        """How many calls were let in since the start."""
        return self._number

    # At the ports: a `Gate`.

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        waiting = len(self._calls) - self._on_nodes()
        has_room = waiting < self._config.defence.logons
        goes = None if has_room else self._who_goes(address)
        try:
            taken = self._defence.take(
                address, self._clock.monotonic(), has_room=has_room or goes is not None
            )
        except NotAdmitted as refusal:
            self.note(address, refusal.fault.value, own_fault=refusal.fault.own_fault)
            raise CallRefused(_WORDS[refusal.fault]) from refusal
        if goes is not None:
            stranger, cut_off = goes
            self.note(stranger, Fault.CROWDED.value, own_fault=False)
            cut_off()
        self._number += 1
        number = self._number
        self._calls[number] = address, cut

        def leave() -> None:
            del self._calls[number]
            self._defence.end(taken)

        return leave

    def malformed(self, address: str, what: str) -> None:
        self.note(address, f"a front end is not understood: {what}", own_fault=False)

    def cut_off(self, address: str, blame: Blame) -> None:
        # An address that stands for many callers must not be banned.
        own_fault = blame.own_fault and self._defence.counted(address) is not None
        self.note(address, f"cut off: {blame.why}", own_fault=own_fault)

    def _who_goes(self, address: str) -> tuple[str, Callable[[], None]] | None:
        """Return the call that a caller at this address replaces when the log-on is crowded.

        That is the stranger who has waited longest, for a caller at a known address. A caller who
        is always let in takes no other's place.
        """
        if self._defence.counted(address) is None or not self._defence.is_known(address):
            return None
        strangers = (call for call in self._calls.values() if not self._defence.is_known(call[0]))
        return next(strangers, None)

    # At the log-on.

    def remember(self, addresses: Iterable[str]) -> None:
        """Learn from which addresses callers have called, the latest last."""
        for address in addresses:
            self._defence.logged_on(address)

    def present(self, address: str, name: str, on_turn: Callable[[], None]) -> Try:
        """Take in a password that was typed for a name, whether or not the name exists.

        The password may be checked when `is_due`; `on_turn` is called if that is later. In the end
        call `was_right`, `was_wrong`, `not_checked` or `gave_up`; else it counts as wrong.
        """
        now = self._clock.monotonic()
        tried = self._tries.present(address, name, now, on_turn)
        self._set_timer()
        return tried

    def delayed(self, address: str) -> None:
        """Log that a password has to wait before it is checked."""
        why = "wrong passwords for that name or from this address"
        self._log.info("delayed %s: %s%s", address, self._of, why)

    def wait(self, tried: Try) -> float:
        """Return about how many seconds a password that is not due has to wait."""
        return self._tries.wait(tried, self._clock.monotonic())

    def is_known(self, address: str) -> bool:
        """Return whether a caller has logged on from an address, or no limit holds for it."""
        return self._defence.is_known(address)

    def was_right(self, tried: Try) -> None:
        self._tries.right(tried, self._clock.monotonic())
        self._set_timer()

    def not_checked(self, tried: Try) -> None:
        """Forget a password that could not be checked, and of which the caller learned nothing."""
        self.was_right(tried)

    def was_wrong(self, address: str) -> None:
        self.note(address, "wrong name or password")

    def gave_up(self, tried: Try) -> None:
        """Forget a caller who no longer waits. A password that was due counts as wrong."""
        self._tries.leave(tried, self._clock.monotonic())
        self._set_timer()

    def rank(self, address: str) -> Rank:
        """Return the order in which new passwords are hashed."""
        return self._defence.rank(address, self._clock.monotonic())

    def hold_back(self, address: str, name: str) -> None:
        """Raise `TooManyTries` if no password may be asked for on a call under this name now."""
        wait = wait_of(self._defence.counts(address, name), self._clock.monotonic())
        if wait:
            raise TooManyTries(Phrase(_HELD_BACK, time=partial(minutes, wait)))

    def wrong_on_call(self, address: str, name: str) -> None:
        use(self._defence.counts(address, name), self._clock.monotonic())
        self.was_wrong(address)
        self._set_timer()

    def logged_on(self, address: str, name: str) -> None:
        self._defence.logged_on(address)
        if self._callers is not None and front_ends.hides_callers(self._config, address):
            self._callers.add((names.fold(name), address))
            for warning in front_ends.warnings(self._config, self._callers):
                log.warning("%s", warning)
                self._callers = None

    def allow_new_name(self, address: str) -> None:
        """Count one more new name; raise `TooManyTries` if it is one too many today."""
        if not self._defence.may_ask_for_a_name(address, self._clock.monotonic()):
            self.note(address, TOO_MANY_NAMES)
            raise TooManyTries(Phrase(_TODAY))

    def not_known(self, address: str, why: str) -> None:
        """Log that a board that sends a caller by rlogin is not believed."""
        self.note(address, f"rlogin: {why}")

    def is_blocked(self, address: str) -> bool:
        """Return whether the sysop lets nobody in from an address, to the board or to a link."""
        return self._defence.is_blocked(address)

    # For the sysop.

    def held(self, most: int) -> tuple[list[HeldOff], int]:
        """Return the `most` addresses with the longest waits, and the number of all held off."""
        return self._defence.held(self._clock.monotonic(), most)

    def names_held(self) -> int:
        return self._defence.names_held(self._clock.monotonic())

    def forgive(self, who: str) -> bool:
        """Forgive an address or a name; return whether anything was counted against it."""
        forgiven = self._defence.forgive(who)
        self._look()
        return forgiven

    # Inside.

    def _look(self) -> None:
        """Look for passwords that time, or a change of the counts or rules, has made due."""
        self._tries.look(self._clock.monotonic())
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if (at := self._tries.next_look) is not None:
            self._timer = self._clock.call_later(at - self._clock.monotonic(), self._look)

    def note(self, address: str, why: str, *, own_fault: bool = True) -> None:
        """Write into the log of refusals why a caller was not let in or not believed."""
        if own_fault:
            self.refused += 1
        else:
            self.turned_away += 1
        whose = "refused" if own_fault else "turned away"
        self._log.info("%s %s: %s%s", whose, address, self._of, why)


class _RefusalLog(LogFile):
    """A log of at most twice LOG_BYTES. A log that cannot be written stops nothing else."""

    def open(self) -> None:
        """Create the file if it is missing, writable by its owner and readable by its group."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        with open(files.plain(self.place, flags, LOG_MODE), "ab") as file:
            files.give_to_owner(file.fileno(), self.place.parent)
        super().open()

    def emit(self, record: logging.LogRecord) -> None:
        size = len(self.format(record)) + 1
        is_current = False  # server and pages write into one file, and either may replace it
        with contextlib.suppress(OSError, ValueError):
            there = self.place.stat()
            is_current = os.path.samestat(there, os.fstat(self.stream.fileno()))
            if there.st_size + size > LOG_BYTES:
                is_current = False
                self.place.replace(f"{self.place}.1")
        if not is_current:
            with contextlib.suppress(OSError):
                self.stream.close()
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        pass


def minutes(seconds: float) -> str:
    """Return how long to wait, in whole minutes, rounded up.

    >>> minutes(1), minutes(61)
    ('1 minute', '2 minutes')
    """
    return span(max(1, ceil(seconds / 60)) * MINUTE)
