"""Play money: bankrolls in dollars and francs, the bank that each caller faces, and tallies.

It is in the same books as time, in units of its own that never mix with it: what nobody has won
from anybody comes from the mint of its unit. Amounts are cents.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from timebank.ledger.database import Desk
from timebank.ledger.entry import Posting, enter
from timebank.ledger.play_accounts import PlayAccounts
from timebank.ledger.purse import Receipt
from timebank.ledger.reasons import Bankroll, Refilled, Renewed
from timebank.ledger.schema import instant
from timebank.ledger.transfers import Account, mint
from timebank.wagers.stakes import BANKROLL
from timebank.words import Unit

# What a new player gets, and what the bank holds at every return (baccarat-markland.txt).
NEW_BANKROLL = 100_000_00
FULL_BANK = 1_000_000_00


@dataclass(frozen=True, slots=True)
class Tally:
    """All of a caller's rounds of a game: what he staked, and what he won less what he lost.

    Whole coins or dollars; each round is counted in the coin that it was dealt with.
    """

    action: int
    standing: int


def sit_down(desk: Desk, call_id: int, ticked: int, unit: Unit) -> Receipt:
    """Let a caller sit down at baccarat with his bankroll of a unit of play money.

    A new player gets his bankroll; one that is gone is renewed on a later day than that on which
    it was lost; the bank has recovered from whatever it lost to him. None of it happens while a
    round of the unit is in play, which goes on against the same bank. Raises `CallClosed`, and
    ValueError for a unit in which nobody has a bankroll.
    """
    if unit == "second":
        raise ValueError("a bankroll is play money")
    posting = enter(desk, call_id, ticked)
    play = posting.play = PlayAccounts(desk, posting.caller_id, unit)
    if not _is_in_play(posting, unit):
        play.open(BANKROLL)
        source = mint(desk, unit)
        _fill_bankroll(posting, play, source)
        _fill_bank(posting, play, source)
    return posting.finish(0, "")


def renew_bankroll(desk: Desk, call_id: int, ticked: int, unit: Unit) -> Receipt:
    """Give a caller who sits at the table another bankroll, if his is gone and its day is over.

    The bank does not recover: he has not returned to it. Nothing is given while a round of the unit
    is in play, nor to one who never sat down. Raises `CallClosed`.
    """
    posting = enter(desk, call_id, ticked)
    play = posting.play = PlayAccounts(desk, posting.caller_id, unit)
    if "bankroll" in play.account and not _is_in_play(posting, unit):
        _fill_bankroll(posting, play, mint(desk, unit))
    return posting.finish(0, "")


def bankrolls(desk: Desk, caller_id: int) -> dict[Unit, int]:
    """Tell what a caller has at hand, by unit; one in which he never sat down is missing."""
    found = desk.connection.exec_driver_sql(
        "SELECT unit, balance FROM accounts WHERE caller_id = ? AND kind = 'bankroll'", (caller_id,)
    )
    return dict(found.all())


# What is on the table belongs to the round in play: a caller has one at most.
TALLY = """
SELECT coalesce(sum((r.lost + r.returned + iif(r.settled IS NULL, a.balance, 0)) / r.coin), 0),
    coalesce(sum((r.won - r.lost) / r.coin), 0)
FROM rounds r JOIN accounts a
    ON a.caller_id = r.caller_id AND a.unit = r.unit AND a.kind = 'stake'
WHERE r.caller_id = ? AND r.game = ? AND r.unit = ? AND r.outcome IS NOT 'void'
"""


def tally(desk: Desk, caller_id: int, game: str, unit: Unit) -> Tally:
    """Add up all that a caller ever played of a game in one unit, an open round included.

    A void one was not played.
    """
    action, standing = desk.connection.exec_driver_sql(TALLY, (caller_id, game, unit)).one()
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


# The last round that was lost out of the bankroll, and the day that it counted for.
LOSS = """
SELECT t.at, r.day, (SELECT d.after >= t.id FROM days d WHERE d.caller_id = r.caller_id
    AND d.day = ?)
FROM transfers t JOIN rounds r ON r.id = t.round_id
WHERE t.target = ? AND t.source = ? ORDER BY t.id DESC LIMIT 1
"""


def _day_of_loss(posting: Posting, play: PlayAccounts) -> tuple[str | None, bool]:
    """Tell the day on which the bankroll was lost, None for a new player, and whether it is over.

    Whichever is later of the board's day and the caller's: his never goes back with the clock. One
    that is far ahead was of a wrong clock, and is over when a day has begun for him since.
    """
    ends = (play.account["casino"].id, play.account["stake"].id)
    schedule = posting.desk.settings.schedule
    today = posting.day or ""
    found = posting.desk.connection.exec_driver_sql(LOSS, (today, *ends)).first()
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
