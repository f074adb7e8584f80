"""What holds for every hand, whatever the cards, the house and the decisions."""

from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.games.black_jack_for_time.kind import BLACK_JACK_FOR_TIME_KIND
from door.games.blackjack.events import (
    BlackjackDealt,
    BlackjackSettled,
    DealerDealt,
    Event,
    InsuranceSettled,
)
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.engine.cards import Card, count, parse_cards
from door.games.engine.errors import IllegalAction, ShoeTooShort
from door.games.engine.game import Act
from door.games.engine.replay import replay_round
from tests.door.games.blackjack.chances import choices, houses, shoes, stakes, unhurried

HouseMapping = dict[str, object]


def played(
    rules: BlackjackRules, shoe: tuple[Card, ...], bets: list[int], chosen: list[int]
) -> tuple[list[BlackjackRound], list[Event], list[BlackjackAction]]:
    """A round to its end, each time the chosen one of what is legal: (its states, all events,
    the actions taken)."""
    game, happened = start(rules, shoe, bets)
    states, events, taken = [game], list(happened), []
    while not game.over:
        legal = game.legal()
        taken.append(legal[chosen[len(taken) % len(chosen)] % len(legal)])
        game, happened = game.apply(taken[-1])
        states.append(game)
        events += happened
    return states, events, taken


@unhurried
@given(houses, shoes(), stakes, choices)
def test_money_is_conserved(house: HouseMapping, shoe, stake: int, chosen) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, events, _ = played(rules, shoe, [stake], chosen)
    totals = states[-1].totals
    settled = [event for event in events if isinstance(event, BlackjackSettled | InsuranceSettled)]
    assert totals.lost + totals.returned == totals.staked
    assert totals.lost == sum(event.lost for event in settled)
    assert totals.returned == sum(event.returned for event in settled)
    assert totals.won == sum(event.won for event in settled)
    assert min(totals.lost, totals.returned, totals.won) >= 0


@unhurried
@given(houses, shoes(), stakes, choices)
def test_what_an_action_adds_is_what_it_was_said_to_cost(
    house: HouseMapping, shoe, stake: int, chosen
) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, _, taken = played(rules, shoe, [stake], chosen)
    assert states[0].totals.staked == stake
    for (before, after), action in zip(pairwise(states), taken, strict=True):
        assert after.totals.staked - before.totals.staked == before.amount(action)


@unhurried
@given(houses, shoes(), stakes, choices)
def test_nothing_illegal_is_accepted_and_a_refusal_changes_nothing(
    house: HouseMapping, shoe, stake: int, chosen
) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, _, _ = played(rules, shoe, [stake], chosen)
    for game in states:
        before = repr(game), game.shoe, game.dealer_hand
        for action in set(BlackjackAction) - set(game.legal()):
            with pytest.raises(IllegalAction):
                game.apply(action)
            with pytest.raises(IllegalAction):
                game.amount(action)
        assert (repr(game), game.shoe, game.dealer_hand) == before


@unhurried
@given(houses, shoes(), stakes, choices)
def test_acting_leaves_the_round_before_as_it_was(
    house: HouseMapping, shoe, stake: int, chosen
) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, _, taken = played(rules, shoe, [stake], chosen)
    for (game, after), action in zip(pairwise(states), taken, strict=True):
        assert game.apply(action)[0] == after


