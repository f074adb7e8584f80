"""Invariants of the tutor's advice for every hand; its words, its view and its memory."""

import re
from dataclasses import replace
from math import inf

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    UNIX_BJ,
    VEGAS,
    BlackjackRules,
)
from door.games.engine.cards import Card, deck, parse_cards
from door.games.solver.tutor.dealer import dealer_hands
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.payments import payments
from door.games.solver.tutor.tutor import FEWEST_UNSEEN, Advice, judge, spot_of
from tests.door.games.blackjack.chances import shoes
from tests.door.games.blackjack.tabletop import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURE,
    SPLIT,
    STAKE,
    STAY,
    house,
    lead,
    play,
    stacked,
)
from tests.door.games.solver.advised import advice_on
from timebank.language import Viewer, speaking_to

several = settings(deadline=None, max_examples=40)

choices = st.lists(st.integers(0, 5), max_size=6)
tables = st.sampled_from([VEGAS, UNIX_BJ, replace(VEGAS, decks=1, dealer="hit 17")])


def somewhere(
    rules: BlackjackRules, shoe: tuple[Card, ...], chosen: list[int], seats: int
) -> BlackjackRound:
    """Return a round with an open decision, after some earlier ones."""
    game, _ = start(rules, shoe, [STAKE] * seats)
    assume(not game.over)
    for choice in chosen:
        legal = game.legal()
        after, _ = game.apply(legal[choice % len(legal)])
        if after.over:
            break
        game = after
    return game


@several
@given(tables, shoes(), choices)
def test_the_tutor_sees_neither_the_hole_card_nor_an_undealt_one(
    rules: BlackjackRules, shoe: tuple[Card, ...], chosen: list[int]
) -> None:
    game = somewhere(rules, (*shoe, *shoe), chosen, 2)
    up, hole = game.dealer_hand
    blind = replace(game, dealer_hand=(up, Card("2C")), shoe=())
    assert hole not in blind.dealer
    assert spot_of(blind) == spot_of(game)


def test_partial_insurance_is_weighed_by_its_cost() -> None:
    game, _ = start(
        house(insurance_rounding="down", insurance_unit=4), stacked("TH 9D", "AS 7S"), [10]
    )
    told = advice_on(game, game.legal())
    assert game.amount(INSURE) == 4
    assert lead(told) == pytest.approx(0.4 * (49 - 3 * 15) / 49)


# The caller's view.


def test_advice_stays_within_the_purse() -> None:
    game, _ = start(VEGAS, stacked("6H 5D", "6S TC"), [STAKE])
    assert advice_on(game, game.legal()).best is DOUBLE
    told = advice_on(game, (HIT, STAY))
    assert (told.best, tuple(told.values)) == (HIT, (HIT, STAY))


def test_without_a_choice_there_is_no_advice() -> None:
    game = play(stacked("TH 8D", "6S TC", "9C"), STAY).round
    with pytest.raises(ValueError, match="Nothing is to be decided here"):
        advice_on(game, game.legal())
    asked, _ = start(VEGAS, stacked("TH 8D", "6S TC"), [STAKE])
    with pytest.raises(ValueError, match="Nothing is to be decided here"):
        advice_on(asked, ())


def test_cards_of_other_seats_are_missing_in_the_shoe() -> None:
    shoe = parse_cards("9H 5D 6S 3C 5H TC 2S 4D")
    game, _ = start(replace(VEGAS, decks=1), shoe, [STAKE, STAKE])
    assert spot_of(game).unseen == (4, 4, 3, 4, 2, 3, 4, 4, 3, 16)


def test_the_tutor_knows_that_the_dealer_has_peeked() -> None:
    before, _ = start(VEGAS, stacked("TH 8D", "AS 7S"), [STAKE])
    after, _ = before.apply(DECLINE)
    unlooked, _ = start(house(peek_under_ace=False), stacked("TH 8D", "AS 7S"), [STAKE])
    unlooked, _ = unlooked.apply(DECLINE)
    assert (spot_of(before).looked, spot_of(after).looked) == (False, True)
    assert not spot_of(unlooked).looked
    ten, _ = start(VEGAS, stacked("TH 8D", "KS 7S"), [STAKE])
    assert spot_of(ten).looked


def test_a_table_that_has_run_through_its_deck_is_weighed_by_a_fresh_one() -> None:
    low_first = sorted(deck(1), key=lambda card: card.value)
    game, _ = start(replace(VEGAS, decks=1), low_first, [STAKE] * 7)
    while 53 - game.cards_used >= FEWEST_UNSEEN:
        assert sum(spot_of(game).unseen) == 53 - game.cards_used
        game, _ = game.apply(HIT)
    assert game.hand is not None
    assert sum(spot_of(game).unseen) == 52 - 1 - len(game.hand.cards)
    assert advice_on(game, game.legal()).best in game.legal()


# Wording.


