"""The journal: shoes and rounds as they were played, to be found again after a crash or a year.

The journal stores what the tables give it and never looks inside: rules, actions and results are
JSON, a seed is 32 bytes. What it does see to: a seed stays out of every `repr`, and `shown_seed`
gives it only when the shoe is done.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from timebank.errors import RoundInPlay, ShoeGone
from timebank.ledger.database import Desk
from timebank.ledger.schema import instant, stamp
from timebank.words import Unit

OVERDUE_AFTER = timedelta(days=1)

log = logging.getLogger("timebank")


class JournalDamaged(Exception):
    """What stands in the journal of a round makes no sense; `str()` says what, in a clause."""

    def __init__(self, number: int, what: object) -> None:
        """Remember the number of the round."""
        super().__init__(f"its journal cannot be read: {what}")
        self.number = number


@dataclass(frozen=True, slots=True)
class Shoe:
    """A sealed shoe of one caller and game, or of a table."""

    id: int
    # The SHA-256 of the seed, to be shown before the bet.
    seal: str
    decks: int
    # Cards dealt from it before the hand in question, or so far.
    position: int
    # What the caller said when he cut, '' for nothing; None until the first hand is dealt.
    cut: str | None
    # Nothing was dealt from it yet, so it may still be cut.
    fresh: bool
    # It will not be dealt from again, so its seed may be shown.
    done: bool
    # Whose it is; None for the one that all at a table share.
    caller_id: int | None
    seed: bytes = field(repr=False)

    @property
    def shown_seed(self) -> str | None:
        """The seed in hexadecimal once the shoe is done, None before."""
        return self.seed.hex() if self.done else None


@dataclass(frozen=True, slots=True)
class StoredSeat:
    """One of those who play a round: whose it is, and what he bet in the round's unit."""

    seat: int
    round_id: int
    caller_id: int
    caller: str
    bet: int
    settled: bool


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A round as the journal has it, for one seat. Amounts are in `unit`."""

    id: int
    game: str
    caller_id: int
    caller: str
    day: date
    dealt: datetime
    rules: Mapping[str, object]
    # The opening bet.
    stake: int
    # What a coin was worth when it was placed.
    coin: int
    # With the position that this round began at; None for a game without cards.
    shoe: Shoe | None
    # (sequence, action), the bet first.
    actions: tuple[tuple[int, Mapping[str, object]], ...]
    # Cards of the shoe that the round has used.
    cards_used: int
    settled: bool
    # "void" when the caller was deleted with the hand still open.
    outcome: str | None
    result: Mapping[str, object] | None
    lost: int
    returned: int
    won: int
    unit: Unit
    seat: int
    # The round that the actions are journaled under; its own number where it is the first seat's.
    lead: int
    # All who play it, this one included, by their seats.
    seats: tuple[StoredSeat, ...]

    @property
    def sequence(self) -> int:
        """The number of the last action, 0 while there is only the bet."""
        return self.actions[-1][0]

    @property
    def start(self) -> int:
        """How many cards of the shoe were gone before this round."""
        return 0 if self.shoe is None else self.shoe.position


def open_shoe(desk: Desk, caller_id: int, game: str, decks: int, seed: bytes, seal: str) -> Shoe:
    """Give the caller's open shoe for a game, or seal a new one from `seed`.

    A shoe of another number of decks (the sysop has changed the rules) is closed and replaced,
    which lets its seed be seen. `seed` and `seal` are not used when there is a shoe.
    """
    return _opened(desk, caller_id, game, decks, seed, seal)


def open_table_shoe(desk: Desk, game: str, decks: int, seed: bytes, seal: str) -> Shoe:
    """Give the open shoe that all at a game's table share, or seal a new one, as `open_shoe`."""
    return _opened(desk, None, game, decks, seed, seal)


