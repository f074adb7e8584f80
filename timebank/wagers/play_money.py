"""Play money: bankrolls in dollars and francs, each caller's bank, and tallies. Amounts are cents.

The same books hold it in units of its own, which never mix with time. New money of a unit comes
from its mint.
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

# A new player's bankroll, and the bank at every return to the table (baccarat-markland.txt).
NEW_BANKROLL = 100_000_00
FULL_BANK = 1_000_000_00


@dataclass(frozen=True, slots=True)
class Tally:
    """All of a caller's rounds of a game: the sum of the stakes (`action`), and the net result.

    Whole coins or dollars. Each round counts in the coin that it was dealt with.
    """

    action: int
    net: int


def sit_down(desk: Desk, call_id: int, ticked: int, unit: Unit) -> Receipt:
    """Let a caller sit down with a bankroll of a unit of play money.

    A new player gets a bankroll. A lost one is renewed on a later day than that of the loss. The
    bank is full again. None of this happens while a round of the unit is in play, because it
    continues against the same bank.

    `ticked` is the number of seconds since log-on. Raises `CallClosed`, and ValueError if `unit` is
    "second".
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
    """Renew a lost bankroll of a caller at the table, on a later day than that of the loss.

    The bank is not refilled, because the caller has not returned to it. Nothing happens while a
    round of the unit is in play, or if the caller never sat down. Raises `CallClosed`.
    """
    posting = enter(desk, call_id, ticked)
    play = posting.use_play_money(unit)
    if "bankroll" in play.account and not _is_in_play(posting, unit):
        _fill_bankroll(posting, play, mint(desk, unit))
    return posting.finish()


def bankrolls(desk: Desk, caller_id: int) -> dict[Unit, int]:
    """Return a caller's bankrolls in cents, by unit; without units that the caller never played."""
    return dict(_BANKROLLS(desk.connection, caller_id=caller_id).all())


_BANKROLLS = Prepared(
    lambda: select(accounts.c.unit, accounts.c.balance).where(
        accounts.c.caller_id == bindparam("caller_id"), accounts.c.kind == "bankroll"
    )
)


def _tally() -> Query:
    """Add up all rounds of a game, each in whole coins of its own.

    The stake on the table belongs to the round in play. A caller has one at most.
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
    """Return the tally of a caller's rounds of a game in one unit, with an open round."""
    action, net = _TALLY(desk.connection, caller_id=caller_id, game=game, unit=unit).one()
    return Tally(action, net)


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
    """Select the last loss out of the bankroll: its time and its round's day.

    The third column says whether it came before today's first transfer of the caller.
    """
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
    """Return the day on which the bankroll was lost, None for a new player, and whether it is over.

    It is the later of the board's day and the caller's, which never goes back with the clock. A day
    far ahead is from a wrong clock. It is over when another day has begun for the caller since.
    """
    ends = {name: play.account[name].id for name in ("casino", "stake")}
    schedule = posting.desk.settings.schedule
    today = posting.state.day or ""
    loss = _LOSS(posting.desk.connection, today=today, **ends).first()
    if loss is None:
        return None, True
    at, day, is_before = loss
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
