"""A caller on a call, as rooms and tables use them.

A caller has a console, a purse, a running clock and a status line. Every movement of their time
goes through `post`, which posts the seconds that have ticked and adopts the purse that comes back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar, get_args

from door import wording
from door.call.call_clock import CallClock
from door.call.chair import SENT_AWAY, WATCHED, CallersChair
from door.call.console import Console
from door.call.last_hand import LastHand, is_doubtful
from door.call.markup import hanging, literal
from door.call.patience import Patience
from door.call.status_line import StatusLine
from door.call.talk import Talk
from door.config.config import Pace
from door.errors import Closing, LockedOut, TakenOver
from door.flag import Flag
from timebank.callers import awards, callers
from timebank.callers.award_names import award_words
from timebank.callers.notices import note_seen
from timebank.calls import calls
from timebank.calls.calls import close_call, touch, why_ended
from timebank.errors import BooksFailed, CallClosed
from timebank.language import LANGUAGES, N_, Phrase, _, next_language
from timebank.ledger.purse import WAITS
from timebank.wagers.wagers import Played
from timebank.window.teller import AUTO_DEPOSIT, deposit_before_leaving
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.books import Books
    from door.call.purse import TickingPurse
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import OpenedCall
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.settings.settings import BankSettings
    from timebank.window.teller import AgreedDeposit

T = TypeVar("T")
R = TypeVar("R", bound="Receipt | Played")

TAKEN_OVER = Phrase("You've logged on from another connection.")

LANGUAGE_KEY = "*"
EXPIRY_TOLD = "expiry_told"  # preference: the caller has read when minutes expire
AT_LOG_ON = N_("Log-on")
KICKED = N_("The sysop ended this call.")
LOCKED = N_("The sysop has locked your name. Please ask why.")
LOCKED_WHY = N_("The sysop has locked your name: {why}.")
DELETED = N_("The sysop has deleted your name. Please ask why.")
DELETED_WHY = N_("The sysop has deleted your name: {why}.")
ENDED_ELSEWHERE = N_("Another server has ended this call. Please call again.")

# Factors for the pauses between cards.
PACES: Mapping[Pace, float] = {"normal": 1.0, "fast": 0.4, "off": 0.0, "still": 0.0}


def kicked(why: str) -> Closing:
    """Return the interruption of a call that the sysop ends; the caller reads `why` if given."""
    return Closing(literal(why) if why else Phrase(KICKED))


def refused_words(why: str, *, is_deleted: bool = False) -> Phrase:
    """Return the words for a caller whom the sysop has locked out or deleted."""
    if is_deleted:
        return Phrase(DELETED_WHY if why else DELETED, why=literal(why))
    return Phrase(LOCKED_WHY if why else LOCKED, why=literal(why))


def closed(reason: str) -> Closing | TakenOver:
    """Return the interruption of a call that was closed elsewhere, by its reason in the books."""
    if reason.startswith(calls.TAKEN_OVER_PREFIX):
        return TakenOver(TAKEN_OVER)
    if reason.startswith(calls.LOCKED_PREFIX):
        return LockedOut(refused_words(reason.removeprefix(calls.LOCKED_PREFIX)))
    if reason.startswith(calls.ENDED_PREFIX):
        return kicked(reason.removeprefix(calls.ENDED_PREFIX))
    return Closing(Phrase(ENDED_ELSEWHERE))


class Caller:
    is_new = False  # on their first call
    is_back = False  # back after their line or server was lost
    grace_left = 0  # seconds of the day's grace when they left it
    asks_look = False  # has yet to be asked what their terminal can show
    asks_language = False  # whether the tour offers the other languages
    agreed: AgreedDeposit | None = None  # what they want banked as they leave

    def __init__(
        self,
        console: Console,
        books: Books,
        config: Config,
        record: CallerRecord,
        node: int,
        opened: OpenedCall,
        purse: TickingPurse,
        new_seed: Callable[[], bytes],
    ) -> None:
        self.new_seed = new_seed
        self.console = console
        self.books = books
        self.config = config
        self.record = record
        self.node = node
        self.call_id = opened.call_id
        self.opened = opened
        self.purse = purse
        self.status = StatusLine(console, books, node, purse, config.coin)
        self.patience = Patience(console)
        self.clock = CallClock(console, books, config.calls, purse, self.status, self.patience)
        self.last_hand = LastHand(console)
        self.awards_shown: tuple[str, ...] = ()  # those not noted as told in the books
        self.notices_shown = Flag()  # raised by each notice that is shown during the call
        self.place = AT_LOG_ON
        self.statement = ""  # their result at the last table
        self.hand_waits = False  # whether they have an open hand at a game played alone
        self.came_back_to = ""  # the game at which an open hand waited for them
        self.chair: CallersChair | None = None  # while they sit at a table
        self.ended = Flag()
        # Whether the notices of the log-on have yet to be shown.
        self.reads_notices = bool(opened.notices or opened.messages)
        self.talk = Talk(console, books, config.social, record.id, self)
        console.keyboard.on_shown = self._note_shown
        if config.social.messages or config.social.watching:
            console.keyboard.commands = self.talk
        self.follow_preferences()

    @property
    def bank_settings(self) -> BankSettings:
        """The current settings of events, days and bank, not those of the log-on."""
        return self.books.settings()

    def prefers(self, preference: str) -> bool:
        return self.record.preferences.get(preference) is True

    @property
    def pace(self) -> Pace:
        """How fast cards fall: the caller's choice, else the board's."""
        chosen = self.record.preferences.get("animation")
        paces: tuple[Pace, ...] = get_args(Pace)
        return next((pace for pace in paces if pace == chosen), self.config.board.animation)

    @property
    def is_busy(self) -> bool:
        """Whether the caller is typing or being dealt to."""
        return self.status.waits or bool(self.console.display.view().typed)

    def follow_preferences(self) -> None:
        """Apply the caller's pace and language to the console."""
        self.console.keyboard.pace = PACES[self.pace]
        self.console.screen.hold_clocks(is_still=self.pace == "still")
        chosen = self.record.preferences.get("language")
        if chosen in LANGUAGES:
            self.console.viewer.language = str(chosen)

    # Coming and going.

    def news(self) -> list[str]:
        """Return the lines that the caller reads first, with pipe codes."""
        return [*self.letters(), *self.minutes()]

    def letters(self) -> list[str]:
        """Return the notices and messages that waited for the caller, as lines."""
        notices = [hanging(literal(str(each))) for each in self.opened.notices]
        return notices + self.talk.waiting_lines(self.opened.messages)

    def minutes(self) -> list[str]:
        """Return what became of the caller's minutes since the last call, as lines."""
        told = [] if self.prefers(EXPIRY_TOLD) else [wording.expiry(self.bank_settings)]
        waits = [_(WAITS)] if self.purse.posted.waits else []
        return [*wording.sentences(self.opened.receipt), *told, *waits]

    def time_up_words(self) -> str:
        closing = self.purse.posted.closing
        schedule = self.bank_settings.schedule
        now = self.console.clock.now()
        if closing is not None and self.purse.event_has_begun():
            back = wording.local_time(closing.end, schedule, now)
            words = _("{event} has begun. Please call back at {time}.")
            return words.format(event=closing.name, time=back)
        fresh = wording.fresh_minutes(schedule, now)
        words = _("You're out of time. {fresh}").format(fresh=fresh)
        if self.grace_left < MINUTE:  # too little to call again for
            return words
        more = _("You can look around for {left} more today.").format(left=span(self.grace_left))
        return f"{words} {more}"

    def last_words(self) -> list[str]:
        """Return what a painted screen says last, such as how a hand ended, without warnings."""
        display = self.console.display
        said = display.view().messages if self.console.screen.is_painted else ()
        return [message for message in said if message not in self.clock.warnings]

    async def farewell(self, reason: str) -> list[str]:
        """Bank leftover minutes if the caller wants that; return the lines about it."""
        wants = self.prefers(AUTO_DEPOSIT) or self.agreed is not None
        if reason == TakenOver.reason or not wants:
            return []
        try:
            receipt = await self.post(partial(deposit_before_leaving, agreed=self.agreed))
        except (CallClosed, BooksFailed):  # closing the call makes the deposit
            return []
        return [f"{row.why}." for row in receipt.rows if row.kind == "deposit"]

    async def how_it_was_closed(self) -> Closing | TakenOver:
        """Return the interruption for this call, which is closed in the books."""
        with contextlib.suppress(BooksFailed):
            return closed(await self.books.run(lambda desk: why_ended(desk, self.call_id)))
        return closed("")

    async def close(self, reason: str) -> None:
        """Post the rest of the used time and close the call in the books; sysops read `reason`."""
        with contextlib.suppress(CallClosed, BooksFailed):
            await self.post(partial(close_call, reason=reason, agreed=self.agreed), call_ends=True)

    # The books.

    async def post(
        self,
        operation: Callable[[Desk, int, int], R],
        *,
        is_theirs: bool = True,
        call_ends: bool = False,
    ) -> R:
        """Carry out `operation(desk, call_id, ticked)` and return its result once durable.

        The purse that comes back is adopted, unless a later one has been. The entry also notes the
        hand whose end was seen, and the awards that were. `is_theirs` is as for `ask_books`,
        `call_ends` as for `LastHand.seen_round`.
        """
        adopt, ticked = self.expect(), self.purse.ticked()
        seen_round = self.last_hand.seen_round(call_ends=call_ends)
        told = () if is_doubtful(self.console) else self.awards_shown

        def post(desk: Desk) -> R:
            result = operation(desk, self.call_id, ticked)
            if seen_round:
                note_seen(desk, self.record.id, seen_round)
            if told:
                awards.note_told(desk, self.record.id, told)
            return result

        result = await self.ask_books(post, is_theirs=is_theirs, takes_its_time=call_ends)
        self.last_hand.mark_noted(seen_round)
        self.awards_shown = tuple(each for each in self.awards_shown if each not in told)
        adopt(result.receipt if isinstance(result, Played) else result)
        return result

    def expect(self) -> Callable[[Receipt], None]:
        """Return a function that adopts the receipt of the caller's next entry.

        Call this just before the books are asked for the entry, which another may make for the
        caller at a shared table.
        """
        adopt_purse = self.purse.expect()

        def adopt(receipt: Receipt) -> None:
            if receipt.ended_round:
                self.last_hand.note_end(receipt.ended_round)
            if adopt_purse(receipt.purse):
                if any(row.kind == "external" for row in receipt.rows):
                    self.books.outbox_waits.set()
                self.clock.purse_changed()

        return adopt

    async def ask_books(
        self,
        operation: Callable[[Desk], T],
        *,
        is_theirs: bool = True,
        takes_its_time: bool = False,
    ) -> T:
        """Run an operation in the books that does not touch the caller's purse; see `Books.run`.

        The deadline is the time that a caller waits for an answer; with `takes_its_time` there is
        none. If the operation `is_theirs`, not their clock's, the caller reads when the disk has
        failed and the outcome is in doubt.
        """
        with self.patience:
            tell_doubt = self.patience.tell_doubt if is_theirs else None
            until = None if takes_its_time else self.console.keyboard.answer_by()
            return await self.books.run(operation, tell_doubt, until)

    async def look_up(self, operation: Callable[[Desk], T]) -> T:
        """Read from the books without the writer; see `Books.read`."""
        with self.patience:
            return await self.books.read(operation, self.console.keyboard.answer_by())

    async def note_seen(self) -> None:
        """Note in the books that the caller has seen the end of their last hand.

        Otherwise it is shown again at the next log-on.
        """
        number = self.last_hand.seen_round(call_ends=True)
        if number:
            with contextlib.suppress(BooksFailed):
                await self.ask_books(
                    lambda desk: note_seen(desk, self.record.id, number), takes_its_time=True
                )
                self.last_hand.mark_noted(number)

    async def touch(self) -> Receipt:
        """Post the time used, which also begins a new day and applies events."""
        return await self.post(touch, is_theirs=False)

    async def remember(self, preferences: Mapping[str, object]) -> None:
        self.record = await self.ask_books(
            lambda desk: callers.change_preferences(desk, self.record.id, preferences)
        )
        self.follow_preferences()
        self.status.show()  # in the language that they may have chosen

    async def change_language(self) -> None:
        await self.remember({"language": next_language(self.console.viewer.language)})

    async def send_watchers_away(self) -> str:
        """Let nobody watch from now on, at any table; return the words about it."""
        await self.remember({WATCHED: "none"})
        if self.chair is not None:
            self.chair.clear(SENT_AWAY)
        return _("Nobody can watch you now. To allow it again, type Y in the menu.")

    def earned(self, receipt: Receipt) -> list[str]:
        """Return a line about the awards of an entry, to be shown now, or none."""
        self.awards_shown += receipt.awards
        return [f"|14{award_words(receipt.awards)}"] if receipt.awards else []

    def tell(self, receipt: Receipt) -> None:
        if sentences := wording.sentences(receipt):
            self.console.screen.say("\n".join(f"|14{sentence}" for sentence in sentences))
        for line in self.earned(receipt):  # beside the result, to push out no other message
            self.console.screen.say_more(line)

    def _note_shown(self) -> None:
        """Count the end of a hand as shown, unless its cards are still being dealt."""
        if not self.status.waits:
            self.last_hand.mark_shown()