def _opened(
    desk: Desk, caller_id: int | None, game: str, decks: int, seed: bytes, seal: str
) -> Shoe:
    row = _open_shoe(desk, caller_id, game)
    if row is not None and row[2] != decks:
        close_shoe(desk, row[0])
        row = None
    if row is not None:
        return _shoe(*row)
    number = desk.connection.exec_driver_sql(
        "INSERT INTO shoes (caller_id, game, decks, seed, seal, opened) VALUES (?, ?, ?, ?, ?, ?)",
        (caller_id, game, decks, seed, seal, stamp(desk.now)),
    ).lastrowid
    return _shoe(number, seal, decks, 0, None, None, caller_id, seed)


# A hand from a shoe that is still in play.
DEALT_FROM = "SELECT 1 FROM rounds WHERE shoe_id = ? AND settled IS NULL"


def close_shoe(desk: Desk, shoe_id: int) -> None:
    """Declare a shoe done: nothing more is dealt from it and its seed may be shown.

    Raises `RoundInPlay` while a hand from it is open, `ShoeGone` when it is done already.
    """
    run = desk.connection.exec_driver_sql
    closed = run(
        "UPDATE shoes SET closed = ?"
        f" WHERE id = ? AND closed IS NULL AND NOT EXISTS ({DEALT_FROM})",
        (stamp(desk.now), shoe_id, shoe_id),
    ).rowcount
    if closed:
        return
    if run(DEALT_FROM, (shoe_id,)).scalar():
        raise RoundInPlay("A hand from this shoe is still in play.")
    raise ShoeGone("This shoe is done already.")


def round_in_play(desk: Desk, caller_id: int) -> StoredRound | None:
    """Find the caller's open hand; raises `JournalDamaged`."""
    return _only(_rounds(desk, "r.caller_id = ? AND r.settled IS NULL", (caller_id,)))


def stored_round(desk: Desk, round_id: int) -> StoredRound | None:
    """Find a round by its number; raises `JournalDamaged`."""
    return _only(_rounds(desk, "r.id = ?", (round_id,)))


def rounds(desk: Desk, caller_id: int | None) -> Iterator[StoredRound | JournalDamaged]:
    """Go through the rounds of a caller, or of everybody, in the order they were dealt.

    In place of one that cannot be read comes the error that says why.
    """
    if caller_id is None:
        return _rounds(desk, "1", ())
    return _rounds(desk, "r.caller_id = ?", (caller_id,))


# Rounds that keep a journal, while any seat of them is in play.
LEADS_IN_PLAY = """r.lead IS NULL
    AND r.id IN (SELECT coalesce(lead, id) FROM rounds WHERE settled IS NULL)"""


def overdue(desk: Desk) -> list[StoredRound]:
    """List the rounds that were left open past the end of the day after the one they began.

    Of a table, the one that keeps the journal. One that cannot be read is left out, and named in
    the log.
    """
    yesterday = desk.settings.schedule.day_of(desk.now) - OVERDUE_AFTER
    found = _rounds(desk, f"{LEADS_IN_PLAY} AND r.day < ?", (yesterday.isoformat(),))
    return list(_readable(found, "is overdue"))


def overdue_numbers(desk: Desk) -> list[int]:
    """List the numbers of the overdue rounds, also of those that cannot be read."""
    yesterday = desk.settings.schedule.day_of(desk.now) - OVERDUE_AFTER
    found = desk.connection.exec_driver_sql(
        f"SELECT r.id FROM rounds r WHERE {LEADS_IN_PLAY} AND r.day < ? ORDER BY r.id",
        (yesterday.isoformat(),),
    )
    return list(found.scalars())


def table_rounds(desk: Desk, game: str) -> list[StoredRound]:
    """List the rounds of a game in play, each by the round that keeps its journal.

    One that cannot be read is left out, and named in the log.
    """
    found = _rounds(desk, f"{LEADS_IN_PLAY} AND r.game = ?", (game,))
    return list(_readable(found, "is in play"))


def _readable(found: Iterator[StoredRound | JournalDamaged], what: str) -> Iterator[StoredRound]:
    for stored in found:
        if isinstance(stored, JournalDamaged):
            log.error("hand %d %s, but %s", stored.number, what, stored)
        else:
            yield stored


