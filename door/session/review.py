"""The review of a caller's try at a contest: each decision next to the book's and another caller's.

It is one text, hand by hand, and the pager's keys walk through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from door.call.markup import literal
from door.games.blackjack import duplicate
from door.games.blackjack.round import BlackjackAction
from door.games.solver.tutor import costs, tutor
from door.session.shared_hands import ACTIONS, signed
from door.tables.scoring import hands_of, percent, played, rules_of
from door.tables.words import count_words
from timebank.language import _
from timebank.ledger.sentences import play_word

if TYPE_CHECKING:
    from door.games.blackjack.round import BlackjackRound
    from door.tables.tutor.tutor_process import TutorProcess
    from timebank.wagers.contests import Contest, ContestResult

CELLS = 8  # of a column
NAME_CELLS = 7


class TryDecision(NamedTuple):
    """A decision in hand `number`: the round before it, and the move."""

    number: int
    at: BlackjackRound
    move: BlackjackAction


class Rated(NamedTuple):
    """A decision, the book's best move, the cost as stored, and another caller's move or ""."""

    decision: TryDecision
    best: BlackjackAction
    cost: int
    other: str


async def review_text(
    thinking: TutorProcess,
    contest: Contest,
    mine: ContestResult,
    other: ContestResult | None,
    *,
    painted: bool,
) -> str:
    """Return the review of a try. `other` is the rival or the winner, None without one.

    Raises `HelperUnavailable`.
    """
    game = played(contest, mine.acts)
    theirs = None if other is None else played(contest, other.acts)
    name = "" if other is None else literal(other.name[:NAME_CELLS])
    rated = await _rated(thinking, contest, mine, other)
    rows = [f"|14{row}" for row in _sums(mine, other)]
    for number in range(1, hands_of(contest) + 1):
        of_hand = [each for each in rated if each.decision.number == number]
        end = game.over[number - 1]
        heading = _("Hand {number}: the dealer shows {count}").format(
            number=number, count=count_words(end.dealer[:1])
        )
        rows += ["", f"|15{heading}"]
        if of_hand and painted:
            heads = (_("Hand"), _("You"), _("Book"), _("Cost"), name)
            rows.append(f"|11{_columns(heads)}")
        rows += (_row(each, name, painted=painted) for each in of_hand)
        rows.append(f"|07{_end(_('You'), end)}")
        if theirs is not None:
            rows[-1] += f" {_end(name, theirs.over[number - 1])}"
    return "\n".join(rows)


async def _rated(
    thinking: TutorProcess, contest: Contest, mine: ContestResult, other: ContestResult | None
) -> list[Rated]:
    moves = {} if other is None else _moves(decisions_of(contest, other.acts))
    game, found = played(contest, mine.acts), list[Rated]()
    for decision, choice in zip(decisions_of(contest, mine.acts), costs.choices(game), strict=True):
        values = await thinking.ask(choice.spot)
        best = tutor.advised(choice.decision, values).best
        step = sum(each.decision.number == decision.number for each in found)
        other_move = moves.get((decision.number, step), "")
        found.append(Rated(decision, best, costs.stored_cost(choice.cost(values)), other_move))
    return found


def decisions_of(contest: Contest, acts: Sequence[str]) -> Iterator[TryDecision]:
    rules, game = rules_of(contest.rules), played(contest, ())
    for word in acts:
        if game.current is not None:
            yield TryDecision(game.number, game.current, BlackjackAction(word))
        game = duplicate.decide(rules, contest.seed, game, BlackjackAction(word))


def _moves(decisions: Iterator[TryDecision]) -> dict[tuple[int, int], str]:
    """Return the words for moves by hand and by their place in it, from 0."""
    found: dict[tuple[int, int], str] = {}
    for each in decisions:
        step = sum(number == each.number for number, _step in found)
        found[each.number, step] = _word(each.move)
    return found


def _word(move: BlackjackAction) -> str:
    return _(ACTIONS[move][1])


def _row(each: Rated, name: str, *, painted: bool) -> str:
    hand = each.decision.at.hand
    count = count_words(hand.cards) if hand is not None else ""
    cost = percent(each.cost)
    words = (count, _word(each.decision.move), _word(each.best), cost, each.other)
    colour = "|12" if each.cost else "|07"
    if painted:
        return f"{colour}{_columns(words)}"
    text = _("You have {count}: you {move}, the book {best}, cost {cost}.")
    if each.other:
        text = _("You have {count}: you {move}, the book {best}, cost {cost}; {name} {other}.")
    count, move, best, cost, other = words
    return text.format(count=count, move=move, best=best, cost=cost, name=name, other=other)


def _columns(words: Sequence[str]) -> str:
    return "".join(f"{each[: CELLS - 1]:<{CELLS}}" for each in words).rstrip()


def _end(name: str, hand: BlackjackRound) -> str:
    outcome, won = hand.outcomes[0], hand.totals.won - hand.totals.lost
    words = _("{name}: {outcome} ({coins}).")
    return words.format(name=name, outcome=play_word(outcome), coins=signed(won))


def _sums(mine: ContestResult, other: ContestResult | None) -> Iterator[str]:
    for name, each in ((_("You"), mine), ("" if other is None else literal(other.name), other)):
        if each is not None:
            cost = "?" if each.cost is None else percent(each.cost)
            words = _("{name}: {coins} coins, cost {cost}.")
            yield words.format(name=name, coins=signed(each.score), cost=cost)
