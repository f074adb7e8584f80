"""Facts: ours survive writing and reading, others do not, and the page lists them."""

from __future__ import annotations

import doctest
import json
from dataclasses import fields, replace
from typing import get_type_hints

import pytest

from timebank.ledger import reasons, schema, sentences
from timebank.ledger.reasons import CODES, Cutoff, Unread, decode, encode
from timebank.ledger.sentences import Part, describe, sentence
from tools import facts

# A value of every type that a fact has, and texts that read like parts of sentences.
VALUES = {
    int: 90,
    bool: True,
    str: 'Night: Owl, on another day (win) at "03:00"',
    str | None: " won past ",
    int | None: 7,
    bool | None: None,
}
CLASSES = list(CODES.values())


def example(cls):
    types = get_type_hints(cls)
    return cls(*(VALUES[types[field.name]] for field in fields(cls)))


@pytest.mark.parametrize("cls", CLASSES)
def test_a_reason_survives_writing_and_reading(cls):
    reason = example(cls)
    assert decode(reason.kind, encode(reason)) == reason
    assert json.loads(encode(reason))["code"] == cls.CODE


@pytest.mark.parametrize("cls", CLASSES)
def test_every_reason_has_words_for_itself_and_in_an_entry(cls):
    reason = example(cls)
    assert sentence(reason, 60, "second")
    assert describe([Part(reason, 60)])


@pytest.mark.parametrize("cls", CLASSES)
def test_a_reason_sets_only_attributes_that_are_read(cls):
    read = {name for each in cls.__mro__[1:] for name in vars(each).get("__annotations__", ())}
    assert {name for name in vars(cls) if name.isupper()} <= read


def test_the_entry_of_a_duels_stake_names_its_form():
    part = Part(reasons.Staked("Ann", "Bob"), 600)
    assert describe([part]) == "Staked 10:00 in the duel of Ann and Bob"


# `raised` has no kind of its own: its kind is its action, and the audit checks no accounts for it.
@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls.KIND])
def test_every_reason_says_between_which_accounts_it_goes(cls):
    kinds = {*schema.CALLER_ACCOUNTS, *schema.PLAY_ACCOUNTS, *schema.SYSTEM_ACCOUNTS.values()}
    assert cls.ROUTES
    for way in cls.ROUTES:
        source, target = way.split()
        assert {source, target} <= {*kinds, "house", "mint", "prizes", "duels"}
        assert source != target or way == "bank bank"


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if fields(cls)])
def test_every_fact_counts(cls):
    reason = example(cls)
    for field in fields(cls):
        other = {90: 91, True: False, None: True, 7: None}
        value = getattr(reason, field.name)
        changed = replace(reason, **{field.name: other.get(value, f"{value}.")})
        assert encode(changed) != encode(reason)


@pytest.mark.parametrize(
    "facts",
    [
        "",
        "null",
        "[]",
        "{}",
        "7",
        '{"game":"vegas"}',
        '{"code":"bet"}',
        '{"code":"bet","game":7}',
        '{"code":"bet","game":null}',
        '{"code":"bet","game":"vegas","more":1}',
        '{"code":"gift","game":"vegas"}',
        '{"code":["bet"],"game":"vegas"}',
        '{"code":"used","node":"1"}',
        "[" * 100_000,
        b"\xff",
        None,
    ],
)
def test_unknown_facts_are_shown_unchanged(facts):
    assert decode("stake", facts) == Unread("stake", facts)
    assert sentence(decode("stake", facts), 60, "second") == str(facts)


def test_two_reasons_with_the_same_facts_are_not_the_same():
    lost, returned = reasons.Lost("vegas", "bust"), reasons.Returned("vegas", "bust")
    assert lost != returned
    assert encode(lost) != encode(returned)


def test_an_event_is_read_back_and_nothing_is_just_an_event():
    behind = Cutoff("Mail: hour at 9", "03:00", host=False)
    assert Cutoff.decode(behind.encode()) == behind
    assert sentences.cutoff_words(Cutoff.decode(None)) == "an event"


def test_the_formats_page_lists_them_all():
    """`python -m tools.facts` writes them."""
    page = facts.FORMATS.read_text(encoding="utf-8")
    assert facts.built(page) == page
    assert all(f"| `{code}`" in page for code in CODES)


@pytest.mark.parametrize("module", [reasons, sentences])
def test_the_examples_in_the_documentation_hold(module):
    assert doctest.testmod(module).failed == 0