def test_nothing_on_the_table_can_be_changed_in_place() -> None:
    shoe = parse_cards("2H 3H 4H 5H")
    game, events = start(BLACK_JACK_FOR_TIME, shoe, [2])
    seat = game.seats[0]
    for thing, name in (
        (game, "phase"),
        (game.turn, "seat"),
        (seat, "bet"),
        (seat.hands[0], "stake"),
        (game.rules, "ties"),
        (game.totals, "won"),
        (events[0], "card"),
        (replay_round(BLACK_JACK_FOR_TIME_KIND, {}, shoe, [2], []), "round"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)


@unhurried
@given(houses, shoes(), stakes, choices)
def test_a_replay_is_identical(house: HouseMapping, shoe, stake: int, chosen) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, events, taken = played(rules, shoe, [stake], chosen)
    acts = [Act(action) for action in taken]
    again = replay_round(BLACK_JACK_FOR_TIME_KIND, house, shoe, [stake], acts)
    assert again.round == states[-1]
    assert again.events == tuple(events)


@unhurried
@given(houses, shoes(), stakes, choices)
def test_cards_are_dealt_from_the_top_and_each_once(
    house: HouseMapping, shoe, stake: int, chosen
) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, events, _ = played(rules, shoe, [stake], chosen)
    last = states[-1]
    dealt = [event.card for event in events if isinstance(event, BlackjackDealt | DealerDealt)]
    dealt[3] = last.dealer_hand[1]
    assert tuple(dealt) == shoe[: last.cards_used]
    assert last.cards_used <= rules.most_cards(1)


@unhurried
@given(houses, shoes(), stakes, choices)
def test_no_event_shows_the_hole_card_before_it_is_turned_up(
    house: HouseMapping, shoe, stake: int, chosen
) -> None:
    rules = rules_from_mapping(house, BLACK_JACK_FOR_TIME)
    states, events, _ = played(rules, shoe, [stake], chosen)
    for game in states:
        assert (shoe[3] in game.dealer) == game.revealed
        assert game.revealed or shoe[3] not in repr(game)
    if not states[-1].revealed:
        assert shoe[3] not in repr(events)


@unhurried
@given(shoes(), stakes, choices, st.integers(0, 9))
def test_a_shoe_that_ends_too_soon_is_said_and_nothing_happens(
    shoe, stake: int, chosen, left: int
) -> None:
    states, _, taken = played(BLACK_JACK_FOR_TIME, shoe, [stake], chosen)
    short = shoe[: min(left, states[-1].cards_used - 1)]
    with pytest.raises(ShoeTooShort, match=f"its {len(short)} cards? (is|are) not enough"):
        replay_all(short, stake, taken)


def replay_all(shoe: tuple[Card, ...], stake: int, taken: list[BlackjackAction]) -> None:
    game, _ = start(BLACK_JACK_FOR_TIME, shoe, [stake])
    for action in taken:
        game, _ = game.apply(action)


@unhurried
@given(shoes(), stakes, choices)
def test_the_help_file_alone_gives_the_same_net(shoe, stake: int, chosen) -> None:
    """The whole game told a second time, from the cards that ended on the table."""
    states, _, taken = played(BLACK_JACK_FOR_TIME, shoe, [stake], chosen)
    last = states[-1]
    player = last.seats[0].hands[0].cards
    insured = BlackjackAction.INSURANCE in taken
    doubled = BlackjackAction.DOUBLE in taken
    net = told_again(player, last.dealer_hand, doubled) * stake
    if insured:
        net += stake if count(last.dealer_hand[:2]).total == 21 else -stake // 2
    assert last.totals.won - last.totals.lost == net


def told_again(player: tuple[Card, ...], dealer: tuple[Card, ...], doubled: bool) -> int:
    """How many bets the hand itself wins or loses."""
    mine, dealers = count(player).total, count(dealer).total
    natural, dealer_natural = (
        len(cards) == 2 and count(cards).total == 21 for cards in (player, dealer)
    )
    bets = 2 if doubled else 1
    if natural or dealer_natural:
        return 2 * (natural and not dealer_natural) - (dealer_natural and not natural)
    if mine > 21:
        return -bets
    if len(player) == 5 and mine < 21:
        return 2
    if len(dealer) == 5 and dealers < 21:
        return -bets
    if dealers > 21 or mine > dealers:
        return 2 if mine == 21 else bets
    return -bets


SPLITTING = replace(BLACK_JACK_FOR_TIME, split="once")


@unhurried
@given(shoes(), st.lists(stakes, min_size=1, max_size=3), choices)
def test_seats_and_split_hands_conserve_money_too(shoe, bets: list[int], chosen) -> None:
    states, events, taken = played(SPLITTING, shoe, bets, chosen)
    last = states[-1]
    assert last.totals.lost + last.totals.returned == last.totals.staked
    settled = [event for event in events if isinstance(event, BlackjackSettled)]
    assert sorted((event.seat, event.hand) for event in settled) == [
        (number, place)
        for number, seat in enumerate(last.seats)
        for place, _ in enumerate(seat.hands)
    ]
    for (before, after), action in zip(pairwise(states), taken, strict=True):
        assert after.totals.staked - before.totals.staked == before.amount(action)
    assert last.cards_used <= SPLITTING.most_cards(len(bets))
