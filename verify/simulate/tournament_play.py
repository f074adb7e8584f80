"""Events of a tournament in a story: callers enter and play, and one settles it.

They come by another server for a moment, which is busy with it when it is killed or the disk
fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from door.call.passwords import hash_password
from door.games.blackjack.round import BlackjackAction
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_to_mapping
from door.games.engine import shuffle
from door.tables.scoring import played, weigh
from timebank.callers import callers
from timebank.calls.calls import close_call, open_call
from timebank.errors import OutOfStep, Refused, ShoeGone
from timebank.wagers import contests, tournaments
from verify.simulate.people import PASSWORD
from verify.simulate.wrong import must

if TYPE_CHECKING:
    from datetime import datetime

    from timebank.ledger.database import Desk
    from timebank.wagers.contests import Contest
    from timebank.wagers.tournaments import Tournament
    from verify.simulate.people import Person
    from verify.simulate.story import Story

T = TypeVar("T")

GAME = "black-jack-for-time"
STAND = str(BlackjackAction.STAY)
HANDS = 5  # so few that callers finish them
NODE = 98  # of the other server
A_DAY = 86_400  # seconds
NOTICED = 3.0  # seconds until everybody has seen that the machine slept


def play_in_a_tournament(story: Story) -> None:
    """Let some callers enter the current tournament and continue their play."""
    off = [person for person in story.people if person.wire is None]
    some = story.chance.sample(off, min(len(off), 4))
    tournament = _at_the_books(story, lambda desk: _current(story, desk))
    if tournament is None:
        return
    for person in some:
        _at_the_books(story, lambda desk, person=person: _plays(story, desk, person, tournament))


def _current(story: Story, desk: Desk) -> Tournament | None:
    seed = story.chance.randbytes(32)
    rules = rules_to_mapping(BLACK_JACK_FOR_TIME)
    tournament = tournaments.current(desk, seed, shuffle.seal(seed), GAME, rules, HANDS)
    return tournament if tournament is not None and tournament.is_open(desk.now) else None


def _plays(story: Story, desk: Desk, person: Person, tournament: Tournament) -> None:
    number = enroll(desk, person)
    call = open_call(desk, number, NODE, "another server", "192.0.2.9", take_over=False)
    again = contests.entry_of(desk, tournament.seal, number)
    entered = tournaments.enter(desk, call.call_id, 0, tournament.seal, tournament.entry)
    if again is not None:
        must(entered.entry == again, "{} entered as {}, and then {}", person.name, again, entered)
    acts = list(entered.deal_try.acts)
    if entered.deal_try.score is None:
        decide(story, desk, tournament, number, acts)
    story.tell(f"{person.name} has played {len(acts)} decisions of the tournament")
    close_call(desk, call.call_id, 0, "log-off")


def enroll(desk: Desk, person: Person) -> int:
    """Return the number of a person's account, which is registered if there is none."""
    record = callers.find(desk, person.name)
    if record is None:
        record = callers.register(desk, person.name, hash_password(PASSWORD))
    return record.id


def decide(story: Story, desk: Desk, contest: Contest, caller_id: int, acts: list[str]) -> None:
    """Take some decisions of a try, or all that are left.

    Some callers always stand, so that results are equal and places are shared.
    """
    chance = story.chance
    stands = chance.random() < 0.5
    for _ in range(chance.choice((2, 40, 40))):
        game = played(contest, acts)
        if game.current is None:
            return
        legal = sorted(map(str, game.current.legal()))
        word = STAND if stands and STAND in legal else chance.choice(legal)
        after = played(contest, [*acts, word])
        score = after.score if after.is_over else None
        contests.act(desk, contest, caller_id, acts, word, score)
        acts.append(word)


def end_a_tournament(story: Story) -> None:
    """Let a visitor rate the tries and settle what is over; a second one finds nothing."""
    running = _at_the_books(story, tournaments.running)
    if running is not None and story.chance.random() < 0.5:
        sleep_until(story, running.ends, A_DAY)
    _at_the_books(story, _weigh)
    ended = _at_the_books(story, tournaments.settle)
    if ended is not None:
        story.tell(f"the tournament of {ended.day} is {ended.outcome}")
        again = _at_the_books(story, tournaments.settle)
        must(again is None, "tournament {} was settled twice", ended.seal)


def sleep_until(story: Story, ends: datetime, most: int) -> None:
    """Have the machine sleep until a contest is over, if that takes less than `most` seconds."""
    seconds = (ends - story.now()).total_seconds() + 1
    if 0 < seconds < most:
        story.tell(f"the machine sleeps for {seconds:.0f} s, until the end of a contest")
        story.wall.sleep(seconds)
        story.calm_from = story.monotonic + NOTICED
        story.let_pass(NOTICED + 1)


def _weigh(desk: Desk) -> None:
    running = tournaments.running(desk)
    for each in contests.unweighed(desk, running.seal) if running is not None else ():
        contests.weigh(desk, running.seal, each.caller_id, weigh(running, each.acts))


def call_off_a_tournament(story: Story) -> None:
    """Let the sysop cancel the running one."""
    _at_the_books(story, lambda desk: tournaments.call_off(desk, "Somebody cheats", "Sysop"))


def _at_the_books(story: Story, work: Callable[[Desk], T]) -> T | None:
    with story.command("nothing comes of the tournament", OutOfStep, Refused, ShoeGone) as desk:
        return work(desk)
    return None
