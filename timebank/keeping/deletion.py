"""How a caller is struck off: what they had is forfeited, the name is free, the history stays."""

from __future__ import annotations

from timebank.calls.calls import leave_no_call
from timebank.errors import CallerOnline
from timebank.guests.departure import keep_what_waits, leave_without_call
from timebank.ledger.database import Desk
from timebank.ledger.entry import Posting
from timebank.ledger.play_accounts import PlayAccounts, units_of
from timebank.ledger.reasons import Deleted
from timebank.ledger.schema import stamp
from timebank.ledger.transfers import ADJUSTMENT, FORFEIT, mint


def delete(desk: Desk, caller_id: int) -> None:
    """Strike a caller off: what he had is forfeited, his name is free, his history stays.

    An open hand is void and its stake forfeited too; of one that is played by several, his seat
    alone. Raises `CallerOnline` and `UnknownCaller`.
    """
    if not leave_no_call(desk, caller_id):
        raise CallerOnline("He is on line; let him log off first.")
    run = desk.connection.exec_driver_sql
    now = stamp(desk.now)
    _take_back(Posting.of_caller(desk, caller_id, leave_without_call))
    run(
        "UPDATE rounds SET settled = ?, outcome = 'void' WHERE caller_id = ? AND settled IS NULL",
        (now, caller_id),
    )
    run("UPDATE shoes SET closed = ? WHERE caller_id = ? AND closed IS NULL", (now, caller_id))
    run(
        "UPDATE callers SET deleted = ?, password_hash = '', powers = 0, recovery_digest = NULL"
        " WHERE id = ?",
        (now, caller_id),
    )


def _take_back(posting: Posting) -> None:
    """Leave a caller with nothing: his time is forfeited, his play money goes where it came from.

    What others have bet at the same table stays there.
    """
    desk, hand = posting.desk, posting.in_play
    in_hand, gone = Deleted(posting.name, in_hand=True), Deleted(posting.name, in_hand=False)
    keep_what_waits(posting)
    posting.round_id = hand.round_id if hand else None
    posting.move(posting.stake, FORFEIT, posting.balance["stake"], in_hand)
    posting.round_id = None
    for account in (posting.online, posting.held, posting.bank):
        posting.move(account, FORFEIT, posting.balance[account.kind], gone)
    posting.move(ADJUSTMENT, posting.loan, -posting.balance["loan"], gone)
    for unit in units_of(desk, posting.caller_id):
        play = posting.play = PlayAccounts(desk, posting.caller_id, unit)
        source = mint(desk, unit)
        for kind, account in play.account.items():
            if kind == "stake" and hand:
                posting.round_id = hand.round_id
            posting.move(account, source, max(0, play.balance[kind]), gone)
            posting.move(source, account, max(0, -play.balance[kind]), gone)
            posting.round_id = None
    posting.finish(0, "")
