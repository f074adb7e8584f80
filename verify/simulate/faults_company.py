"""Faults of callers in company: in deals, tournaments, messages and uncharged minutes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest

from door.call.call_clock import CallClock
from door.call.talk import Talk
from door.games.blackjack import duplicate
from door.games.blackjack.world import world_shoe
from door.session import daily_deal, shared_hands
from door.session.daily_deal import DailyDeal, DealOverview
from door.session.shared_hands import SharedHands
from timebank.callers import hearing, messages
from timebank.callers.callers import CallerRecord
from timebank.callers.messages import Message
from timebank.calls import grace
from timebank.calls.grace import GracePiece
from timebank.errors import BooksUnavailable
from timebank.keeping import restored_books
from timebank.language import Phrase
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.reasons import Reason
from timebank.ledger.schema import stamp
from timebank.wagers import contests, deals, duels, tournaments
from timebank.wagers.contests import Contest, ContestResult, ContestTry
from timebank.wagers.deals import DealOfDay, Shoe
from timebank.wagers.duels import Duel


def deals_other_cards_than_it_keeps(patch: pytest.MonkeyPatch) -> None:
    """A deal that shows cards from another shoe than the sealed one."""

    def cards_of(rules: Any, seed: bytes, number: int) -> Any:
        return duplicate.cards_of(rules, sha256(seed).digest(), number)

    patch.setattr(shared_hands, "cards_of", cards_of)


def deals_anew_after_a_hang_up(patch: pytest.MonkeyPatch) -> None:
    """A try that restarts from its first card whenever its caller returns."""
    real = contests.begin

    def begin(desk: Desk, contest: Contest, caller_id: int) -> ContestTry:
        real(desk, contest, caller_id)
        desk.connection.exec_driver_sql(
            f"UPDATE deal_tries SET acts = '' WHERE caller_id = {caller_id} AND finished IS NULL"
        )
        return ContestTry(())

    patch.setattr(contests, "begin", begin)


def shows_the_seed_of_an_open_deal(patch: pytest.MonkeyPatch) -> None:
    real = DailyDeal.rows

    def rows(self: DailyDeal, overview: DealOverview) -> list[str]:
        return [f"|07{overview.contest.seed.hex()}", *real(self, overview)]

    patch.setattr(DailyDeal, "rows", rows)


def seals_a_deal_for_each(patch: pytest.MonkeyPatch) -> None:
    """Another shoe for every caller, where the deal is the board's own."""
    real = deals.todays

    def todays(desk: Desk, shoe_of: Callable[[date], Shoe]) -> DealOfDay:
        deals._CLOSE(desk.connection, closed=stamp(desk.now))
        return real(desk, shoe_of)

    patch.setattr(deals, "todays", todays)


def deals_a_world_of_its_own(patch: pytest.MonkeyPatch) -> None:
    """A world's deal with the cards of the next date."""

    def shoe_of_tomorrow(day: date) -> Shoe:
        seed, _seal, _rules = world_shoe(day + timedelta(days=1))
        _seed, seal, rules = world_shoe(day)
        return seed, seal, rules

    patch.setattr(daily_deal, "world_shoe", shoe_of_tomorrow)


def goes_on_after_the_end_of_a_deal(patch: pytest.MonkeyPatch) -> None:
    """A try at a deal after its seed was published."""
    patch.setattr(contests, "refuse_closed", lambda *_: None)


def shows_decisions_before_they_are_kept(patch: pytest.MonkeyPatch) -> None:
    """A deal that draws the next card although the books could not be written."""
    real = SharedHands.__init__

    def init(self: SharedHands, *parts: Any) -> None:
        real(self, *parts)
        note = self._note

        async def hides(*what: Any) -> None:
            try:
                await note(*what)
            except BooksUnavailable:
                return

        self._note = hides

    patch.setattr(SharedHands, "__init__", init)


def notes_another_score(patch: pytest.MonkeyPatch) -> None:
    real = contests.act

    def act(
        desk: Desk,
        contest: Contest,
        caller_id: int,
        before: Sequence[str],
        word: str,
        score: int | None,
    ) -> None:
        real(desk, contest, caller_id, before, word, None if score is None else score + 10)

    patch.setattr(contests, "act", act)


def weighs_too_lightly(patch: pytest.MonkeyPatch) -> None:
    """Decisions rated at half of their cost, all equally."""
    real = contests.weigh

    def weigh(desk: Desk, seal: str, caller_id: int, cost: int) -> None:
        real(desk, seal, caller_id, cost // 2)

    patch.setattr(contests, "weigh", weigh)


def leaves_deals_open(patch: pytest.MonkeyPatch) -> None:
    """A restore that continues a deal with cards that may have been seen."""
    patch.setattr(restored_books.contests, "close_all", lambda desk: None)


def keeps_messages_twice(patch: pytest.MonkeyPatch) -> None:
    real = messages._ADD
    patch.setattr(messages, "_ADD", lambda *a, **k: (real(*a, **k), real(*a, **k)))


def keeps_no_message(patch: pytest.MonkeyPatch) -> None:
    """A confirmed message that is not stored."""
    patch.setattr(messages, "_ADD", lambda *_, **__: None)


def tells_another(patch: pytest.MonkeyPatch) -> None:
    """A message shown to another caller too."""
    real = messages.unseen

    def unseen(desk: Desk, caller_ids: Collection[int]) -> dict[int, tuple[Message, ...]]:
        prizes = real(desk, caller_ids)
        every = tuple(message for several in prizes.values() for message in several)
        return dict.fromkeys(caller_ids, every) if every else prizes

    patch.setattr(messages, "unseen", unseen)


def marks_what_nobody_was_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Talk, "incoming_lines", lambda self, incoming: [])


