"""Invariants of every round of the three black jacks and of all rules between them.

One to seven seats, split pairs, and insurance of any amount.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.games.blackjack.blackjack_hand import Hand, Seat
from door.games.blackjack.events import (
    BlackjackDealt,
    BlackjackSettled,
    DealerDealt,
    Event,
    InsuranceSettled,
    Split,
)
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS, BlackjackRules
from door.games.engine.cards import Card, count, parse_cards
from door.games.engine.errors import IllegalAction, ShoeTooShort
from tests.door.games.blackjack.chances import (
    bets,
    long_shoes,
    shoes,
    stakes,
    tables,
    unhurried,
)

Taken = tuple[BlackjackAction, int | None]

picks = st.lists(st.integers(0, 10**6), min_size=6, max_size=20)
"""Which legal action is taken turn by turn, and how much where an amount may be named."""


@dataclass(frozen=True)
class PlayedRound:
    """A round to its end: every state of it, every event, everything that was decided."""

    states: list[BlackjackRound]
    events: list[Event]
    taken: list[Taken]

    @property
    def last(self) -> BlackjackRound:
        return self.states[-1]


def named_amount(game: BlackjackRound, action: BlackjackAction, pick: int) -> int | None:
    """Return None, or an allowed amount where the action takes one."""
    if action is not BlackjackAction.INSURANCE or game.rules.insurance == "half" or pick % 3 == 0:
        return None
    return 1 + pick % game.amount(action)


def play_to_end(
    rules: BlackjackRules, shoe: tuple[Card, ...], stakes: list[int], picked: list[int]
) -> PlayedRound:
    game, happened = start(rules, shoe, stakes)
    states, events, taken = [game], list(happened), []
    while not game.over:
        legal = game.legal()
        pick = picked[len(taken) % len(picked)]
        action = legal[pick % len(legal)]
        taken.append((action, named_amount(game, action, pick)))
        game, happened = game.apply(*taken[-1])
        states.append(game)
        events += happened
    return PlayedRound(states, events, taken)


def hands_of(game: BlackjackRound) -> list[tuple[Seat, Hand]]:
    return [(seat, hand) for seat in game.seats for hand in seat.hands]


def any_round(test: Callable[[PlayedRound], None]) -> Callable[[], None]:
    return unhurried(given(st.builds(play_to_end, tables, long_shoes(), bets, picks))(test))


@any_round
def test_money_is_conserved_seat_by_seat(round_: PlayedRound) -> None:
    for number, seat in enumerate(round_.last.seats):
        totals = round_.last.totals_of(number)
        moved = [
            event
            for event in round_.events
            if isinstance(event, BlackjackSettled | InsuranceSettled) and event.seat == number
        ]
        assert totals.staked == seat.staked == totals.lost + totals.returned
        assert totals.lost == sum(event.lost for event in moved)
        assert totals.returned == sum(event.returned for event in moved)
        assert totals.won == sum(event.won for event in moved)
        assert min(totals.lost, totals.returned, totals.won) >= 0


@any_round
def test_the_round_is_its_seats_together(round_: PlayedRound) -> None:
    for game in round_.states:
        each = [game.totals_of(seat) for seat in range(len(round_.last.seats))]
        for name in ("staked", "lost", "returned", "won"):
            assert getattr(game.totals, name) == sum(getattr(totals, name) for totals in each)
        together = [
            outcome for seat in range(len(round_.last.seats)) for outcome in game.outcomes_of(seat)
        ]
        assert together == list(game.outcomes)


@any_round
def test_every_hand_is_settled_once(round_: PlayedRound) -> None:
    settled = [
        (event.seat, event.hand) for event in round_.events if isinstance(event, BlackjackSettled)
    ]
    assert sorted(settled) == [
        (number, place)
        for number, seat in enumerate(round_.last.seats)
        for place, _ in enumerate(seat.hands)
    ]
    assert len(round_.last.outcomes) == len(settled)


@any_round
def test_an_action_stakes_its_announced_or_named_amount(round_: PlayedRound) -> None:
    assert round_.states[0].totals.staked == sum(seat.bet for seat in round_.last.seats)
    for (before, after), (action, named) in zip(pairwise(round_.states), round_.taken, strict=True):
        assert before.turn is not None
        added = before.amount(action) if named is None else named
        assert after.totals.staked - before.totals.staked == added
        seat = before.turn.seat
        assert after.totals_of(seat).staked - before.totals_of(seat).staked == added


@any_round
def test_nothing_illegal_is_accepted_and_a_refusal_changes_nothing(round_: PlayedRound) -> None:
    for game in round_.states:
        before = repr(game), game.shoe, game.dealer_hand
        for action in BlackjackAction:
            for amount in illegal_amounts(game, action):
                with pytest.raises(IllegalAction):
                    game.apply(action, amount)
        assert (repr(game), game.shoe, game.dealer_hand) == before


def illegal_amounts(game: BlackjackRound, action: BlackjackAction) -> list[int | None]:
    """Amounts that do not belong to an action, None among them when it is not open at all."""
    if action not in game.legal():
        return [None, 1]
    if action is BlackjackAction.INSURANCE and game.rules.insurance == "up to half":
        return [-1, 0, game.amount(action) + 1]
    return [0, 1, game.amount(action)]


@any_round
def test_cards_are_dealt_from_the_top_and_each_once(round_: PlayedRound) -> None:
    last, shoe = round_.last, round_.last.shoe
    dealt = [
        event.card for event in round_.events if isinstance(event, BlackjackDealt | DealerDealt)
    ]
    hole = 1 if round_.last.rules.deal == "dealer first" else 2 * len(round_.last.seats) + 1
    assert dealt[hole] is None
    dealt[hole] = last.dealer_hand[1]
    assert tuple(dealt) == shoe[: last.cards_used]
    lie = [card for _, hand in hands_of(last) for card in hand.cards]
    assert sorted([*lie, *last.dealer_hand]) == sorted(shoe[: last.cards_used])
    assert last.cards_used <= round_.last.rules.most_cards(len(round_.last.seats))


@any_round
def test_the_hole_card_is_turned_up_once_and_for_all(round_: PlayedRound) -> None:
    for game in round_.states:
        if not game.revealed:
            assert game.dealer == (game.dealer_hand[0], None)
    revealed = [game.revealed for game in round_.states]
    assert revealed == sorted(revealed)


@any_round
def test_turns_go_round_the_seats_and_never_back(round_: PlayedRound) -> None:
    turns = [
        (game.phase is BlackjackPhase.PLAY, game.turn.seat, game.turn.hand)
        for game in round_.states
        if game.turn is not None
    ]
    assert turns == sorted(turns)
    assert len(turns) == len(round_.states) - 1


@any_round
def test_a_hand_at_turn_has_two_cards_and_is_not_over_21(round_: PlayedRound) -> None:
    for game in round_.states:
        if game.phase is BlackjackPhase.PLAY:
            assert game.hand is not None
            assert len(game.hand.cards) >= 2
            assert game.hand.count.total <= (21 if round_.last.rules.hit_on_21 else 20)


@any_round
def test_only_two_cards_of_equal_value_are_split_and_only_once(round_: PlayedRound) -> None:
    splits = [event.seat for event in round_.events if isinstance(event, Split)]
    assert len(splits) == len(set(splits))
    assert round_.last.rules.split == "once" or splits == []
    for number, seat in enumerate(round_.last.seats):
        assert len(seat.hands) == (2 if number in splits else 1)
        if number in splits:
            first, second = seat.hands
            assert first.cards[0].value == second.cards[0].value


def test_nothing_on_the_table_can_be_changed_in_place() -> None:
    game, events = start(BLACK_JACK_FOR_TIME, parse_cards("2H 3H 4H 5H"), [2])
    seat = game.seats[0]
    for thing, name in (
        (game, "phase"),
        (game.turn, "seat"),
        (seat, "bet"),
        (seat.hands[0], "stake"),
        (game.rules, "ties"),
        (game.totals, "won"),
        (events[0], "card"),
    ):
        with pytest.raises(AttributeError):
            setattr(thing, name, None)


@unhurried
@given(tables, long_shoes(), bets, picks, st.integers(0, 40))
def test_a_shoe_that_runs_out_is_reported_and_changes_nothing(
    rules: BlackjackRules, shoe, stakes, picked, left: int
) -> None:
    round_ = play_to_end(rules, shoe, stakes, picked)
    short = shoe[: min(left, round_.last.cards_used - 1)]
    with pytest.raises(ShoeTooShort, match=f"its {len(short)} cards? (is|are) not enough"):
        play_to_end(rules, short, stakes, picked)


# The games recomputed from the cards on the table.


@unhurried
@given(shoes(), stakes, picks)
def test_the_help_file_alone_gives_the_same_net(shoe, stake: int, picked) -> None:
    round_ = play_to_end(BLACK_JACK_FOR_TIME, shoe, [stake], picked)
    last, taken = round_.last, [action for action, _ in round_.taken]
    player = last.seats[0].hands[0].cards
    net = recomputed_bets(player, last.dealer_hand, BlackjackAction.DOUBLE in taken) * stake
    if BlackjackAction.INSURANCE in taken:
        net += stake if count(last.dealer_hand[:2]).total == 21 else -stake // 2
    assert last.totals.won - last.totals.lost == net


def recomputed_bets(player: tuple[Card, ...], dealer: tuple[Card, ...], doubled: bool) -> int:
    """Return how many bets the hand wins or loses, computed from its cards."""
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


@unhurried
@given(long_shoes(), bets, picks)
def test_the_manual_pages_alone_give_the_same_net(shoe, stakes, picked) -> None:
    check_net(UNIX_BJ, shoe, stakes, picked)


@unhurried
@given(long_shoes(), bets, picks)
def test_the_text_of_nextvegas_alone_gives_the_same_net(shoe, stakes, picked) -> None:
    check_net(VEGAS, shoe, stakes, picked)


def check_net(rules: BlackjackRules, shoe, stakes: list[int], picked: list[int]) -> None:
    last = play_to_end(rules, shoe, stakes, picked).last
    dealer = last.dealer_hand
    for number, seat in enumerate(last.seats):
        hands = sum(hand_net(seat, hand, dealer) for hand in seat.hands)
        totals = last.totals_of(number)
        assert totals.won - totals.lost == hands + insurance_net(seat, dealer)
    plays = count(dealer[:2]).total != 21 and any(
        awaits(seat, hand) for seat, hand in hands_of(last)
    )
    assert [count(dealer[:length]).total < 17 for length in range(2, len(dealer))] == [True] * (
        len(dealer) - 2
    )
    assert plays or len(dealer) == 2
    assert not plays or count(dealer).total >= 17


def dealt_21(cards: tuple[Card, ...]) -> bool:
    return len(cards) == 2 and count(cards).total == 21


def awaits(seat: Seat, hand: Hand) -> bool:
    """Whether the dealer must play for this hand."""
    natural = len(seat.hands) == 1 and dealt_21(hand.cards)
    return hand.count.total <= 21 and not natural


def hand_net(seat: Seat, hand: Hand, dealer: tuple[Card, ...]) -> int:
    mine, dealers = count(hand.cards).total, count(dealer).total
    stake = seat.bet * (2 if hand.doubled else 1)
    natural = len(seat.hands) == 1 and dealt_21(hand.cards)
    if natural:
        return 0 if dealt_21(dealer) else seat.bet * 3 // 2
    if dealt_21(dealer) or mine > 21:
        return -stake
    if dealers > 21:
        return stake
    return stake * ((mine > dealers) - (mine < dealers))


def insurance_net(seat: Seat, dealer: tuple[Card, ...]) -> int:
    bought = seat.insurance or 0
    return 2 * bought if dealt_21(dealer) else -bought
