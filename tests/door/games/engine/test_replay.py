"""`door replay` without the command: JSON in, exact results out, a sentence for every mistake."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.games.blackjack.round import BlackjackAction
from door.games.engine.cards import parse_cards
from door.games.engine.errors import ReplayError
from door.games.engine.game import Act
from door.games.engine.replay import journaled_actions, replay_round
from door.games.json_replay import parse, render, replay
from door.games.registry import GAMES
from tests.door.games.blackjack.chances import choices, houses, shoes, unhurried
from timebank.settings.quoting import either

GAME = "black-jack-for-time"
KIND = GAMES[GAME].kind
TEN_UP = "3H JS TH 3D 5C 9D"


def hand(**changes: object) -> dict[str, object]:
    return {
        "game": GAME,
        "rules": {},
        "stake": 10,
        "shoe": TEN_UP,
        "actions": ["hit", "hit"],
    } | changes


def refusal(document: object) -> str:
    with pytest.raises(ReplayError) as refused:
        replay(document)
    return str(refused.value)


# Results


def test_a_hand_gives_outcome_net_cards_and_their_number() -> None:
    assert replay(hand()) == {
        "outcome": "bust",
        "net": -10,
        "player": [["3H", "TH", "5C", "9D"]],
        "dealer": ["JS", "3D"],
        "cards_used": 6,
    }


def test_a_list_of_hands_gives_a_list_of_results() -> None:
    assert replay([hand(), hand()]) == [replay(hand()), replay(hand())]
    assert replay([]) == []


def test_rules_are_the_keys_of_the_table() -> None:
    tie = hand(shoe="TH TC 8H 8S", actions=["stay"], rules={"ties": "push"})
    assert isinstance(result := replay(tie), dict)
    assert result["outcome"] == "push"


def test_keys_that_only_bound_a_bet_change_nothing() -> None:
    bounds = {"coin_minutes": 5, "smallest_bet": 1, "largest_bet": 3, "turns_per_day": 20}
    assert replay(hand(rules=bounds)) == replay(hand())


# Exact numbers


INSURED = {"shoe": "TH AC 9H 7S", "actions": ["insurance", "stay"]}


@pytest.mark.parametrize(
    ("stake", "net"),
    [
        ("1", "0.5"),
        ("2.5", "1.25"),
        ("0.1", "0.05"),
        ("0.3", "0.15"),
        ("7", "3.5"),
        ("4.0", "2"),
        ("1e2", "50"),
        ("1000000000000", "500000000000"),
        ("999999999999.999999999999", "499999999999.9999999999995"),
        ("0.000000000001", "0.0000000000005"),
    ],
)
def test_net_is_an_exact_number_in_the_stakes_unit(stake: str, net: str) -> None:
    text = json.dumps(hand(**INSURED)).replace("10,", f"{stake},", 1)
    result = render(replay(parse(text)))
    assert f'"net": {net},' in result


def test_a_float_is_the_number_it_is_written_as() -> None:
    assert isinstance(result := replay(hand(stake=0.1, **INSURED)), dict)
    assert result["net"] == Decimal("0.05")


def test_rounding_down_takes_whole_units_of_the_stake() -> None:
    rules = {"insurance_rounding": "down"}
    assert isinstance(result := replay(hand(stake=5, rules=rules, **INSURED)), dict)
    assert result["net"] == 3  # 5 won, 2 of insurance lost
    rules["insurance_unit"] = 300  # as a journal has it
    assert isinstance(result := replay(hand(stake=900, rules=rules, **INSURED)), dict)
    assert result["net"] == 600


@unhurried
@given(shoes(), houses, st.decimals("0.01", "1000", places=2), choices)
def test_net_is_in_proportion_to_the_stake(shoe, house, stake: Decimal, chosen) -> None:
    """In any unit the same hand wins the same share (without rounding to whole units)."""
    house = {**house, "insurance_rounding": "exact"}
    actions = finished(shoe, house, chosen)
    one = replay_round(KIND, house, shoe, [200], map(Act, actions)).totals
    result = replay(hand(shoe=" ".join(shoe), rules=house, stake=stake, actions=actions))
    assert isinstance(result, dict)
    assert result["net"] * 200 == (one.won - one.lost) * stake


def finished(shoe, house, chosen: list[int]) -> list[str]:
    """Actions that play a hand to its end."""
    actions: list[str] = []
    while not (game := replay_round(KIND, house, shoe, [200], map(Act, actions))).over:
        legal = game.legal()
        actions.append(legal[chosen[len(actions) % len(chosen)] % len(legal)])
    return actions


def test_render_writes_json() -> None:
    results = replay([hand(), hand(stake=2.5, **INSURED)])
    assert isinstance(results, list)
    assert json.loads(render(results)) == [
        results[0],
        {**results[1], "net": 1.25},
    ]
    assert render([]) == "[]"


# Mistakes


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"game": "poker"},
            f'game must be {either(tuple(GAMES))}, is "poker".',
        ),
        ({"game": 1}, "game must be a name, is 1."),
        ({"rules": []}, "rules must be a table, is a list."),
        ({"rules": {"tie": 1}}, "rules: tie: is not a rule of this game."),
        (
            {"rules": {"ties": 1, "decks": 0}},
            'rules: ties: must be "dealer" or "push", is 1; '
            "decks: must be a whole number from 1 to 8, is 0.",
        ),
        (
            {"rules": {"coin_minutes": "five"}},
            'rules: coin_minutes: must be a whole number from 1 to 1440, is "five".',
        ),
        (
            {"bet": 10},
            "bet is not a key of a hand: they are game, rules, stake or seats, shoe, actions.",
        ),
        ({"shoe": ["3H"]}, "shoe must be a text of cards such as 3H JS TH, is a list."),
        (
            {"shoe": "3H JS 10H 3D"},
            'shoe: "10H" is not a card: one of A23456789TJQK and one of HSDC, such as TH.',
        ),
        ({"shoe": "3H JS TH 3H"}, "shoe: 3H is in it 2 times, 1 deck holds it 1."),
        (
            {"shoe": "3H 3H 3H", "rules": {"decks": 2}},
            "shoe: 3H is in it 3 times, 2 decks hold it 2.",
        ),
        ({"shoe": f"{TEN_UP} 9D"}, "shoe: 9D is in it 2 times, 1 deck holds it 1."),
        ({"shoe": ""}, "the shoe is too short: its 0 cards are not enough."),
        ({"shoe": "3H"}, "the shoe is too short: its 1 card is not enough."),
        ({"shoe": "3H JS TH"}, "the shoe is too short: its 3 cards are not enough."),
        ({"shoe": "3H JS TH 3D"}, "action 1: the shoe is too short: its 4 cards are not enough."),
        ({"actions": "hit"}, 'actions must be a list of words, is "hit".'),
        (
            {"actions": ["stand"]},
            'action 1 must be insurance, no-insurance, double, split, hit or stay, is "stand".',
        ),
        (
            {"actions": ["hit", None]},
            "action 2 must be a word, is null.",
        ),
        ({"actions": []}, "the hand is not finished: double, hit or stay must follow."),
        ({"actions": ["hit"]}, "the hand is not finished: hit or stay must follow."),
        (
            {"actions": ["no-insurance", "hit"]},
            "action 1: no-insurance is not open here: it is double, hit or stay.",
        ),
        (
            {"actions": ["hit", "double"]},
            "action 2: double is not open here: it is hit or stay.",
        ),
        (
            {"actions": ["hit", "hit", "stay"]},
            "the hand was over before action 3; left over: stay.",
        ),
        (
            {"shoe": "AH 9S KH 8S", "actions": ["stay"]},
            "the hand was over before action 1; left over: stay.",
        ),
        (
            {"shoe": "AH 9S KH 8S", "actions": ["s\x1b[2J", "x" * 50]},
            f"the hand was over before action 1; left over: s?[2J, {'x' * 37}....",
        ),
    ],
)
def test_a_mistake_is_a_sentence_that_names_the_hand(
    changes: dict[str, object], sentence: str
) -> None:
    assert refusal(hand(**changes)) == f"The hand: {sentence}"
    assert refusal([hand(), hand(**changes), hand()]) == f"Hand 2: {sentence}"


def test_an_answer_about_insurance_stands_where_it_is_offered() -> None:
    missing = hand(shoe="TH AC 9H 7S", actions=["stay"])
    assert refusal(missing) == (
        "The hand: action 1: stay is not open here: it is insurance or no-insurance."
    )


@pytest.mark.parametrize("key", ["game", "stake", "shoe", "actions"])
def test_a_missing_key_is_named(key: str) -> None:
    short = hand()
    del short[key]
    assert refusal(short) == f"The hand: {key} is missing."


@pytest.mark.parametrize(
    "stake",
    [
        0,
        -1,
        True,
        None,
        "10",
        [10],
        10**13,
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        Decimal("0.0000000000001"),
        Decimal("1.0000000000001"),
        Decimal("0.0001220703125"),
        pytest.param(10**5000, id="5000-digits"),
    ],
)
def test_a_stake_that_cannot_be_is_refused(stake: object) -> None:
    sentence = refusal(hand(stake=stake))
    assert sentence.startswith(
        "The hand: stake must be a number more than 0, at most 1000000000000,"
    )
    assert len(sentence) < 180


@pytest.mark.parametrize("document", [None, 3, "hand", True, Decimal(1)])
def test_a_value_that_is_no_hand_or_list_is_refused(document: object) -> None:
    assert refusal(document).startswith("The input must be a hand or a list of hands, is ")


@pytest.mark.parametrize("item", [None, 3, "hand", [], [[]]])
def test_an_item_that_is_no_hand_is_named(item: object) -> None:
    assert refusal([hand(), item]).startswith("Hand 2: a hand must be a table of game, rules,")


def test_hostile_text_is_shown_short_and_on_one_line() -> None:
    hostile = "\x1b[2J\r\n" + "x" * 100_000
    for changes in ({"game": hostile}, {hostile: 1}, {"rules": {hostile: 1}}, {"shoe": hostile}):
        sentence = refusal(hand(**changes))
        assert sentence.isprintable()
        assert len(sentence) < 200


# The text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The input is not JSON: Expecting value in line 1, column 1."),
        ('{"game": ', "The input is not JSON: Expecting value in line 1, column 10."),
        ("[" * 100_000, "The input is nested too deeply to be a hand."),
        ('{"stake": NaN}', "The input holds NaN, which is not a number."),
        ("[-Infinity]", "The input holds -Infinity, which is not a number."),
        ("9" * 5000, "The input holds a number of too many digits."),
        ("1e" + "9" * 20, "The input holds a number of too many digits."),
        ('{"game": 1, "game": 2}', "The input has the key game twice in one table."),
    ],
    ids=["empty", "cut-off", "deep", "nan", "infinity", "digits", "exponent", "twice"],
)
def test_a_text_that_is_no_proper_json_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ReplayError) as refused:
        parse(text)
    assert str(refused.value) == sentence


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
mangled = st.fixed_dictionaries(
    {},
    optional={
        "game": st.just(GAME) | json_values,
        "rules": houses | json_values,
        "stake": st.integers(1, 9) | json_values,
        "shoe": st.just(TEN_UP) | st.text("AKTJ29HSDC ", max_size=40) | json_values,
        "actions": st.lists(st.sampled_from(list(BlackjackAction)), max_size=4) | json_values,
    },
)


@unhurried
@given(mangled | st.lists(mangled | json_values, max_size=3) | json_values)
def test_any_input_gives_a_result_or_a_sentence(document: object) -> None:
    answer = outcome_or_sentence(document)
    assert answer.endswith(("}", "]", "."))
    assert answer.replace("\n", "").isprintable()


def outcome_or_sentence(document: object) -> str:
    try:
        return render(replay(document))
    except ReplayError as error:
        return str(error)


# For resuming and the audit


def test_a_round_is_rebuilt_as_far_as_its_actions_take_it() -> None:
    again = replay_round(KIND, {}, parse_cards(TEN_UP), [600], [Act("hit")])
    assert not again.over
    assert KIND.outcome(again, 0) == ""
    assert again.legal() == (BlackjackAction.HIT, BlackjackAction.STAY)


def test_a_round_is_rebuilt_under_the_rules_it_was_dealt_by() -> None:
    again = replay_round(KIND, {"ties": "push"}, parse_cards("TH TC 8H 8S"), [600], [Act("stay")])
    assert KIND.outcome(again, 0) == "push"
    assert again.totals.returned == 600


@pytest.mark.parametrize(
    ("cards", "stake", "sentence"),
    [
        ("TH TC 8H 8S", 601, "half the stake is needed by these rules"),
        ("TH TC 8H 8S", 0, "the stake must be more than 0"),
    ],
)
def test_a_journal_that_cannot_be_is_refused(cards: str, stake: int, sentence: str) -> None:
    with pytest.raises(ReplayError) as refused:
        replay_round(KIND, {}, parse_cards(cards), [stake], [Act("stay")])
    assert str(refused.value).startswith(sentence)


def test_journaled_actions_are_put_in_order_without_the_bet() -> None:
    journal = [
        (2, {"action": "stay"}),
        (0, {"action": "bet", "stake": 600}),
        (1, {"action": "hit"}),
    ]
    assert journaled_actions(journal) == (Act("hit"), Act("stay"))