# How many cards of a shoe are gone behind its last round; NULL for one without any.
GONE = """(SELECT start_position + (SELECT max(cards_used) FROM actions
    WHERE round_id = coalesce(r.lead, r.id))
    FROM rounds r WHERE r.shoe_id = {shoe} ORDER BY r.id DESC LIMIT 1)"""
POSITION = f"coalesce({GONE.format(shoe='s.id')}, 0)"


def _open_shoe(desk: Desk, caller_id: int | None, game: str) -> Any:
    return desk.connection.exec_driver_sql(
        f"SELECT s.id, s.seal, s.decks, {POSITION}, s.cut, s.closed, s.caller_id, s.seed"
        " FROM shoes s WHERE s.caller_id IS ? AND s.game = ? AND s.closed IS NULL",
        (caller_id, game),
    ).first()


def _shoe(number: int, seal: str, decks: int, position: int, cut: str | None, *rest: Any) -> Shoe:
    closed, caller_id, seed = rest
    return Shoe(
        number, seal, decks, position, cut, cut is None, closed is not None, caller_id, seed
    )


ROUNDS = """
SELECT r.id, r.game, r.caller_id, c.name, r.day, r.dealt, r.rules, r.bet, r.coin, r.settled,
       r.outcome, r.result, r.lost, r.returned, r.won, r.unit, r.seat, coalesce(r.lead, r.id),
       s.id, s.seal, s.decks, r.start_position, s.cut, s.closed, s.caller_id, s.seed
FROM rounds r JOIN callers c ON c.id = r.caller_id LEFT JOIN shoes s ON s.id = r.shoe_id
WHERE {where} ORDER BY r.id
"""


def _only(found: Iterator[StoredRound | JournalDamaged]) -> StoredRound | None:
    stored = next(found, None)
    if isinstance(stored, JournalDamaged):
        raise stored
    return stored


def _rounds(
    desk: Desk, where: str, values: tuple[object, ...]
) -> Iterator[StoredRound | JournalDamaged]:
    for row in desk.connection.exec_driver_sql(ROUNDS.format(where=where), values):
        played = desk.connection.exec_driver_sql(
            "SELECT sequence, action, cards_used FROM actions WHERE round_id = ? ORDER BY sequence",
            (row[17],),
        ).all()
        try:
            stored = _stored(row, played, _seats(desk, row[17]))
        except (ValueError, TypeError, OverflowError, OSError) as error:
            yield JournalDamaged(row[0], error)
        else:
            yield stored


SEATS = """
SELECT r.seat, r.id, r.caller_id, c.name, r.bet, r.settled IS NOT NULL
FROM rounds r JOIN callers c ON c.id = r.caller_id WHERE r.id = ?1 OR r.lead = ?1 ORDER BY r.seat
"""


def _seats(desk: Desk, lead: int) -> tuple[StoredSeat, ...]:
    return tuple(
        StoredSeat(seat, number, caller_id, caller, bet, bool(settled))
        for seat, number, caller_id, caller, bet, settled in desk.connection.exec_driver_sql(
            SEATS, (lead,)
        )
    )


def _stored(
    row: Sequence[Any], played: Sequence[Sequence[Any]], seats: tuple[StoredSeat, ...]
) -> StoredRound:
    (number, game, caller_id, caller, day, dealt, rules, bet, coin, settled) = row[:10]
    outcome, result, lost, returned, won, unit, seat, lead = row[10:18]
    return StoredRound(
        id=number,
        game=game,
        caller_id=caller_id,
        caller=caller,
        day=date.fromisoformat(day),
        dealt=instant(dealt),
        rules=_object(rules),
        stake=bet,
        coin=coin,
        shoe=None if row[18] is None else _shoe(*row[18:]),
        actions=tuple((sequence, _object(action)) for sequence, action, _ in played),
        cards_used=max((used for _, _, used in played), default=0),
        settled=settled is not None,
        outcome=outcome,
        result=None if result is None else _object(result),
        lost=lost,
        returned=returned,
        won=won,
        unit=unit,
        seat=seat,
        lead=lead,
        seats=seats,
    )


def _object(text: str) -> dict[str, object]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"{text[:40]} is no JSON object")
    return found
