"""Invariants of every coup of baccarat, for all cards, houses and decisions."""

from collections.abc import Callable
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.games.baccarat.events import (
    BaccaratDealt,
    BaccaratDrew,
    BaccaratOutcome,
    BaccaratRevealed,
    BaccaratSettled,
    Event,
)
from door.games.baccarat.game import BACCARAT_KIND
from door.games.baccarat.round import BaccaratAction, BaccaratRound, start
from door.games.baccarat.rules import (
    BACCARAT,
    point_of,
)
from door.games.engine.cards import Card, deck
from door.games.engine.errors import IllegalAction, RulesRefused, ShoeTooShort
from tests.door.games.baccarat.coups import MOST_CARDS, card_of, play, shoe_of_points
from tests.door.games.blackjack.chances import unhurried

options = st.sampled_from(["draw", "stand", "toss"])
houses = st.fixed_dictionaries(
    {},
    optional={"bank_option_3v9": options, "bank_option_5v4": options, "decks": st.integers(1, 8)},
)
stakes = st.integers(1, 10**9)
decisions = st.lists(st.booleans(), min_size=2, max_size=2)

# Choices are rare among all shoes: the player has 5, the bank 3 or 5, the third card 9 or 4.
_choosing = st.tuples(
    st.sampled_from([0, 5]), st.sampled_from([3, 5]), st.sampled_from([4, 9]), st.integers(0, 9)
).map(lambda four: shoe_of_points(*four))
shoes = st.one_of(st.permutations(deck(1)).map(tuple), _choosing)

House = dict[str, object]
Shoe = tuple[Card, ...]


Played = tuple[list[BaccaratRound], list[Event], list[BaccaratAction]]


def played(house: House, shoe: Shoe, stake: int, chosen: list[bool]) -> Played:
    """A coup to its end: its states, all events, the actions taken."""
    coup, happened = start(BACCARAT_KIND.vary(house, BACCARAT), shoe, stake)
    states, events, taken = [coup], list(happened), []
    while not coup.over:
        taken.append(coup.legal()[chosen[len(taken)]])
        coup, happened = coup.apply(taken[-1])
        states.append(coup)
        events += happened
    return states, events, taken


def any_coup(test: Callable[[Played], None]) -> Callable[[], None]:
    return unhurried(given(st.builds(played, houses, shoes, stakes, decisions))(test))


@any_coup
def test_money_is_conserved(coup: Played) -> None:
    states, events, _ = coup
    (settled,) = [event for event in events if isinstance(event, BaccaratSettled)]
    totals = states[-1].totals
    assert (totals.lost, totals.returned, totals.won) == (
        settled.lost,
        settled.returned,
        settled.won,
    )
    assert totals.lost + totals.returned == totals.staked == states[0].stake
    assert totals.won in (0, totals.staked)
    assert not (totals.won and totals.lost)
    for before in states[:-1]:
        assert before.totals == (totals.staked, 0, 0, 0)


@any_coup
def test_nothing_illegal_is_accepted_and_a_refusal_changes_nothing(played: Played) -> None:
    for coup in played[0]:
        before = repr(coup), coup.bank_hand
        for action in set(BaccaratAction) - set(coup.legal()):
            with pytest.raises(IllegalAction):
                coup.apply(action)
        assert (repr(coup), coup.bank_hand) == before


@any_coup
def test_cards_are_dealt_from_the_top_and_each_once(coup: Played) -> None:
    states, events, _ = coup
    last = states[-1]
    drawn = [event.card for event in events if isinstance(event, BaccaratDrew)]
    (turned_up,) = [event.cards for event in events if isinstance(event, BaccaratRevealed)]
    mine = [
        event.card
        for event in events
        if isinstance(event, BaccaratDealt) and event.card is not None
    ]
    dealt = (mine[0], turned_up[0], mine[1], turned_up[1], *drawn)
    assert dealt == last.shoe[: last.cards_used]
    assert last.cards_used <= MOST_CARDS


@any_coup
def test_no_event_shows_a_card_of_the_bank_before_it_is_turned_up(coup: Played) -> None:
    states, events, _ = coup
    first = states[0]
    if first.legal() == (BaccaratAction.CARD, BaccaratAction.NO_CARD):
        assert first.bank == (None, None)
        assert first.bank_point is None
        assert not [event for event in events[:4] if isinstance(event, BaccaratRevealed)]
        assert all(repr(card) not in repr(first) for card in set(first.bank_hand) - {*first.player})
    assert states[-1].bank == states[-1].bank_hand


@any_coup
def test_nearer_to_nine_wins(coup: Played) -> None:
    last = coup[0][-1]
    mine, banks = (sum("A23456789".find(card[0]) + 1 for card in hand) % 10 for hand in hands(last))
    assert last.points == (mine, banks)
    nearer = {True: BaccaratOutcome.PLAYER, False: BaccaratOutcome.BANK}[mine > banks]
    assert last.outcome is (BaccaratOutcome.STAND_OFF if mine == banks else nearer)


def hands(coup: BaccaratRound) -> tuple[Shoe, Shoe]:
    return coup.player, coup.bank_hand


@unhurried
@given(houses, shoes, decisions, st.integers(0, 5))
def test_a_shoe_that_ends_too_soon_leaves_the_round_as_it_was(
    house: House, shoe: Shoe, chosen: list[bool], left: int
) -> None:
    states, _, taken = played(house, shoe, 1, chosen)
    short = shoe[: min(left, states[-1].cards_used - 1)]
    with pytest.raises(ShoeTooShort, match=f"its {len(short)} cards? (is|are) not enough"):
        play_short(house, short, taken)


def play_short(house: House, shoe: Shoe, taken: list[BaccaratAction]) -> None:
    coup, _ = start(BACCARAT_KIND.vary(house, BACCARAT), shoe, 1)
    for action in taken:
        coup, _ = coup.apply(action)


def test_nothing_on_the_table_can_be_changed_in_place() -> None:
    played_out = play(shoe_of_points(7, 6))
    for thing, name in (
        (played_out.round, "phase"),
        (played_out.round.rules, "decks"),
        (played_out.round.totals, "won"),
        (played_out.settled, "won"),
    ):
        with pytest.raises(AttributeError):
            setattr(thing, name, None)


# Rules from the keys of a table in sysop.toml.


@given(houses)
def test_the_rules_of_a_journal_are_read_back_as_they_were(house: House) -> None:
    rules = BACCARAT_KIND.vary(house, BACCARAT)
    assert BACCARAT_KIND.vary(asdict(rules), BACCARAT) == rules


def test_every_wrong_key_is_named_at_once() -> None:
    wrong = {
        "bank_option_3v9": "hit",
        "bank_option_5v4": True,
        "decks": 9,
        "ties": "push",
    }
    with pytest.raises(RulesRefused) as refused:
        BACCARAT_KIND.vary(wrong, BACCARAT)
    assert [tuple(problem) for problem in refused.value.problems] == [
        ("bank_option_3v9", 'must be "draw", "stand" or "toss", is "hit"'),
        ("bank_option_5v4", 'must be "draw", "stand" or "toss", is true'),
        ("decks", "must be a whole number from 1 to 8, is 9"),
        ("ties", "is not a rule of this game"),
    ]


def test_cards_count_their_face_value() -> None:
    assert [point_of([card_of(value)]) for value in range(10)] == list(range(10))