def gaining(best: BlackjackAction, **gains: float) -> Advice:
    names = {"hit": HIT, "stay": STAY, "double": DOUBLE, "split": SPLIT}
    return Advice(best, {names[name]: gain for name, gain in gains.items()})


def test_the_sentence_before_a_move_names_the_best_and_the_next() -> None:
    assert gaining(HIT, hit=-0.16, stay=-0.47).sentence == (
        "Book: HIT (-16% of your bet on average; standing -47%)"
    )
    assert gaining(DOUBLE, double=0.3, split=0.25, hit=0.1).sentence == (
        "Book: DOUBLE (+30% of your bet on average; splitting +25%)"
    )
    assert gaining(STAY, stay=-0.001, hit=-0.4).sentence == (
        "Book: STAND (0% of your bet on average; hitting -40%)"
    )


def test_a_difference_below_the_shown_precision_costs_nothing() -> None:
    near = gaining(HIT, hit=-0.5396, stay=-0.5404)
    assert near.sentence == "Book: HIT (-54% of your bet on average; standing -54%)"
    assert judge(near, STAY) is None


def test_the_only_open_action_has_no_rival() -> None:
    alone = gaining(STAY, stay=0.5)
    assert alone.sentence == "Book: STAND (+50% of your bet on average)"
    assert lead(alone) == inf


def test_insurance_is_judged_like_any_other_play() -> None:
    costly = Advice(DECLINE, {INSURE: -0.3, DECLINE: -0.26})
    assert costly.sentence == ("Book: NO INSURANCE (-26% of your bet on average; insuring -30%)")
    assert (
        judge(costly, INSURE)
        == "In the long run insuring costs about 4% of the bet. Book: NO INSURANCE."
    )
    due = Advice(INSURE, {INSURE: -0.2, DECLINE: -0.26})
    assert due.sentence == ("Book: INSURE (-20% of your bet on average; going without -26%)")
    assert (
        judge(due, DECLINE)
        == "In the long run going without costs about 6% of the bet. Book: INSURE."
    )
    even = Advice(DECLINE, {DECLINE: 0.0}).sentence
    assert even == "Book: NO INSURANCE (0% of your bet on average)"


def test_a_wrong_move_is_judged_with_its_cost_and_a_right_one_is_not() -> None:
    best = gaining(STAY, stay=-0.07, hit=-0.14, double=-0.9)
    assert judge(best, STAY) is None
    assert judge(best, HIT) == "In the long run hitting costs about 7% of the bet. Book: STAND."
    assert (
        judge(best, DOUBLE) == "In the long run doubling costs about 83% of the bet. Book: STAND."
    )
    with pytest.raises(KeyError):
        judge(best, SPLIT)


@pytest.mark.parametrize("best", [-0.2049, -0.1951, 0.0049, 0.125, 0.3351])
@pytest.mark.parametrize("less", [0.0031, 0.0402, 0.0449, 0.045, 0.5951])
def test_the_cost_is_the_difference_of_the_numbers_that_were_shown(
    best: float, less: float
) -> None:
    told = gaining(STAY, stay=best, hit=best - less)
    shown = [int(percent) for percent in re.findall(r"([+-]?\d+)%", told.sentence)]
    verdict = judge(told, HIT)
    if verdict is None:
        assert shown[0] == shown[1]
    else:
        assert f"costs about {shown[0] - shown[1]}% of the bet" in verdict


def test_of_two_that_are_equally_good_the_one_that_stakes_less_is_the_best() -> None:
    """Seven cards lie open, a ten among them: of the other 45 a third are tens."""
    shoe = parse_cards("5H 6H 9H AS 5D 4D TD 7S")
    game, _ = start(BLACK_JACK_FOR_TIME, shoe, [STAKE] * 3)
    told = advice_on(game, game.legal())
    assert told.values[INSURE] == told.values[DECLINE]
    assert (told.best, lead(told)) == (DECLINE, 0)


# Memory.


def test_the_memory_of_the_tutor_is_bounded() -> None:
    for cached in (values, dealer_hands, payments):
        assert cached.cache_info().maxsize is not None
        assert cached.cache_info().maxsize <= 512


def test_the_same_decision_is_worked_out_once() -> None:
    game, _ = start(VEGAS, stacked("TH 6D", "9S 7C"), [STAKE])
    values.cache_clear()
    first = advice_on(game, game.legal())
    again = advice_on(game, (HIT, STAY))
    assert values.cache_info().misses == 1
    assert again.values[HIT] == first.values[HIT]
    with pytest.raises(TypeError):
        first.values[HIT] = 1.0


def test_in_french_colons_and_semicolons_stand_apart() -> None:
    advice_ = Advice(HIT, {HIT: -0.16, STAY: -0.47})
    with speaking_to(Viewer("fr")):
        assert advice_.sentence == (
            "Stratégie : TIRER (-16 % de votre mise en moyenne ; rester -47 %)"
        )
        assert Advice(STAY, {STAY: 0.5}).sentence == (
            "Stratégie : RESTER (+50 % de votre mise en moyenne)"
        )
