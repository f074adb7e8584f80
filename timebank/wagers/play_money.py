"""Play money: bankrolls in dollars and francs, the bank that each caller faces, and tallies.

It is in the same books as time, in units of its own that never mix with it: what nobody has won
from anybody comes from the mint of its unit. Amounts are cents.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, bindparam, case, func, select

from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting, enter
from timebank.ledger.play_accounts import PlayAccounts
from timebank.ledger.purse import Receipt
from timebank.ledger.reasons import Bankroll, Refilled, Renewed
from timebank.ledger.schema import accounts, days, instant, rounds, transfers
from timebank.ledger.sql import Prepared, Query
from timebank.ledger.transfers import Account, mint
from timebank.wagers.stakes import BANKROLL
from timebank.words import Unit

# What a new player gets, and what the bank holds at every return (baccarat-markland.txt).
NEW_BANKROLL = 100_000_00
FULL_BANK = 1_000_000_00


@dataclass(frozen=True, slots=True)
class Tally:
    """All of a caller's rounds of a game: what was staked, and what was won less what was lost.

    Whole coins or dollars; each round is counted in the coin that it was dealt with.
    """

    action: int
    standing: int


def sit_down(desk: Desk, call_id: int, ticked: int, unit: Unit) -> Receipt:
    """Let a caller sit down with a bankroll of a unit of play money.

    A new player gets a bankroll; one that is gone is renewed on a later day than that on which
    it was lost; the bank has recovered from whatever it lost to them. None of it happens while a
    round of the unit is in play, which goes on against the same bank. Raises `CallClosed`, and
    ValueError for a unit in which nobody has a bankroll.
    """
    if unit == "second":
        raise ValueError("a bankroll is play money")
    posting = enter(desk, call_id, ticked)
    play = posting.use_play_money(unit)
    if not _is_in_play(posting, unit):
        play.open(BANKROLL)
        source = mint(desk, unit)
        _fill_bankroll(posting, play, source)
        _fill_bank(posting, play, source)
    return posting.finish()


def renew_bankroll(desk: Desk, call_id: int, ticked: int, unit: Unit) -> Receipt:
    """Give a caller who sits at the table another bankroll, if theirs is gone and its day is over.

    The bank does not recover: they have not returned to it. Nothing is given while a round of the
    unit is in play, nor to one who never sat down. Raises `CallClosed`.
    """
    posting = enter(desk, call_id, ticked)
    play = posting.use_play_money(unit)
    if "bankroll" in play.account and not _is_in_play(posting, unit):
        _fill_bankroll(posting, play, mint(desk, unit))
    return posting.finish()


def bankrolls(desk: Desk, caller_id: int) -> dict[Unit, int]:
    """Tell what a caller has at hand, by unit; one in which they never sat down is missing."""
    return dict(_BANKROLLS(desk.connection, caller_id=caller_id).all())


_BANKROLLS = Prepared(
    lambda: select(accounts.c.unit, accounts.c.balance).where(
        accounts.c.caller_id == bindparam("caller_id"), accounts.c.kind == "bankroll"
    )
)


def _tally() -> Query:
    """Add up all rounds of a game in whole coins, each in its own.

    What is on the table belongs to the round in play: a caller has one at most.
    """
    hand = rounds.c
    on_table = case((hand.settled.is_(None), accounts.c.balance), else_=0)
    stake = and_(
        accounts.c.caller_id == hand.caller_id,
        accounts.c.unit == hand.unit,
        accounts.c.kind == "stake",
    )
    return (
        select(
            func.coalesce(func.sum((hand.lost + hand.returned + on_table) // hand.coin), 0),
            func.coalesce(func.sum((hand.won - hand.lost) // hand.coin), 0),
        )
        .select_from(rounds)
        .join(accounts, stake)
        .where(hand.caller_id == bindparam("caller_id"), hand.game == bindparam("game"))
        .where(hand.unit == bindparam("unit"), hand.outcome.is_distinct_from("void"))
    )


_TALLY = Prepared(_tally)


def tally(desk: Desk, caller_id: int, game: str, unit: Unit) -> Tally:
    """Add up all that a caller ever played of a game in one unit, an open round included."""
    found = _TALLY(desk.connection, caller_id=caller_id, game=game, unit=unit)
    action, standing = found.one()
    return Tally(action, standing)


def _is_in_play(posting: Posting, unit: Unit) -> bool:
    hand = posting.in_play
    return hand is not None and hand.unit == unit


def _fill_bankroll(posting: Posting, play: PlayAccounts, source: Account) -> None:
    if play.balance["bankroll"]:
        return
    lost_on, is_over = _day_of_loss(posting, play)
    if not is_over:
        return
    reason = Bankroll() if lost_on is None else Renewed(lost_on)
    posting.move(source, play.account["bankroll"], NEW_BANKROLL, reason)


def _loss() -> Query:
    """Choose the last round that was lost out of the bankroll, and the day that it counted for."""
    is_before = (
        select(days.c.after >= transfers.c.id)
        .where(days.c.caller_id == rounds.c.caller_id, days.c.day == bindparam("today"))
        .correlate_except(days)
        .scalar_subquery()
    )
    return (
        select(transfers.c.at, rounds.c.day, is_before)
        .select_from(transfers)
        .join(rounds, rounds.c.id == transfers.c.round_id)
        .where(transfers.c.target == bindparam("casino"), transfers.c.source == bindparam("stake"))
        .order_by(transfers.c.id.desc())
        .limit(1)
    )


_LOSS = Prepared(_loss)


def _day_of_loss(posting: Posting, play: PlayAccounts) -> tuple[str | None, bool]:
    """Tell the day on which the bankroll was lost, None for a new player, and whether it is over.

    Whichever is later of the board's day and the caller's: theirs never goes back with the clock.
    One that is far ahead was of a wrong clock, and is over when a day has begun for them since.
    """
    ends = {name: play.account[name].id for name in ("casino", "stake")}
    schedule = posting.desk.settings.schedule
    today = posting.state.day or ""
    found = _LOSS(posting.desk.connection, today=today, **ends).first()
    if found is None:
        return None, True
    at, day, is_before = found
    lost_on = max(schedule.day_of(instant(at)).isoformat(), day)
    tomorrow = (schedule.day_of(posting.desk.now) + timedelta(days=1)).isoformat()
    return lost_on, today > lost_on or (lost_on > tomorrow and bool(is_before))


def _fill_bank(posting: Posting, play: PlayAccounts, source: Account) -> None:
    casino, missing = play.account["casino"], FULL_BANK - play.balance["casino"]
    reason = Refilled(FULL_BANK)
    if missing > 0:
        posting.move(source, casino, missing, reason)
    else:
        posting.move(casino, source, -missing, reason)
