"""Duels in a story: callers challenge, answer and play, and duels end.

The callers come briefly by another server, which may be killed meanwhile, or its disk may fail.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_to_mapping
from door.games.engine import shuffle
from door.tables.scoring import weigh
from timebank.calls.calls import close_call, open_call
from timebank.errors import OutOfStep, Refused, ShoeGone
from timebank.wagers import contests, duels
from timebank.window import corrections
from timebank.words import MINUTE
from verify.simulate.tournament_play import A_DAY, GAME, NODE, decide, enroll, sleep_until
from verify.simulate.wrong import must

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.wagers.duels import Duel
    from verify.simulate.people import Person
    from verify.simulate.story import Story

T = TypeVar("T")

HANDS = 5


def play_duels(story: Story) -> None:
    """Let some callers challenge others with given minutes, and answer or play their duels."""
    off = [person for person in story.people if person.wire is None]
    some = story.chance.sample(off, min(len(off), 4))
    for person, rival in pairwise(some):
        for each in (person, rival):
            _at_the_books(story, lambda desk, who=each: _is_given(desk, who))
        _at_the_books(story, lambda desk, who=person, other=rival: _asks(story, desk, who, other))
    for person in some:
        _at_the_books(story, lambda desk, who=person: _answers(story, desk, who))
    for person in (*some, *some[::2]):  # the others leave hands more often
        _at_the_books(story, lambda desk, who=person: _plays(story, desk, who))


def _is_given(desk: Desk, person: Person) -> None:
    """Have the sysop put minutes into a bank account, as few callers have saved enough."""
    corrections.adjust(desk, enroll(desk, person), 5 * MINUTE, "for a duel", "Sysop")


def _asks(story: Story, desk: Desk, person: Person, rival: Person) -> None:
    other, chance = enroll(desk, rival), story.chance
    call = _call(desk, person)
    seed, stake = chance.randbytes(32), chance.choice((1, 2, 5)) * MINUTE
    shoe = (seed, shuffle.seal(seed), GAME, rules_to_mapping(BLACK_JACK_FOR_TIME), HANDS)
    for _again in range(2):  # the second time, as if nobody knew what became of the first
        duels.challenge(desk, call, 0, other, stake, shoe)
    story.tell(f"{person.name} has challenged {rival.name}")
    close_call(desk, call, 0, "log-off")


def _answers(story: Story, desk: Desk, person: Person) -> None:
    number, call = enroll(desk, person), _call(desk, person)
    for duel in _open_of(desk, number):
        if duel.is_accepted:
            continue
        if story.chance.random() < 0.2:
            duels.decline(desk, number, duel.seal)
        elif duel.rival.caller_id == number:
            for _again in range(2):
                duels.accept(desk, call, 0, duel.seal)
    close_call(desk, call, 0, "log-off")


def _plays(story: Story, desk: Desk, person: Person) -> None:
    number = enroll(desk, person)
    for duel in _open_of(desk, number):
        if not duel.is_accepted:
            continue
        acts = list(duels.begin(desk, duel.seal, number).acts)
        decide(story, desk, duel, number, acts)
        story.tell(f"{person.name} has played {len(acts)} decisions of a duel")


def _open_of(desk: Desk, number: int) -> list[Duel]:
    return [each for each in duels.of_caller(desk, number, 9) if each.is_open(desk.now)]


def _call(desk: Desk, person: Person) -> int:
    number = enroll(desk, person)
    return open_call(desk, number, NODE, "another server", "192.0.2.9", take_over=False).call_id


def end_duels(story: Story) -> None:
    """Let duels be settled, sometimes after sleeping until one has expired."""
    open_now = [
        each
        for each in _at_the_books(story, lambda desk: duels.listing(desk, 50)) or ()
        if each.outcome is None
    ]
    if open_now and story.chance.random() < 0.5:
        sleep_until(story, min(each.ends for each in open_now), 4 * A_DAY)
    for due in _at_the_books(story, duels.due) or ():
        _at_the_books(story, lambda desk, seal=due.seal: _settles(story, desk, seal))


def _settles(story: Story, desk: Desk, seal: str) -> None:
    duel = duels.of_seal(desk, seal)
    assert duel is not None
    for each in contests.unweighed(desk, seal):
        contests.weigh(desk, seal, each.caller_id, weigh(duel, each.acts))
    ended = duels.settle(desk, seal)
    must(duels.settle(desk, seal) == ended, "duel {} was settled twice", seal)
    if ended is not None and ended.outcome is not None:
        story.tell(f"the duel of {' and '.join(ended.names)} is {ended.outcome}")


def _at_the_books(story: Story, work: Callable[[Desk], T]) -> T | None:
    with story.command("nothing comes of the duel", OutOfStep, Refused, ShoeGone) as desk:
        return work(desk)
    return None
