"""The sentences for the facts of transfers and entries, in the reader's language.

Callers and sysops read the reasons in the books in these words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import time
from typing import Any, NamedTuple

from timebank.language import N_, Phrase, _, pgettext
from timebank.ledger import reasons as r
from timebank.ledger.reasons import Cutoff, Reason
from timebank.words import (
    Unit,
    amount_words,
    day_words,
    is_at_command_line,
    short_amount,
    span,
    time_words,
    title,
)

_AT_A_DAYS_END = (r.LeftOfDay, r.OldStake, r.Earned)  # followed by a semicolon: they have colons
_PUT_AWAY = {
    None: "",
    True: N_(": put in the bank"),
    False: N_(": forfeited, this board keeps no time bank"),
}
_GAIN_PUT_AWAY = {None: "", True: N_(", put in the bank"), False: N_(", forfeited")}
# Outcomes of hands and actions in them, in the words of the tables.
_PLAY_WORDS = {
    "win": N_("win"),
    "lose": N_("lose"),
    "push": N_("push"),
    "bust": N_("bust"),
    "natural": N_("blackjack"),
    "twenty-one": N_("21"),
    "charlie": N_("five-card Charlie"),
    "dealer-natural": N_("dealer's blackjack"),
    "dealer-charlie": N_("dealer's Charlie"),
    "three-of-a-kind": N_("three of a kind"),
    "stand-off": N_("push"),
    "player": N_("player"),
    "bank": N_("bank"),
    "void": N_("void"),
    "double": N_("double"),
    "split": N_("split"),
    "insurance": N_("insurance"),
    "raise": N_("raise"),
}


def _or_nothing(text: str) -> str:
    return _(text) if text else ""  # gettext keeps its own notes under ""


# The words for each fact, by the fact's name; other facts are shown unchanged.
FACTS: dict[str, Callable[[Any], str]] = {
    "game": lambda this: _(title(this.game)),
    "day": lambda this: day_words(this.day) if this.day else "",
    "lost_on": lambda this: day_words(this.lost_on),
    "outcome": lambda this: f" ({play_word(this.outcome)})" if this.outcome else "",
    "action": lambda this: play_word(this.action).capitalize(),
    "event": lambda this: cutoff_words(Cutoff(this.event, this.at, this.host)),
    "another_day": lambda this: _(", on another day") if this.another_day else "",
    "banked": lambda this: _or_nothing(_PUT_AWAY[this.banked]),
    "total": lambda this: span(this.total),
    "beyond": lambda this: _no_room(this) if this.beyond else "",
    "at_log_off": lambda this: _(" at log-off") if this.at_log_off else "",
    "by": lambda this: _("the sysop") if is_at_command_line(this.by) else this.by,
    "in_hand": lambda this: _(": hand void") if this.in_hand else "",
}


def sentence(reason: Reason, amount: int, unit: Unit) -> str:
    """Return the sentence for a transfer's reason, without a full stop.

    `amount` is in the smallest part of `unit`: seconds, or cents of play money.

    >>> sentence(r.BetPlaced("vegas"), 120, "second")
    'Bet 2 minutes at Vegas'
    """
    if isinstance(reason, r.Unread):
        return str(reason.facts)
    facts = r.facts_of(reason)
    is_known = not reason.SHORT_SENTENCE or list(facts.values())[-1] not in (None, "")
    text = reason.SENTENCE if is_known else reason.SHORT_SENTENCE
    return _(text).format(amount=amount_words(amount, unit), **_facts(reason, unit))


def _facts(reason: Reason, unit: Unit) -> dict[str, object]:
    facts = r.facts_of(reason)
    worded = {name: FACTS[name](reason) for name in facts.keys() & FACTS.keys()}
    if isinstance(reason, r.BetRaised):
        worded["did"] = play_word(reason.action)
    if isinstance(reason, r.Refilled):
        worded["full"] = amount_words(reason.full, unit)
    return facts | worded


def play_word(word: str) -> str:
    """Return the word for an outcome of a hand, or for an action in it."""
    return _(_PLAY_WORDS[word]) if word in _PLAY_WORDS else word.replace("-", " ")


def cutoff_words(cutoff: Cutoff) -> str:
    """Return an event's name with its local time.

    >>> cutoff_words(Cutoff("Mail hour", "03:00", False)), cutoff_words(Cutoff("Owl", "9:00", True))
    ('Mail hour at 03:00', 'the end of your call at Owl at 9:00')
    """
    name = str(call_end(cutoff.event)) if cutoff.host else cutoff.event
    if not cutoff.at:
        return name
    try:
        at = time_words(time.fromisoformat(cutoff.at))
    except ValueError:  # in books that were edited
        at = cutoff.at
    words = _("{event} at {time}")
    if cutoff.host:
        # For translators: "event" is the words for the end of a call, no name.
        words = pgettext("end of a call", "{event} at {time}")
    return words.format(event=name, time=at)


def call_end(board: str) -> Phrase:
    return Phrase("the end of your call at {board}", board=board)


def _no_room(reason: r.PutBack) -> str:
    because = (
        _("the account is frozen")
        if reason.frozen
        else _("{board} takes none").format(board=reason.board)
    )
    return _(", {amount} of it beyond the {most} that an account holds: {because}").format(
        amount=span(reason.beyond), most=span(reason.most), because=because
    )


class Part(NamedTuple):
    """A transfer of an entry, from the point of view of the caller who reads about it.

    `other` is the name of the caller at the other end, who is the giver if it `is_received`.
    `amount` is in seconds, or cents of play money.
    """

    reason: Reason
    amount: int
    other: str | None = None
    is_received: bool = False
    unit: Unit = "second"

    @property
    def why(self) -> str:
        return sentence(self.reason, self.amount, self.unit)


_IN_SHORT = {r.BetPlaced: N_("bet {amount}"), r.BetRaised: N_("{did} {amount}")}


def describe(parts: Sequence[Part]) -> str:
    """Return one sentence for an entry, from its transfers in order.

    >>> game = ("black-jack-for-time", "win")
    >>> describe([
    ...     Part(r.Returned(*game), 600),
    ...     Part(r.Won(*game), 720),
    ...     Part(r.Clamped("Mail hour", "03:00", False, True), 180),
    ... ])
    'Won 12:00 at Black Jack For Time, 3:00 of it banked because of Mail hour at 03:00'
    >>> double = Part(r.BetRaised("double", game[0]), 600)
    >>> describe([double, Part(r.Won(*game), 1200)])
    'Double 10:00, won 20:00 at Black Jack For Time'
    """
    text = "".join(_phrases(parts)) or ", ".join(_phrase(part, "") for part in parts)
    return text[:1].upper() + text[1:]


def _phrases(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the phrases of an entry.

    Used time is left out, because it has its own column. So is a stake returned with a win.
    """
    kinds = {part.reason.kind for part in parts}
    is_over = not kinds.isdisjoint(("won", "lost", "returned"))  # its phrase names the game
    whole = False  # whether a phrase came before that the next may take a part of
    between = ""
    for part in parts:
        kind = part.reason.kind
        if kind == "elapsed" or (kind == "returned" and "won" in kinds):
            continue
        yield between + _phrase(part, _(" of it") if whole else "", in_short=is_over)
        whole = whole or kind in ("won", "grant")
        between = "; " if isinstance(part.reason, _AT_A_DAYS_END) else ", "


def _phrase(part: Part, of_it: str, *, in_short: bool = False) -> str:
    reason, amount, done = part.reason, short_amount(part.amount, part.unit), ""
    text = (_IN_SHORT.get(type(reason)) if in_short else None) or reason.ENTRY_SENTENCE
    match reason:
        case r.Clamped(banked=banked):
            done = _("banked") if banked else _("forfeited")
        case r.Gained(banked=banked):
            done = _or_nothing(_GAIN_PUT_AWAY[banked])
        case r.Sent() if part.other is not None:
            sent = _sent(reason, is_received=part.is_received)
            return sent.format(amount=amount, name=part.other, message=reason.message)
    if not text:  # corrections and imports, whose sentence may begin with the amount
        why = part.why
        return why if why[:1].isdigit() else f"{amount}: {why[:1].lower()}{why[1:]}"
    facts = _facts(reason, part.unit)
    return _(text).format(amount=amount, of_it=of_it, done=done, **facts)


def _sent(reason: r.Sent, *, is_received: bool) -> str:
    if reason.message and is_received:
        return _('received {amount} from {name}: "{message}"')
    if reason.message:
        return _('sent {amount} to {name}: "{message}"')
    return _("received {amount} from {name}") if is_received else _("sent {amount} to {name}")