def tells_again_and_again(patch: pytest.MonkeyPatch) -> None:
    """Messages that are never marked as read."""
    patch.setattr(messages, "_SHOW", lambda *_, **__: None)


def lets_the_muted_speak(patch: pytest.MonkeyPatch) -> None:
    def refuse(writer: CallerRecord, reader: CallerRecord) -> Phrase | None:
        return real(replace(writer, muted=False), reader)

    real = hearing.refusal
    patch.setattr(hearing, "refusal", refuse)
    patch.setattr(hearing, "muted", lambda *_: frozenset[int]())


def pays_the_first_alone(patch: pytest.MonkeyPatch) -> None:
    """A shared prize that goes to one of the winners."""
    real = tournaments.prize_shares

    def prize_shares(put_up: Sequence[int], entries: int, places: Sequence[int]) -> list[int]:
        won = real(put_up, entries, places)
        return [sum(won), *[0] * (len(won) - 1)] if won else won

    patch.setattr(tournaments, "prize_shares", prize_shares)


def _never_ends(patch: pytest.MonkeyPatch, kind: type[Contest]) -> None:
    real = contests.end

    def end(desk: Desk, contest: Contest, *how: Any) -> None:
        if not isinstance(contest, kind):
            real(desk, contest, *how)

    patch.setattr(contests, "end", end)


def settles_again_and_again(patch: pytest.MonkeyPatch) -> None:
    """A tournament that is paid out, and stays open."""
    _never_ends(patch, tournaments.Tournament)


def keeps_entries(patch: pytest.MonkeyPatch) -> None:
    """A tournament without finishers that refunds nothing."""
    patch.setattr(tournaments, "_undo", lambda *_: None)


def forgets_what_was_paid(patch: pytest.MonkeyPatch) -> None:
    """Entries in the account of prizes that no caller can win."""
    patch.setattr(contests, "ALL_PAID", SimpleNamespace(one=lambda *_, **__: 0))


def keeps_stakes(patch: pytest.MonkeyPatch) -> None:
    """A duel that ends without a winner, and keeps the stakes."""
    real = contests.give_back

    def give_back(desk: Desk, contest: Contest, reason: Reason) -> None:
        if not isinstance(contest, Duel):
            real(desk, contest, reason)

    patch.setattr(contests, "give_back", give_back)


def pays_the_loser_of_a_duel(patch: pytest.MonkeyPatch) -> None:
    real = duels._pay_winner

    def pay(
        desk: Desk, duel: Duel, winner: ContestResult, loser: ContestResult, *texts: Any
    ) -> None:
        real(desk, duel, loser, winner, *texts)

    patch.setattr(duels, "_pay_winner", pay)


def spares_who_leaves_a_duel(patch: pytest.MonkeyPatch) -> None:
    """A duel that comes home although one of the two has left hands unfinished."""
    patch.setattr(contests, "unfinished", lambda *_: [])


def leaves_duels_open(patch: pytest.MonkeyPatch) -> None:
    """A duel that is paid out, and stays open."""
    _never_ends(patch, Duel)


def gives_every_call_minutes_of_its_own(patch: pytest.MonkeyPatch) -> None:
    """Uncharged minutes that restart after every hang-up."""
    real, known = grace.take_piece, set[int]()

    def take(desk: Desk, call_id: int, ticked: int, *, to_look_around: bool) -> GracePiece:
        if call_id not in known:
            known.add(call_id)
            desk.connection.exec_driver_sql(
                "UPDATE days SET grace = 0 WHERE caller_id ="
                f" (SELECT caller_id FROM calls WHERE id = {call_id})"
            )
        return real(desk, call_id, ticked, to_look_around=to_look_around)

    patch.setattr(grace, "take_piece", take)


def gives_minutes_past_an_event(patch: pytest.MonkeyPatch) -> None:
    """Uncharged minutes on a board that is closed for its event."""
    real = grace.enter

    def enter(desk: Desk, call_id: int, ticked: int) -> Posting:
        posting = real(desk, call_id, ticked)
        posting.state = posting.state._replace(event=None)
        return posting

    def has_grace(self: CallClock) -> bool:
        return self.day_grace is not None and not self.day_grace.is_over()

    patch.setattr(grace, "enter", enter)
    patch.setattr(CallClock, "_has_grace", has_grace)


# With the first seed of each search.
FAULTS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    deals_other_cards_than_it_keeps: 3,
    deals_anew_after_a_hang_up: 7,
    shows_the_seed_of_an_open_deal: 2,
    seals_a_deal_for_each: 4,
    deals_a_world_of_its_own: 1,
    goes_on_after_the_end_of_a_deal: 30,
    shows_decisions_before_they_are_kept: 65,
    notes_another_score: 1,
    weighs_too_lightly: 6,
    leaves_deals_open: 7,
    keeps_messages_twice: 1,
    keeps_no_message: 4,
    tells_another: 4,
    marks_what_nobody_was_shown: 49,
    tells_again_and_again: 5,
    lets_the_muted_speak: 29,
    pays_the_first_alone: 39,
    settles_again_and_again: 5,
    keeps_entries: 29,
    forgets_what_was_paid: 5,
    keeps_stakes: 1,
    pays_the_loser_of_a_duel: 20,
    spares_who_leaves_a_duel: 1,
    leaves_duels_open: 8,
    gives_every_call_minutes_of_its_own: 9,
    gives_minutes_past_an_event: 46,
}
