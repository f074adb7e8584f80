"""The deletion of a caller, who can be brought back until the nightly work removes them.

A deleted caller is hidden from everybody, and another may take the name. Their time stays in their
accounts, as of a caller who does not call. `remove` forfeits it, and deletes password, preferences
and messages. The history stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import BindParameter, bindparam

from timebank.callers import callers as records
from timebank.callers import messages
from timebank.callers.notices import Amount, GameNamed, tell_hand
from timebank.calls.calls import close_if_dead
from timebank.errors import CallerOnline
from timebank.guests.departure import keep_waiting_payments, leave_without_call
from timebank.language import N_, Phrase
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.play_accounts import play_units
from timebank.ledger.reasons import Deleted
from timebank.ledger.schema import callers, chains, shoes, stamp
from timebank.ledger.sql import Prepared, change, equal, fields_of, read
from timebank.ledger.transfers import ADJUSTMENT, FORFEIT, mint
from timebank.wagers import duels, rounds
from timebank.wagers.stakes import Stakes

VOID = N_(
    "Your open hand at {game} is void: the sysop deleted your name, and brought it back. {amount}"
    " came back from the table."
)
# The result of a hand that was open when its caller was deleted.
WHY_VOID: rounds.Json = {"void": "deleted"}

_NOW: BindParameter[int] = bindparam("now")
_CLOSE_SHOES = Prepared(
    lambda: change(shoes, "", equal(shoes.c.caller_id), shoes.c.closed.is_(None), closed=_NOW)
)
_CLOSE_CHAINS = Prepared(
    lambda: change(chains, "", equal(chains.c.caller_id), chains.c.closed.is_(None), closed=_NOW)
)
_IS_CALLER = callers.c.id == bindparam("caller_id")
_HIDE = Prepared(lambda: change(callers, "", _IS_CALLER, deleted=_NOW, powers=0))
_STRIKE_OFF = Prepared(
    lambda: change(
        callers,
        "",
        _IS_CALLER,
        removed=_NOW,
        password_hash="",
        preferences="{}",
        recovery_digest=None,
    )
)


class Hidden(NamedTuple):
    """A deleted caller who can be brought back. `deleted` is seconds since 1970."""

    id: int
    name: str
    fold: str
    deleted: int


_HIDDEN = read(
    Hidden,
    lambda: (
        fields_of(Hidden, callers)
        .where(callers.c.deleted.is_not(None), callers.c.removed.is_(None))
        .order_by(callers.c.deleted.desc())
    ),
)


def delete(desk: Desk, caller_id: int) -> None:
    """Hide a caller, who can be brought back.

    An open hand becomes void and its stake returns; at a shared table, only the caller's seat. The
    stakes of open duels go home. Raises `CallerOnline` and `UnknownCaller`.
    """
    records.get(desk, caller_id)
    if not close_if_dead(desk, caller_id):
        raise CallerOnline(Phrase("They are online; let them log off first."))
    duels.end_all(desk, "called off", caller_id)
    make_void(desk, caller_id, WHY_VOID, VOID)
    for strike in (_CLOSE_SHOES, _CLOSE_CHAINS, _HIDE):
        strike(desk.connection, now=stamp(desk.now), caller_id=caller_id)


def hidden(desk: Desk) -> list[Hidden]:
    """Return the deleted callers who can be brought back, the latest first."""
    return _HIDDEN.all(desk.connection)


def remove(desk: Desk, caller_id: int) -> None:
    """Forfeit the time of a deleted caller, and delete password, preferences and messages."""
    _take_back(Posting.of_caller(desk, caller_id, leave_without_call))
    messages.forget_caller(desk, caller_id)
    _STRIKE_OFF(desk.connection, now=stamp(desk.now), caller_id=caller_id)


def make_void(desk: Desk, caller_id: int, why: Mapping[str, object], text: str) -> None:
    """Make the open hand of a caller on no call void, if there is one, and return its stake.

    A part that is settled already, such as a lost insurance, stays settled.
    """
    posting = Posting.of_caller(desk, caller_id, leave_without_call)
    hand = posting.in_play
    if hand is None:
        return
    posting.set_round(hand.round_id)
    stakes = Stakes(posting, hand.game, hand.unit, hand.house_id)
    stake = stakes.on_table
    settlement = rounds.Settlement(0, stake, 0, rounds.VOID, why, final=True)
    rounds.settle(stakes, hand.game, settlement)
    rounds.write_settlement(posting, hand, settlement)
    posting.finish()
    game, amount = GameNamed(hand.game), Amount(stake, hand.unit)
    tell_hand(desk, caller_id, hand.round_id, text, game=game, amount=amount)


def _take_back(posting: Posting) -> None:
    """Empty a caller's accounts: time is forfeited, play money returns to the mint."""
    desk, gone = posting.desk, Deleted(posting.name, in_hand=False)
    keep_waiting_payments(posting)
    for kind in ("online", "held", "bank"):
        posting.move(kind, FORFEIT, getattr(posting.state, kind), gone)
    posting.move(ADJUSTMENT, "loan", -posting.state.loan, gone)
    for unit in play_units(desk, posting.caller_id):
        play = posting.use_play_money(unit)
        source = mint(desk, unit)
        for kind, account in play.account.items():
            posting.move(account, source, max(0, play.balance[kind]), gone)
            posting.move(source, account, max(0, -play.balance[kind]), gone)
    posting.finish()
