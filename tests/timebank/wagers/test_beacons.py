"""The round of a beacon that a shoe waits for: written once, and what came of it once."""

from __future__ import annotations

import pytest

from tests.timebank.books import GAME
from timebank.errors import JournalDamaged, OutOfStep
from timebank.wagers import beacons, journal
from timebank.wagers.beacons import BeaconRound

FIXED = BeaconRound("ab" * 96, 7, 1_692_803_385)
SIGNED = FIXED.signed("cd" * 48)


def test_a_round_is_fixed_once_and_so_is_what_comes_of_it(books):
    shoe = books.do(journal.open_shoe, None, GAME, 1, bytes(32), "seal", 1, 3)
    assert shoe.beacon is None
    books.do(beacons.fix, shoe.id, FIXED)
    assert books.do(journal.open_shoe, None, GAME, 1, bytes(32), "seal", 1, 3).beacon == FIXED
    with pytest.raises(ValueError, match="has a round"):
        books.do(beacons.fix, shoe.id, BeaconRound(FIXED.key, 8, FIXED.due + 3))
    books.do(beacons.settle, shoe.id, FIXED, SIGNED)
    for other in (FIXED.without("late"), SIGNED):
        with pytest.raises(OutOfStep):
            books.do(beacons.settle, shoe.id, FIXED, other)
    found = books.do(journal.open_shoe, None, GAME, 1, bytes(32), "seal", 1, 3)
    assert (found.beacon, found.is_awaited) == (SIGNED, False)


def test_what_is_no_round_damages_the_journal_alone(books):
    call = books.call(books.caller("Ann"))
    shoe = books.do(journal.open_shoe, call.caller_id, GAME, 1, bytes(32), "seal")
    hand = call.bet(60, shoe_id=shoe.id)
    for text in ("{}", "[]", "7", '{"key":1,"round":1,"due":1}', "no JSON"):
        books.sql("UPDATE shoes SET beacon = ?", text)
        with pytest.raises(JournalDamaged):
            books.do(journal.stored_round, hand)
