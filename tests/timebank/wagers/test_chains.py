"""Seeds that are sealed ahead: every link once, in order, and none that a copy of the books has."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy.exc import IntegrityError

from door.games import hand_check
from tests.timebank.books import GAME, pushed
from timebank.keeping import deletion
from timebank.keeping.restored_books import PriorBooks, settle_copy
from timebank.wagers import chains, journal

ROOTS = [bytes([number]) * 32 for number in range(1, 9)]


@pytest.fixture(autouse=True)
def short_chains(monkeypatch):
    monkeypatch.setattr(chains, "LENGTH", 3)


def open_shoe(books, owner, root=ROOTS[0], table=1, game=GAME):
    return books.do(journal.open_shoe, owner, game, 1, root, table)


def next_shoe(books, owner, root=ROOTS[0]):
    shoe = open_shoe(books, owner, root)
    books.do(journal.close_shoe, shoe.id)
    return shoe


def test_each_seal_is_the_seed_before_and_the_first_one_is_the_anchor(books, ann):
    shoes = [next_shoe(books, ann) for _ in range(3)]
    assert [shoe.link for shoe in shoes] == [1, 2, 3]
    anchor = chains.link_seed(ROOTS[0], 3, 0).hex()
    assert {shoe.anchor for shoe in shoes} == {anchor}
    assert [shoe.seal for shoe in shoes] == [anchor, shoes[0].seed.hex(), shoes[1].seed.hex()]
    assert all(sha256(shoe.seed).hexdigest() == shoe.seal for shoe in shoes)


def test_a_shoe_that_is_not_used_keeps_its_link(books, ann):
    shoe = open_shoe(books, ann)
    assert open_shoe(books, ann, ROOTS[1]) == shoe
    assert books.sql("SELECT used FROM chains") == [(1,)]


def test_a_chain_that_is_used_up_is_followed_by_another(books, ann):
    shoes = [next_shoe(books, ann, root) for root in ROOTS[:4]]
    assert [shoe.link for shoe in shoes] == [1, 2, 3, 1]
    assert shoes[3].seed == chains.link_seed(ROOTS[3], 3, 1)


def test_a_chain_ends_with_its_day(books, ann):
    first = next_shoe(books, ann)
    books.now += timedelta(days=1)
    second = next_shoe(books, ann, ROOTS[1])
    assert (second.link, second.anchor) == (1, chains.link_seed(ROOTS[1], 3, 0).hex())
    assert second.anchor != first.anchor
    assert books.sql("SELECT count(*) FROM chains WHERE closed IS NULL") == [(1,)]


def test_callers_games_and_tables_have_chains_of_their_own(books, ann):
    bob = books.caller("Bob")
    shoes = [
        open_shoe(books, ann, ROOTS[0]),
        open_shoe(books, bob, ROOTS[1]),
        open_shoe(books, ann, ROOTS[2], game="baccarat"),
        open_shoe(books, None, ROOTS[3]),
        open_shoe(books, None, ROOTS[4], table=2),
    ]
    assert [shoe.link for shoe in shoes] == [1] * 5
    assert len({shoe.anchor for shoe in shoes}) == 5
    theirs = books.do(chains.open_anchors, bob)
    assert theirs == sorted(shoes[at].anchor for at in (1, 3, 4))


def test_the_next_shoe_comes_from_the_sealed_chain(books, ann):
    anchor = books.do(chains.current_anchor, ann, GAME, 1, ROOTS[0])
    assert books.do(chains.current_anchor, ann, GAME, 1, ROOTS[1]) == anchor
    shoe = open_shoe(books, ann, ROOTS[2])
    assert (shoe.anchor, shoe.seal, shoe.link) == (anchor, anchor, 1)


def test_a_link_cannot_be_used_twice_even_if_the_chain_says_so(books, ann):
    next_shoe(books, ann)
    books.sql("UPDATE chains SET used = 0")
    with pytest.raises(IntegrityError):
        open_shoe(books, ann)


def test_a_restore_ends_every_chain(books, ann):
    before = next_shoe(books, ann)
    books.do(settle_copy, PriorBooks(), "the sysop", "why")
    assert books.sql("SELECT count(*) FROM chains WHERE closed IS NULL") == [(0,)]
    after = next_shoe(books, ann, ROOTS[1])
    assert (after.link, after.anchor) == (1, chains.link_seed(ROOTS[1], 3, 0).hex())
    assert after.anchor != before.anchor


def test_a_deleted_caller_leaves_no_chain(books, ann):
    open_shoe(books, ann)
    books.do(deletion.delete, ann)
    assert books.sql("SELECT count(*) FROM chains WHERE closed IS NULL") == [(0,)]


def test_no_repr_tells_a_seed(books, ann):
    link = books.do(chains.take_link, ann, GAME, 1, ROOTS[0])
    assert repr(link.seed)[2:-1] not in repr(link)


def test_a_shoe_without_a_chain_makes_room_for_one_of_a_chain(books, ann):
    old = open_shoe(books, ann)
    books.sql("UPDATE shoes SET anchor = NULL, link = NULL")  # as release 1.0 could seal it
    new = open_shoe(books, ann, ROOTS[1])
    assert (new.id != old.id, new.link) == (True, 2)
    assert books.sql("SELECT id FROM shoes WHERE closed IS NULL") == [(new.id,)]


def chain_findings(books):
    findings, _ = books.do(hand_check.audit)
    return [str(each.sentence) for each in findings if "chain" in str(each.sentence)]


def test_the_audit_follows_every_hand_to_its_anchor(books, ann):
    call = books.call(ann)
    for _ in range(3):
        shoe = open_shoe(books, ann)
        call.bet(60, pushed(60), shoe_id=shoe.id)
        books.do(journal.close_shoe, shoe.id)
    assert chain_findings(books) == []
    books.sql("UPDATE shoes SET link = 9 WHERE link = 2")
    assert len(chain_findings(books)) == 1
    books.sql("UPDATE shoes SET link = 2 WHERE link = 9")
    books.sql("UPDATE chains SET game = 'vegas'")
    assert len(chain_findings(books)) == 3
