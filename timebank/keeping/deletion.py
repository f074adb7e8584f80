"""The deletion of a caller: their time is forfeited, the name is free, the history stays."""

from __future__ import annotations

from sqlalchemy import BindParameter, bindparam

from timebank.callers import messages
from timebank.calls.calls import close_if_dead
from timebank.errors import CallerOnline
from timebank.guests.departure import keep_waiting_payments, leave_without_call
from timebank.language import Phrase
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.play_accounts import play_units
from timebank.ledger.reasons import Deleted
from timebank.ledger.schema import callers, chains, rounds, shoes, stamp
from timebank.ledger.sql import Prepared, change, equal
from timebank.ledger.transfers import ADJUSTMENT, FORFEIT, mint
from timebank.wagers import duels

_NOW: BindParameter[int] = bindparam("now")
_VOID = Prepared(
    lambda: change(
        rounds,
        "",
        *(equal(rounds.c.caller_id), rounds.c.settled.is_(None)),
        settled=_NOW,
        outcome="void",
    )
)
_CLOSE_SHOES = Prepared(
    lambda: change(shoes, "", equal(shoes.c.caller_id), shoes.c.closed.is_(None), closed=_NOW)
)
_CLOSE_CHAINS = Prepared(
    lambda: change(chains, "", equal(chains.c.caller_id), chains.c.closed.is_(None), closed=_NOW)
)
_STRIKE_OFF = Prepared(
    lambda: change(
        callers,
        "",
        callers.c.id == bindparam("caller_id"),
        deleted=_NOW,
        password_hash="",
        powers=0,
        recovery_digest=None,
    )
)


def delete(desk: Desk, caller_id: int) -> None:
    """Delete a caller: their time is forfeited, their name is free, their history stays.

    An open hand becomes void and its stake is forfeited; at a shared table, only the caller's seat.
    The stakes of open duels go home first.
    Raises `CallerOnline` and `UnknownCaller`.
    """
    if not close_if_dead(desk, caller_id):
        raise CallerOnline(Phrase("They are online; let them log off first."))
    duels.end_all(desk, "called off", caller_id)
    _take_back(Posting.of_caller(desk, caller_id, leave_without_call))
    messages.forget_caller(desk, caller_id)
    for strike in (_VOID, _CLOSE_SHOES, _CLOSE_CHAINS, _STRIKE_OFF):
        strike(desk.connection, now=stamp(desk.now), caller_id=caller_id)


def _take_back(posting: Posting) -> None:
    """Empty a caller's accounts: time is forfeited, play money returns to the mint.

    Bets of other callers at the same table stay.
    """
    desk, hand = posting.desk, posting.in_play
    in_hand, gone = Deleted(posting.name, in_hand=True), Deleted(posting.name, in_hand=False)
    keep_waiting_payments(posting)
    posting.set_round(hand.round_id if hand else None)
    posting.move("stake", FORFEIT, posting.state.stake, in_hand)
    posting.set_round(None)
    for kind in ("online", "held", "bank"):
        posting.move(kind, FORFEIT, getattr(posting.state, kind), gone)
    posting.move(ADJUSTMENT, "loan", -posting.state.loan, gone)
    for unit in play_units(desk, posting.caller_id):
        play = posting.use_play_money(unit)
        source = mint(desk, unit)
        for kind, account in play.account.items():
            if kind == "stake" and hand:
                posting.set_round(hand.round_id)
            posting.move(account, source, max(0, play.balance[kind]), gone)
            posting.move(source, account, max(0, -play.balance[kind]), gone)
            posting.set_round(None)
    posting.finish()
