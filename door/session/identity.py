"""Check whether a name and a password belong together, and keep the caller busy until then.

A caller who types the right password is never refused for what others typed
(`door.defence.tries`). Until the password is checked, the screen shows the same for names that
exist and names that do not, for right passwords and wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from ansi.keys import ESCAPE, INTERRUPT
from door import wording
from door.call import passwords
from door.call.patience import at_the_door
from door.defence import recovery
from door.defence.reception import WRONG
from door.errors import IdledOut
from timebank.callers.recovery import owner
from timebank.errors import BooksFailed
from timebank.language import N_, Phrase, _

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.console import Console
    from door.clock import Clock
    from door.defence.tries import Try
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

T = TypeVar("T")
WAITS = N_(
    "Too many wrong passwords for that name, or from your address: each try is checked in turn."
    " Stay on the line, yours is in the queue."
)
WAY_OUT = N_("Press R to log on at once with your recovery code, Esc to go back.")
WAY_OUT_BY_WORDS = N_("Type R to log on at once with your recovery code, or quit to go back.")
EACH_SECOND_BELOW = 10.0  # seconds left: below this each is shown, above it every fifth
BELL_AFTER_SECONDS = 60.0  # of waiting


async def in_the_books(board: Board, console: Console, operation: Callable[[Desk], T]) -> T:
    """Carry out an operation for a caller who is not on a call yet."""
    with at_the_door(console):
        return await board.books.run(operation, until=console.keyboard.answer_by())


class LogonLimit:
    """The time that a caller may take to log on; it is paused while the board makes them wait."""

    def __init__(self, clock: Clock, console: Console, seconds: float) -> None:
        self._clock = clock
        self._console = console
        self._run(seconds)

    def _run(self, seconds: float) -> None:
        self._end = self._clock.monotonic() + seconds
        words = Phrase("Logging on took too long. Please call again.")
        self._timer = self._clock.call_later(
            seconds, lambda: self._console.keyboard.interrupt(IdledOut(words))
        )

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.stop()
        left = max(0.0, self._end - self._clock.monotonic())
        try:
            yield
        finally:
            self._run(left)

    def stop(self) -> None:
        self._timer.cancel()


class ClaimedName:
    """A name that a caller claims, and the password or recovery code that may prove it."""

    def __init__(self, board: Board, console: Console, name: str, limit: LogonLimit) -> None:
        self._board = board
        self._console = console
        self._name = name
        self._limit = limit
        self._address = console.line.address
        self.code_digest: str | None = None  # of the recovery code that proved the name

    async def proved_by(self, password: str) -> CallerRecord | None:
        """Return the caller who owns this password or recovery code.

        Return None if it is wrong, which the screen says, or if they go back instead of waiting.
        """
        record = await self._code_is_right(password)
        if record is not None:
            return record
        reception = self._board.reception
        tried = reception.present(self._address, self._name, self._console.keyboard.nudge)
        try:
            record = await self._password_is_right(tried, password)
        finally:
            reception.gave_up(tried)  # no effect once it has been checked
        if record is not None and self.code_digest is None and record.deleted is None:
            with at_the_door(self._console):
                until = self._console.keyboard.answer_by()
                await self._board.renew_hash(record, password, until)
                record = await self._board.let_keys_work(record, until)
        return record

    async def _password_is_right(self, tried: Try, password: str) -> CallerRecord | None:
        if not tried.is_due:
            record = await self._wait(tried)
            if record is not None or not tried.is_due:  # the caller went back, or used a code
                return record
        record = await self._check(tried, password)
        if record is not None:
            self._board.reception.was_right(tried)
            return record
        self._board.reception.was_wrong(self._address)
        self._console.screen.say(f"|12{_(WRONG)}")
        return None

    async def _check(self, tried: Try, password: str) -> CallerRecord | None:
        with at_the_door(self._console):
            try:
                until = self._console.keyboard.answer_by()
                return await self._board.authenticate(self._name, password, tried.rank, until)
            except BooksFailed:
                self._board.reception.not_checked(tried)
                raise

    async def _wait(self, tried: Try) -> CallerRecord | None:
        """Wait until the check is due or the caller goes back; return the owner of a code."""
        console, begun = self._console, self._board.clock.monotonic()
        self._board.reception.delayed(self._address)
        way_out = console.keyboard.suited(_(WAY_OUT), _(WAY_OUT_BY_WORDS))
        console.screen.say(f"|14{_(WAITS)} |07{way_out}")
        wrong_codes = 0
        with self._limit.paused():
            while not tried.is_due and wrong_codes < passwords.TRIES:
                key = await self._key_in_the_queue(tried)
                if key in (ESCAPE, INTERRUPT):
                    return None
                if key in ("r", "R"):
                    record = await self._ask_code()
                    if record is not None:
                        return record
                    wrong_codes += 1
        if self._board.clock.monotonic() - begun >= BELL_AFTER_SECONDS:
            console.screen.bell()
        return None

    async def _key_in_the_queue(self, tried: Try) -> str | None:
        """Count down until the check is due; return the key if R or Esc is pressed meanwhile.

        Any line of a caller who sends only lines ends it too, so that they hear the time left.
        """
        console = self._console
        words = f"|14{_('Yours is checked in about')}|07"
        if console.line.hints.works_by_lines:  # it would not show the countdown, which is typed
            words += f" {wording.clock_time(ceil(self._board.reception.wait(tried)))}"
        console.display.prompt(words)
        keys = {"R": _("Recovery code"), "Esc": _("Back")}
        words_out = {"R": _("Recovery code"), ESCAPE: _("Quit")}
        console.screen.offer("answers", keys, typed={"Esc": "\x1b"})
        try:
            while not tried.is_due:
                left = self._board.reception.wait(tried)
                console.display.typed(wording.clock_time(ceil(left)))
                console.screen.show_offer()
                await console.keyboard.pause(
                    1.0 if left <= EACH_SECOND_BELOW else left % 5.0 or 5.0
                )
                if (
                    console.keyboard.interruption is not None
                    or console.keyboard.next_key() is not None
                ):
                    key = await console.keyboard.key(takes_words=True)
                    key = console.keyboard.letter_of(key, words_out)
                    if key in (ESCAPE, INTERRUPT, "r", "R") or console.keyboard.sends_only_lines:
                        return key
            return None
        finally:
            console.display.answered()

    async def _ask_code(self) -> CallerRecord | None:
        typed = await self._console.prompt.entry(
            f"|11{_('Recovery code:')}|07",
            longest=passwords.LONGEST,
            meaning=_("The code you wrote down. It lets you in once, in place of your password."),
        )
        if not typed:
            return None
        record = await self._code_is_right(typed)
        if record is None:
            # Not counted as a try: codes are too long to be guessed.
            self._board.reception.note(self._address, "wrong recovery code")
            self._console.screen.say(f"|12{_('Wrong name or code.')}")
        return record

    async def _code_is_right(self, typed: str) -> CallerRecord | None:
        digest = recovery.digest_of(typed)
        if digest is None:
            return None
        record = await in_the_books(
            self._board, self._console, lambda desk: owner(desk, self._name, digest)
        )
        if record is not None:
            self.code_digest = digest
        return record
