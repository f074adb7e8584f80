"""The sysop's acts, to be called in threads.

They change the books by the bank's own operations, and reach callers who are on by the socket of
the running server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from door.errors import NoAnswer
from door.server import control_client
from timebank.callers import callers, sysop_log
from timebank.calls.calls import open_calls
from timebank.errors import BooksFailed, Refused, UnknownCaller
from timebank.keeping import deletion, events
from timebank.ledger import transfers
from timebank.window import corrections
from timebank.words import clean, clock

if TYPE_CHECKING:
    from door.desk.pages.queries import BooksReader
    from timebank.ledger.database import Desk
    from timebank.ledger.transfers import Balance

T = TypeVar("T")

LONGEST_TEXT = 200
BANK = ("bank", "second")


@dataclass(frozen=True)
class OnCaller:
    """The caller that an act is about, as the books have them now."""

    number: int
    name: str
    held: Sequence[Balance]
    call: int | None  # the open one
    node: int | None
    acts: frozenset[str]  # possible now


class SysopActs:
    """The acts of sysops; `by` is the sysop's name, for the log."""

    def __init__(self, reading: BooksReader) -> None:
        self._reading = reading
        self._config = reading.config

    def rehearsal(self, on: OnCaller | None = None) -> Rehearsal:
        return Rehearsal(self._reading, on)

    def find(self, number: int) -> OnCaller | None:
        return self._reading.look(lambda desk: _find(desk, number))

    def adjust(self, by: str, on: OnCaller | None, seconds: int, why: str) -> str:
        assert on is not None

        def work(desk: Desk) -> str:
            rows = corrections.adjust(desk, on.number, seconds, why, by)
            held = transfers.balances(desk, on.number)
            bank = next(each.amount for each in held if (each.kind, each.unit) == BANK)
            return f"Transfer {rows[0].number}: {rows[0].why}. The account holds {clock(bank)}."

        return self._write(work)

    def change(self, on: OnCaller | None, act: Callable[[Desk, int], str]) -> str:
        """Do an act on a caller; return what it says was done."""
        assert on is not None
        done = self._write(lambda desk: act(desk, on.number))
        self._let_server_look()
        return done

    def kick(self, by: str, on: OnCaller | None, why: str) -> str:
        assert on is not None
        why = clean(why, LONGEST_TEXT)
        what = f"Call ended: {why}" if why else "Call ended"
        return self._ask_server(by, on, what, "kick", **self._node_of(on), why=why)

    def say(self, by: str, on: OnCaller | None, text: str) -> str:
        words = clean(text, LONGEST_TEXT)
        if not words:
            raise Refused("The text has nothing that can be shown.")
        if on is None and not self._reading.on_line():
            raise NoAnswer("Nobody is online.")
        where = {"node": None} if on is None else self._node_of(on)
        return self._ask_server(by, on, f"Said: {words}", "say", **where, text=words)

    def drain(self, by: str) -> str:
        return self._ask_server(by, None, "Board taken out of service", "drain")

    def start_event(self, by: str, asked: events.EventAsked) -> str:
        started = self._write(lambda desk: events.start(desk, asked, by))
        self._let_server_look()
        return started.words

    def started_event(self) -> str:
        """Return the name of the event that was started early and is not over, "" without one."""
        event = self._reading.look(events.early_event)
        return "" if event is None else event.name

    def end_event(self, by: str) -> str:
        words = self._write(lambda desk: events.take_back(desk, by))
        self._let_server_look()
        return words

    def _let_server_look(self) -> None:
        control_client.let_server_look(self._config.path)

    def _node_of(self, on: OnCaller) -> dict[str, int | None]:
        """Return node and number of the call that was shown; raises `NoAnswer` if it is over.

        The server refuses them if another call is on that node by then.
        """
        now = self.find(on.number)
        if on.call is None or now is None or now.call != on.call or now.node is None:
            raise NoAnswer(f"{on.name} isn't on any more.")
        return {"node": now.node, "call": now.call}

    def _ask_server(
        self, by: str, on: OnCaller | None, what: str, command: str, **how: object
    ) -> str:
        """Send a command to the running server, and log it before and its result after.

        So no act goes without its sysop's name.
        """
        self.note(by, on, f"{what} (asked of the board)")
        problem: NoAnswer | None = None
        try:
            answer = control_client.ask_server(self._config.path, None, command, how)
            words = " ".join([str(answer["words"]), *answer.get("silent", ())])
        except NoAnswer as error:
            words, problem = str(error), error
        try:
            self.note(by, on, f"The board: {words.rstrip('.')}")
        except BooksFailed as error:
            words = f"{words} The sysop's log has only that it was asked for: {error}"
        if problem is not None:
            raise NoAnswer(words) from problem
        return words

    def note(self, by: str, on: OnCaller | None, what: str) -> None:
        """Add a line to the sysop's log; line breaks in `what` become spaces."""
        number = None if on is None else on.number
        line = " ".join(what.split())
        self._write(lambda desk: sysop_log.note(desk, by, number, line))

    def _write(self, work: Callable[[Desk], T]) -> T:
        return self._reading.work(work)


class Rehearsal(SysopActs):
    """The same acts without an effect; each raises what the act would raise now.

    What an act writes is rolled back. A running server is only asked whether it answers.
    `after` has the balances that the caller `on` would have.
    """

    def __init__(self, reading: BooksReader, on: OnCaller | None) -> None:
        super().__init__(reading)
        self._on = on
        self.after: Sequence[Balance] = () if on is None else on.held

    def _write(self, work: Callable[[Desk], T]) -> T:
        def rehearsed(desk: Desk) -> T:
            done = work(desk)
            if self._on is not None:
                self.after = transfers.balances(desk, self._on.number)
            return done

        return self._reading.rehearse(rehearsed)

    def _ask_server(
        self, by: str, on: OnCaller | None, what: str, command: str, **how: object
    ) -> str:
        control_client.ask_server(self._config.path, None, "look", {})
        return ""

    def _let_server_look(self) -> None:
        """Do nothing: nothing was written."""


def _find(desk: Desk, number: int) -> OnCaller | None:
    try:
        record = callers.get(desk, number)
    except UnknownCaller:
        gone = next((each for each in deletion.hidden(desk) if each.id == number), None)
        held = transfers.balances(desk, number)
        return gone and OnCaller(number, gone.name, held, None, None, frozenset({"restore"}))
    call = next((each for each in open_calls(desk) if each.caller_id == number and each.live), None)
    acts = {"adjust", "notice", "delete", "unfreeze" if record.frozen else "freeze"}
    acts |= {"unlock" if record.locked else "lock", "unmute" if record.muted else "mute"}
    if record.waits:
        acts.add("approve")
    if call is not None:
        acts |= {"kick", "say"}
    return OnCaller(
        number,
        record.name,
        transfers.balances(desk, number),
        None if call is None else call.call_id,
        None if call is None else call.node,
        frozenset(acts),
    )
