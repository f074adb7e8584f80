"""The sentences that are made of facts, when they are shown: one a transfer, and one an entry.

All that callers and sysops read of the reasons in the books is said here, in English.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from timebank.ledger import reasons as r
from timebank.ledger.reasons import Cutoff, Reason
from timebank.words import Unit, amount_words, minutes, money, span, title


def sentence(reason: Reason, amount: int, unit: Unit) -> str:
    """Say what a transfer of an amount was made for, without a full stop.

    >>> sentence(r.BetPlaced("vegas"), 120, "second")
    'Bet 2 minutes at Vegas'
    """
    return (
        _of_play(reason, amount, unit)
        or _of_clocks(reason, amount)
        or _of_boards(reason, amount)
        or _of_window(reason, amount)
        or _of_sysop(reason, amount)
        or _of_no_code(reason)
    )


def _of_play(reason: Reason, amount: int, unit: Unit) -> str:
    match reason:
        case r.BetPlaced(game):
            return f"Bet {amount_words(amount, unit)} at {title(game)}"
        case r.BetRaised(action, game):
            spoken = _spoken(action).capitalize()
            return f"{spoken} for {amount_words(amount, unit)} at {title(game)}"
        case r.Lost(game, outcome):
            return f"Lost {_settled(game, outcome)}"
        case r.Returned(game, outcome):
            return f"Stake returned {_settled(game, outcome)}"
        case r.Won(game, outcome):
            return f"Won {_settled(game, outcome)}"
        case r.Bankroll():
            return f"Bankroll of {amount_words(amount, unit)} for a new player"
        case r.Renewed(lost_on):
            return f"Bankroll of {amount_words(amount, unit)}, the last one being lost on {lost_on}"
        case r.Refilled(full):
            return f"The bank is {amount_words(full, unit)} again"
    return ""


def _settled(game: str, outcome: str) -> str:
    return f"at {title(game)} ({_spoken(outcome)})" if outcome else f"at {title(game)}"


def _spoken(word: str) -> str:
    return word.replace("-", " ")


def _of_clocks(reason: Reason, amount: int) -> str:
    match reason:
        case r.Used(node):
            return f"Time used on node {node}"
        case r.Waited(node, board):
            return (
                f"Time used on node {node} since {board} handed over its caller, before this call"
                " was opened"
            )
        case r.Granted(day):
            return f"{span(amount)} for {day}"
        case r.LeftOfDay(day):
            return f"What was left of the minutes for {day}"
        case r.OldStake():
            return "A stake that was left of the minutes of an earlier day"
        case r.Released(event, at, host):
            return f"{span(amount)} back after {cutoff_words(Cutoff(event, at, host))}"
        case r.HeldBack(event, at, host, another_day):
            more = ", on another day" if another_day else ""
            return f"{span(amount)} more after {cutoff_words(Cutoff(event, at, host))}{more}"
        case r.Clamped(event, at, host, banked):
            event = cutoff_words(Cutoff(event, at, host))
            return f"{span(amount)} won past {event}{_put_away(banked)}"
        case r.Earned(day, banked):
            return f"Earned on {day}{_put_away(banked)}"
        case r.Mended():
            return f"{span(amount)} that a wrong clock had taken"
    return ""


def cutoff_words(cutoff: Cutoff) -> str:
    """Name an event with its time.

    >>> cutoff_words(Cutoff("Mail hour", "03:00", False)), cutoff_words(Cutoff("Owl", "9:00", True))
    ('Mail hour at 03:00', 'the end of your call at Owl at 9:00')
    """
    name = end_of_call(cutoff.event) if cutoff.host else cutoff.event
    return f"{name} at {cutoff.at}" if cutoff.at else name


def end_of_call(board: str) -> str:
    return f"the end of your call at {board}"


def _put_away(banked: bool | None) -> str:
    if banked is None:
        return ""
    return ": put in the bank" if banked else ": forfeited, this board keeps no time bank"


def _of_boards(reason: Reason, amount: int) -> str:
    match reason:
        case r.BroughtIn(board):
            return f"{span(amount)} brought from {board}"
        case r.Counted(board):
            return f"{span(amount)} more counted by the clock of {board}"
        case r.TakenHome(board):
            return f"{span(amount)} taken home to {board}"
        case r.GivenBack(board):
            return f"{span(amount)} given back to {board}"
        case r.Gained(board, total, banked):
            return f"{span(total)} gained on the visit from {board}{_put_away(banked)}"
        case r.Kept(board, banked):
            return f"{span(amount)} that could not be given back to {board}{_put_away(banked)}"
        case r.PutBack(total=total):
            return f"{span(total)} of your own put back in the bank{_no_room(reason)}"
        case r.PassedOn():
            return f"{span(amount)} passed on through THEBANK.EXT"
        case r.CameIn(program):
            return f"{span(amount)} from {program} ({_origin(reason)})"
        case r.TakenOut(program):
            return f"{span(amount)} taken by {program} ({_origin(reason)})"
    return ""


def _no_room(reason: r.PutBack) -> str:
    if not reason.beyond:
        return ""
    because = "the account is frozen" if reason.frozen else f"{reason.board} takes none"
    return (
        f", {span(reason.beyond)} of it beyond the {span(reason.most)} that an account holds"
        f": {because}"
    )


def _origin(reason: r.CameIn | r.TakenOut) -> str:
    record = "" if reason.record is None else f", record {reason.record}"
    return f"{reason.file}, line {reason.line} of import {reason.imported}{record}"


def _of_window(reason: Reason, amount: int) -> str:
    match reason:
        case r.Deposited(at_log_off):
            return f"{span(amount)} deposited{' at log-off' if at_log_off else ''}"
        case r.Withdrawn():
            return f"{span(amount)} withdrawn"
        case r.Sent(giver, taker, message):
            return f"{span(amount)} sent by {giver} to {taker}{_message(message)}"
        case r.Borrowed():
            return f"{span(amount)} borrowed"
        case r.Repaid():
            return f"{span(amount)} of a loan repaid"
        case r.LoanShare(day):
            of_what = "the winnings" if day is None else f"the minutes for {day}"
            return f"{span(amount)} of {of_what} paid back on the loan"
        case r.PaidFromBank():
            return f"{span(amount)} from your bank account paid back on the loan"
        case r.PaidOfOwn(total):
            return f"{span(total)} of your own paid back on the loan"
    return ""


def _message(message: str) -> str:
    return f': "{message}"' if message else ""


def _of_sysop(reason: Reason, amount: int) -> str:
    match reason:
        case r.SysopMoved(giver, taker, by, note):
            return f"{span(amount)} moved from {giver} to {taker} by {by}: {note}"
        case r.Deleted(name, in_hand):
            return f"{name} was deleted{': hand void' if in_hand else ''}"
        case r.SysopAdded() | r.SysopTook() | r.SysopDeposited() | r.SysopWithdrew():
            return f"{span(amount)} {sysop_did(reason)} by {reason.by}: {reason.note}"
    return ""


def sysop_did(reason: r.Adjustment) -> str:
    """Say in a word or two what a sysop did to an account."""
    match reason:
        case r.SysopAdded():
            return "added"
        case r.SysopTook():
            return "taken out"
        case r.SysopDeposited():
            return "deposited"
        case r.SysopWithdrew():
            return "withdrawn"


def _of_no_code(reason: Reason) -> str:
    match reason:
        case r.Told(words=words):
            return words
        case r.Unread(facts=facts):
            return str(facts)
    raise ValueError(f"nobody has words for {reason}")


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
        of_it = " of it" if whole else ""
        yield _play(part) or _clock(part, of_it) or _visit(part) or _window(part)
        whole = whole or kind in ("won", "grant")


def _of_time_used(part: Part) -> str:
    return f"used {part.said}{part.why.removeprefix('Time used')}"


def _play(part: Part) -> str:
    """Say what a table did, or the mint before it."""
    amount = part.said
    match part.reason:
        case r.BetPlaced(game):
            return f"bet {amount} at {title(game)}"
        case r.BetRaised(action, game):
            return f"{action} {amount} at {title(game)}"
        case r.Lost(game):
            return f"lost {amount} at {title(game)}"
        case r.Won(game):
            return f"won {amount} at {title(game)}"
        case r.Returned(game):
            return f"stake of {amount} returned at {title(game)}"
        case r.Bankroll() | r.Renewed() | r.Refilled():
            return _small(part.why)
    return ""


def _clock(part: Part, of_it: str) -> str:
    """Say what days, events and loans do by themselves."""
    amount = part.said
    match part.reason:
        case r.Granted(day):
            return f"granted {amount} for {day}"
        case r.LeftOfDay() | r.OldStake():
            return f"{amount} forfeited: {_small(part.why)}"
        case r.Earned():
            return f"{amount} {_small(part.why)}"
        case r.Released(event, at, host):
            return f"{amount} back after {cutoff_words(Cutoff(event, at, host))}"
        case r.HeldBack(event, at, host, another_day):
            event = cutoff_words(Cutoff(event, at, host))
            return f"{amount}{of_it} held until after {event}{', on another day' * another_day}"
        case r.Clamped(event, at, host, banked):
            done = "banked" if banked else "forfeited"
            return f"{amount}{of_it} {done} because of {cutoff_words(Cutoff(event, at, host))}"
        case r.LoanShare():
            return f"{amount}{of_it} paid back on the loan"
        case r.PaidFromBank() | r.PaidOfOwn():
            return f"paid back {amount} on the loan"
    return ""


def _visit(part: Part) -> str:
    """Say what a caller of another board brought, gained and took home."""
    amount = part.said
    match part.reason:
        case r.BroughtIn(board):
            return f"brought {amount} from {board}"
        case r.Counted(board):
            return f"{amount} more counted by the clock of {board}"
        case r.TakenHome(board):
            return f"took {amount} home to {board}"
        case r.Gained(board, banked=banked):
            done = {None: "", True: ", put in the bank", False: ", forfeited"}[banked]
            return f"gained {amount} on the visit from {board}{done}"
        case r.GivenBack(board):
            return f"gave {amount} back to {board}"
        case r.PutBack() as reason:
            return f"put {amount} of your own back in the bank{_no_room(reason)}"
        case r.Kept(board):
            return f"kept {amount} that could not be given back to {board}"
        case r.PassedOn():
            return f"{amount} passed on through THEBANK.EXT"
    return ""


def _window(part: Part) -> str:
    """Say what was done at the bank's window; of anything else, its reason."""
    amount = part.said
    match part.reason:
        case r.Deposited(at_log_off):
            return f"deposited {amount}{' at log-off' if at_log_off else ''}"
        case r.Withdrawn():
            return f"withdrew {amount}"
        case r.Borrowed():
            return f"borrowed {amount}"
        case r.Repaid():
            return f"repaid {amount} of the loan"
        case r.Sent(message=message) if part.other is not None:
            sent = f"received {amount} from" if part.source == "other" else f"sent {amount} to"
            return f"{sent} {part.other}{_message(message)}"
    # What a sysop or a program did says its amount and more.
    why = part.why
    return why if why[:1].isdigit() else f"{amount}: {_small(why)}"


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
