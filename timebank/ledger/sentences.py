"""The sentences that are made of facts, when they are shown: one a transfer, and one an entry.

All that callers and sysops read of the reasons in the books is said here, in English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from timebank.ledger import reasons as r
from timebank.ledger.reasons import Cutoff, Reason
from timebank.words import Unit, amount_words, minutes, money, span, title

# What an amount was moved for. The names are facts of the reason, as `_SAID` says them.
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
# The same as a part of what an entry did. `{0}` is the reason itself, `{of_it}` says that the
# amount is a part of the one before.
_PHRASES: dict[type[Reason], str] = {
    r.BetPlaced: "bet {amount} at {game}",
    r.BetRaised: "{0.action} {amount} at {game}",
    r.Lost: "lost {amount} at {game}",
    r.Won: "won {amount} at {game}",
    r.Returned: "stake of {amount} returned at {game}",
    r.Bankroll: "bankroll of {amount} for a new player",
    r.Renewed: "bankroll of {amount}, the last one being lost on {lost_on}",
    r.Refilled: "the bank is {full} again",
    r.Granted: "granted {amount} for {day}",
    r.LeftOfDay: "{amount} forfeited: what was left of the minutes for {day}",
    r.OldStake: "{amount} forfeited: a stake that was left of the minutes of an earlier day",
    r.Earned: "{amount} earned on {day}{banked}",
    r.Released: "{amount} back after {event}",
    r.HeldBack: "{amount}{of_it} held until after {event}{another_day}",
    r.Clamped: "{amount}{of_it} {done} because of {event}",
    r.LoanShare: "{amount}{of_it} paid back on the loan",
    r.PaidFromBank: "paid back {amount} on the loan",
    r.PaidOfOwn: "paid back {amount} on the loan",
    r.BroughtIn: "brought {amount} from {board}",
    r.Counted: "{amount} more counted by the clock of {board}",
    r.TakenHome: "took {amount} home to {board}",
    r.Gained: "gained {amount} on the visit from {board}{done}",
    r.GivenBack: "gave {amount} back to {board}",
    r.PutBack: "put {amount} of your own back in the bank{beyond}",
    r.Kept: "kept {amount} that could not be given back to {board}",
    r.PassedOn: "{amount} passed on through THEBANK.EXT",
    r.Deposited: "deposited {amount}{at_log_off}",
    r.Withdrawn: "withdrew {amount}",
    r.Borrowed: "borrowed {amount}",
    r.Repaid: "repaid {amount} of the loan",
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
SYSOP_DID: dict[type[r.Adjustment], str] = {
    r.SysopAdded: "added",
    r.SysopTook: "taken out",
    r.SysopDeposited: "deposited",
    r.SysopWithdrew: "withdrawn",
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


class Part(NamedTuple):
    """A row of an entry, from the side of the caller who reads of it.

    `source` and `target` are kinds of account, "other" for one of somebody else; `other` is their
    name.
    """

    reason: Reason
    amount: int
    source: str
    target: str
    other: str | None
    unit: Unit = "second"

    @property
    def said(self) -> str:
        return minutes(self.amount) if self.unit == "second" else money(self.amount, self.unit)

    @property
    def why(self) -> str:
        return sentence(self.reason, self.amount, self.unit)


def describe(parts: Sequence[Part]) -> str:
    """Say what an entry did, from its rows in their order.

    >>> game = ("black-jack-for-time", "win")
    >>> describe([
    ...     Part(r.Returned(*game), 600, "stake", "online", None),
    ...     Part(r.Won(*game), 720, "house", "online", None),
    ...     Part(r.Clamped("Mail hour", "03:00", False, True), 180, "online", "bank", None),
    ... ])
    'Won 12:00 at Black Jack For Time, 3:00 of it banked because of Mail hour at 03:00'
    """
    phrases = list(_phrases(parts)) or [_of_time_used(part) for part in parts]
    said = ", ".join(phrases)
    return said[:1].upper() + said[1:]


def _phrases(parts: Sequence[Part]) -> Iterator[str]:
    """Say each row but time used, which has its own column, and a stake that comes with a win."""
    kinds = {part.reason.kind for part in parts}
    whole = False  # something was said that the next row may take a part of
    for part in parts:
        kind = part.reason.kind
        if kind == "elapsed" or (kind == "returned" and "won" in kinds):
            continue
        yield _phrase(part, " of it" if whole else "")
        whole = whole or kind in ("won", "grant")


def _of_time_used(part: Part) -> str:
    return f"used {part.said}{part.why.removeprefix('Time used')}"


def _phrase(part: Part, of_it: str) -> str:
    reason, amount, done = part.reason, part.said, ""
    text = _PHRASES.get(type(reason))
    match reason:
        case r.Clamped(banked=banked):
            done = "banked" if banked else "forfeited"
        case r.Gained(banked=banked):
            done = {None: "", True: ", put in the bank", False: ", forfeited"}[banked]
        case r.Sent() if part.other is not None:
            sent = "received {amount} from " if part.source == "other" else "sent {amount} to "
            return sent.format(amount=amount) + part.other + _SAID["message"](reason)
    if text is None:  # what a sysop or a program did says its amount and more
        why = part.why
        return why if why[:1].isdigit() else f"{amount}: {why[:1].lower()}{why[1:]}"
    facts = _facts(reason, part.unit)
    return text.format(reason, amount=amount, of_it=of_it, done=done, **facts)
