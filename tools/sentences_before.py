"""The sentences that ledgers from before the release hold, as they were made then.

They never change: a transfer of such a ledger is known by its sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timebank.ledger import reasons as r
from timebank.ledger.reasons import Cutoff, Reason
from timebank.words import Unit, amount_words, span, title

_SENTENCES: dict[type[Reason], str] = {
    r.BetPlaced: "Bet {amount} at {game}",
    r.BetRaised: "{action} for {amount} at {game}",
    r.Lost: "Lost at {game}{outcome}",
    r.Returned: "Stake returned at {game}{outcome}",
    r.Won: "Won at {game}{outcome}",
    r.Bankroll: "Bankroll of {amount} for a new player",
    r.Renewed: "Bankroll of {amount}, the last one being lost on {lost_on}",
    r.Refilled: "The bank is {full} again",
    r.Used: "Time used on node {node}",
    r.Waited: (
        "Time used on node {node} since {board} handed over its caller, before this call was opened"
    ),
    r.Granted: "{amount} for {day}",
    r.LeftOfDay: "What was left of the minutes for {day}",
    r.OldStake: "A stake that was left of the minutes of an earlier day",
    r.Released: "{amount} back after {event}",
    r.HeldBack: "{amount} more after {event}{another_day}",
    r.Clamped: "{amount} won past {event}{banked}",
    r.Earned: "Earned on {day}{banked}",
    r.Mended: "{amount} that a wrong clock had taken",
    r.BroughtIn: "{amount} brought from {board}",
    r.Counted: "{amount} more counted by the clock of {board}",
    r.TakenHome: "{amount} taken home to {board}",
    r.GivenBack: "{amount} given back to {board}",
    r.Gained: "{total} gained on the visit from {board}{banked}",
    r.Kept: "{amount} that could not be given back to {board}{banked}",
    r.PutBack: "{total} of your own put back in the bank{beyond}",
    r.PassedOn: "{amount} passed on through THEBANK.EXT",
    r.CameIn: "{amount} from {program} ({file}, line {line} of import {imported}{record})",
    r.TakenOut: "{amount} taken by {program} ({file}, line {line} of import {imported}{record})",
    r.Deposited: "{amount} deposited{at_log_off}",
    r.Withdrawn: "{amount} withdrawn",
    r.Sent: "{amount} sent by {giver} to {taker}{message}",
    r.Borrowed: "{amount} borrowed",
    r.Repaid: "{amount} of a loan repaid",
    r.LoanShare: "{amount} of the minutes for {day} paid back on the loan",
    r.PaidFromBank: "{amount} from your bank account paid back on the loan",
    r.PaidOfOwn: "{total} of your own paid back on the loan",
    r.SysopAdded: "{amount} added by {by}: {note}",
    r.SysopTook: "{amount} taken out by {by}: {note}",
    r.SysopDeposited: "{amount} deposited by {by}: {note}",
    r.SysopWithdrew: "{amount} withdrawn by {by}: {note}",
    r.SysopMoved: "{amount} moved from {giver} to {taker} by {by}: {note}",
    r.Deleted: "{name} was deleted{in_hand}",
    r.Told: "{words}",
}
_PUT_AWAY = {
    None: "",
    True: ": put in the bank",
    False: ": forfeited, this board keeps no time bank",
}
# How a fact is said that is no word by itself.
_SAID: dict[str, Callable[[Any], str]] = {
    "game": lambda this: title(this.game),
    "outcome": lambda this: f" ({_spoken(this.outcome)})" if this.outcome else "",
    "action": lambda this: _spoken(this.action).capitalize(),
    "event": lambda this: cutoff_words(Cutoff(this.event, this.at, this.host)),
    "another_day": lambda this: ", on another day" if this.another_day else "",
    "banked": lambda this: _PUT_AWAY[this.banked],
    "total": lambda this: span(this.total),
    "beyond": lambda this: _no_room(this) if this.beyond else "",
    "record": lambda this: "" if this.record is None else f", record {this.record}",
    "at_log_off": lambda this: " at log-off" if this.at_log_off else "",
    "message": lambda this: f': "{this.message}"' if this.message else "",
    "in_hand": lambda this: ": hand void" if this.in_hand else "",
}


def sentence(reason: Reason, amount: int, unit: Unit) -> str:
    """Say what a transfer of an amount was made for, without a full stop.

    >>> sentence(r.BetPlaced("vegas"), 120, "second")
    'Bet 2 minutes at Vegas'
    """
    if isinstance(reason, r.Unread):
        return str(reason.facts)
    text = _SENTENCES.get(type(reason))
    if text is None:
        raise ValueError(f"nobody has words for {reason}")
    if reason == r.LoanShare(None):
        text = "{amount} of the winnings paid back on the loan"
    return text.format(amount=amount_words(amount, unit), **_facts(reason, unit))


def _facts(reason: Reason, unit: Unit) -> dict[str, object]:
    facts = r.known(reason)
    said = {name: _SAID[name](reason) for name in facts.keys() & _SAID.keys()}
    if isinstance(reason, r.Refilled):
        said["full"] = amount_words(reason.full, unit)
    return facts | said


def _spoken(word: str) -> str:
    return word.replace("-", " ")


def cutoff_words(cutoff: Cutoff) -> str:
    """Name an event with its time.

    >>> cutoff_words(Cutoff("Mail hour", "03:00", False)), cutoff_words(Cutoff("Owl", "9:00", True))
    ('Mail hour at 03:00', 'the end of your call at Owl at 9:00')
    """
    name = end_of_call(cutoff.event) if cutoff.host else cutoff.event
    return f"{name} at {cutoff.at}" if cutoff.at else name


def end_of_call(board: str) -> str:
    return f"the end of your call at {board}"


def _no_room(reason: r.PutBack) -> str:
    because = "the account is frozen" if reason.frozen else f"{reason.board} takes none"
    return (
        f", {span(reason.beyond)} of it beyond the {span(reason.most)} that an account holds"
        f": {because}"
    )
