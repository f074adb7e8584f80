"""Rules from the keys of a table in sysop.toml: accepted values and refusals."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given

from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    BLACK_JACK_FOR_TIME_KEYS,
    UNIX_BJ,
    UNIX_BJ_KEYS,
    VEGAS,
    VEGAS_KEYS,
    BlackjackRules,
    rules_from_mapping,
    rules_to_mapping,
)
from door.games.engine.errors import RulesRefused
from tests.door.games.blackjack.chances import houses, unhurried, vegas_houses


def problems_of(
    mapping: dict[str, object], base: BlackjackRules = BLACK_JACK_FOR_TIME
) -> list[tuple[str, str]]:
    with pytest.raises(RulesRefused) as refused:
        rules_from_mapping(mapping, base)
    return [tuple(problem) for problem in refused.value.problems]


def test_rules_without_keys_are_the_defaults() -> None:
    assert rules_from_mapping({}, BLACK_JACK_FOR_TIME) == BLACK_JACK_FOR_TIME


def test_every_wrong_key_is_named_at_once() -> None:
    problems = problems_of({"ties": "draw", "decks": 9, "tie": "push", "peek_under_ace": 1})
    assert problems == [
        ("ties", 'must be "dealer" or "push", is "draw"'),
        ("decks", "must be a whole number from 1 to 8, is 9"),
        ("tie", "is not a rule of this game"),
        ("peek_under_ace", "must be true or false, is 1"),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("decks", 0),
        ("decks", True),
        ("decks", 1.0),
        ("decks", "1"),
        ("decks", None),
        ("shuffle", "never"),
        ("shuffle", ["hand"]),
        ("penetration", 0),
        ("penetration", 101),
        ("natural_pays", 2.2),
        ("natural_pays", 0.5),
        ("natural_pays", 101),
        ("natural_pays", -3),
        ("natural_pays", True),
        ("natural_pays", "3"),
        ("natural_pays", float("nan")),
        ("natural_pays", float("inf")),
        pytest.param("natural_pays", 10**5000, id="natural_pays-of-5000-digits"),
        ("natural_pays", Decimal("1e999999999")),
        ("natural_pays", Decimal("1.50000000000000000000000000000000000000001")),
        ("insurance_pays", 1.5),
        ("insurance_unit", 0),
        ("hit_on_21", "yes"),
        ("dealer_over", {}),
    ],
)
def test_an_impossible_value_is_refused_under_its_key(key: str, value: object) -> None:
    ((named, reason),) = problems_of({key: value})
    assert named == key
    assert reason.startswith("must be ")
    assert len(reason) < 140


def test_a_reason_shows_hostile_text_short_and_on_one_line() -> None:
    ((key, reason),) = problems_of({"ties": "\x1b[2J\n" + "x" * 5000})
    assert key == "ties"
    assert reason.isprintable()
    assert len(reason) < 90


def test_an_unknown_key_is_shown_short_and_on_one_line() -> None:
    ((key, _),) = problems_of({"\r\n" + "x" * 5000: 1})
    assert key.isprintable()
    assert len(key) < 50


def test_drawing_at_21_and_being_paid_there_exclude_each_other() -> None:
    ((key, reason),) = problems_of({"hit_on_21": True, "twenty_one_paid": "at once"})
    assert key == "hit_on_21"
    assert "twenty_one_paid" in reason


def test_whole_and_half_numbers_may_be_written_in_any_way() -> None:
    for value in (2.5, Decimal("2.50"), 3, 3.0):
        assert (
            rules_from_mapping({"natural_pays": value}, BLACK_JACK_FOR_TIME).natural_pays == value
        )


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [("decks", 1, 8), ("penetration", 1, 100), ("insurance_pays", 1, 100), ("win_pays", 1, 100)],
)
def test_the_ends_of_a_range_belong_to_it(key: str, least: int, most: int) -> None:
    for value in (least, most):
        assert rules_to_mapping(rules_from_mapping({key: value}, BLACK_JACK_FOR_TIME))[key] == value


@pytest.mark.parametrize("rules", [BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS])
@pytest.mark.parametrize(
    ("key", "value"), [("split", "once"), ("deal", "dealer first"), ("charlie", False)]
)
def test_settings_that_define_the_game_are_no_keys(
    rules: BlackjackRules, key: str, value: object
) -> None:
    assert problems_of({key: value}, rules) == [(key, "is not a rule of this game")]


def test_each_game_has_keys_of_its_own() -> None:
    for key in set(VEGAS_KEYS) - set(BLACK_JACK_FOR_TIME_KEYS):
        assert problems_of({key: 1}) == [(key, "is not a rule of this game")]
    for key in set(BLACK_JACK_FOR_TIME_KEYS) - set(VEGAS_KEYS):
        assert problems_of({key: 1}, VEGAS) == [(key, "is not a rule of this game")]


def test_the_unix_game_leaves_the_house_what_its_manual_pages_leave_open() -> None:
    assert UNIX_BJ_KEYS == ("double_after_split", "split_aces")
    assert problems_of({"decks": 2}, UNIX_BJ) == [("decks", "is not a rule of this game")]


@pytest.mark.parametrize("rules", [BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS])
def test_the_sysop_may_set_every_rule_of_a_journal_but_the_value_of_a_coin(
    rules: BlackjackRules,
) -> None:
    assert set(rules_to_mapping(rules)) == {*rules.keys, "insurance_unit"}


def test_a_journal_from_before_the_game_was_split_is_read_unchanged() -> None:
    written = (
        '{"decks": 1, "shuffle": "hand", "penetration": 75, "ties": "dealer", '
        '"insurance_rounding": "exact", "insurance_pays": 2, "insurance_on_natural": true, '
        '"peek_under_ace": true, "hit_on_21": false, "natural_paid": "at once", '
        '"charlie_paid": "at once", "twenty_one_paid": "after dealer", '
        '"five_card_21": "twenty-one", "win_pays": 2, "natural_pays": 3, "twenty_one_pays": 3, '
        '"charlie_pays": 3, "doubled_21_pays": 2, "dealer_over": "pays", "insurance_unit": 300}'
    )
    rules = rules_from_mapping(json.loads(written), BLACK_JACK_FOR_TIME)
    assert rules == replace(BLACK_JACK_FOR_TIME, insurance_unit=300)
    since = {"twenty_one_beats": "lower totals"}
    assert {**json.loads(written), **since} == rules_to_mapping(rules)


@unhurried
@given(houses)
def test_rules_survive_the_journal(mapping: dict[str, object]) -> None:
    rules = rules_from_mapping(mapping, BLACK_JACK_FOR_TIME)
    journaled = json.loads(json.dumps(rules_to_mapping(rules)))
    assert rules_from_mapping(journaled, BLACK_JACK_FOR_TIME) == rules


@unhurried
@given(vegas_houses)
def test_rules_of_a_vegas_table_survive_the_journal(mapping: dict[str, object]) -> None:
    rules = rules_from_mapping(mapping, VEGAS)
    journaled = json.loads(json.dumps(rules_to_mapping(rules)))
    assert rules_from_mapping(journaled, VEGAS) == rules
    assert mapping.items() <= journaled.items()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dealer", "hit"),
        ("dealer", 17),
        ("double", True),
        ("double", "10-12"),
        ("double_after_split", "on"),
        ("split_cards", "first"),
        ("split_aces", 1),
        ("decks", 9),
        ("natural_pays", 2.2),
    ],
)
def test_an_impossible_value_of_a_vegas_table_is_refused_under_its_key(
    key: str, value: object
) -> None:
    ((named, reason),) = problems_of({key: value}, VEGAS)
    assert named == key
    assert reason.startswith("must be ")
