"""The shoe of the Vegas table: sealed, cut, run on, opened; and dealt from by one table only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from door.errors import NotNow
from door.games import hand_check
from door.games.blackjack.rules import rules_to_mapping
from door.games.rounds import the_hand
from door.games.vegas.game import VEGAS_KIND
from door.tables import film, overdue, play
from door.tables.vegas import news
from door.tables.vegas.scene import VegasScene
from door.tables.vegas.table_clock import RETRY_SECONDS
from tests.door.seated import (
    Party,
    arrives,
    everybody_plays,
    on_a_call,
    party,
    shoe,
    vegas,
)
from tests.single_shoes import PHRASE
from tests.world import cut_with, world
from timebank.errors import BooksUnavailable
from timebank.wagers import journal
from timebank.wagers.journal import Shoe


async def test_the_seal_is_there_before_the_first_bet(tmp_path: Path) -> None:
    seed = shoe(1, everybody_plays)
    async with party(tmp_path, 1, seed=seed) as alone:
        seal = sha256(seed).hexdigest()
        assert alone.sitters[0].was_told(news.ShoeSealed) == [news.ShoeSealed(seal)]
        assert alone.state.shoe.seal == seal
        assert alone.rounds_dealt() == 0


async def test_the_seed_of_a_shoe_is_shown_once_penetration_is_passed(
    tmp_path: Path,
) -> None:
    seed = shoe(2, everybody_plays)
    async with party(tmp_path, 2, seed=seed, decks=1, penetration=30) as two:
        ada, _ = two.sitters
        while not ada.was_told(news.ShoeDone):
            assert two.state.seed == ""
            await two.deal()
            before = two.state.hand
            await two.play_out()
        dealt = before.shoe.position + two.round.cards_used
        assert dealt * 100 >= 52 * 30 > before.shoe.position * 100
        assert ada.was_told(news.ShoeDone) == [news.ShoeDone(seed.hex())]
        assert two.state.seed == seed.hex()
        assert two.state.shoe.seal != sha256(seed).hexdigest()
        assert two.rounds_dealt() > 1


async def test_the_last_round_of_a_shoe_closes_it_though_no_other_can_be_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_shoe(*_: object) -> None:
        raise BooksUnavailable("The disk is full.")

    async with party(tmp_path, 1, decks=1, penetration=30) as alone:
        with monkeypatch.context() as full:
            full.setattr(play, "take_shoe", no_shoe)
            while not alone.sitters[0].was_told(news.ShoeDone):
                await alone.deal()
                await alone.play_out()
            with alone.here.books() as desk:
                closed = desk.connection.exec_driver_sql("SELECT closed FROM shoes").scalars().all()
            assert None not in closed
        await alone.pass_time(RETRY_SECONDS)


async def test_a_seed_shown_with_the_next_seal_is_labelled_the_last_shoes(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 1, decks=1, penetration=30) as alone:
        scene = VegasScene(alone.table, alone.sitters[0].caller)
        while not alone.state.seed:
            shown = scene.fairness()
            assert (shown.seal, shown.seed) == (alone.state.shoe.seal, "")
            await alone.deal()
            await alone.play_out()
        seal, seed = alone.state.shoe.seal, alone.state.seed
        assert sha256(bytes.fromhex(seed)).hexdigest() != seal
        shown = scene.fairness()
        assert (shown.seal, shown.seed, shown.is_next_sealed) == (seal, seed, True)
        assert "Seed of the last shoe" in shown.text()


async def test_each_round_continues_the_shoe_of_the_last(tmp_path: Path) -> None:
    seed = shoe(2, everybody_plays)
    async with party(tmp_path, 2, seed=seed) as two:
        dealt = 0
        for _ in range(4):
            await two.deal()
            await two.play_out()
            cards = VEGAS_KIND.cards(seed, cut_with(seats=2), 6, dealt)
            again, _ = VEGAS_KIND.deal(rules_to_mapping(two.round.rules), cards, [60, 60], 1)
            assert again.seats[1].hands[0].cards == two.round.seats[1].hands[0].cards[:2]
            dealt += two.round.cards_used
            assert two.state.shoe.position == dealt


async def test_a_cut_stays_until_the_shoe_is_done(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await bob.table.cut_cards(bob, "be lucky")
        await two.deal()
        assert ada.was_told(news.CutMade) == [news.CutMade(("Bob",))]
        await two.play_out()
        with pytest.raises(NotNow, match="Only a fresh shoe"):
            await ada.table.cut_cards(ada, "again")
        await two.deal()
        stored = two.stored().shoe
        assert stored is not None
        assert stored.cut == f"{PHRASE}\nbe lucky"


async def test_a_shoe_without_a_chain_that_is_in_play_is_dealt_to_its_end(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as before:
        await before.deal()
        record = before.sitters[0].caller.record
    async with world(tmp_path, toml=vegas(), is_planted=False) as here:
        ada = await on_a_call(here.server.board, record, take_over=True)
        assert await ada.finds_hand()
        await ada.sits()
        await ada.does("stay")
        assert ada.table.state.shoe.anchor is None
        await ada.bets(1)
        assert ada.was_told(news.BetRefused) == []


async def test_an_empty_table_keeps_its_shoe_for_a_while(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as alone:
        (ada,) = alone.sitters
        await alone.deal()
        await ada.does("stay")
        position = alone.state.shoe.position
        await ada.gets_up()
        await ada.sits()
        assert alone.state.shoe.position == position
        assert len(ada.was_told(news.ShoeSealed)) == 1


async def test_other_decks_make_another_shoe(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as alone:
        (ada,) = alone.sitters
        await alone.deal()
        await ada.does("stay")
        (tmp_path / "sysop.toml").write_text(vegas(decks=2), encoding="utf-8")
        alone.here.server.reload()
        await ada.gets_up()
        await ada.sits()
        assert alone.state.shoe.decks == 2
        assert alone.state.shoe.fresh
        assert len(ada.was_told(news.ShoeSealed)) == 2


async def test_events_of_a_round_reveal_no_seed_and_no_future_card(tmp_path: Path) -> None:
    seed = shoe(2, everybody_plays)
    async with party(tmp_path, 2, seed=seed) as two:
        ada, bob = two.sitters
        await two.deal()
        hole = two.round.dealer_hand[1]
        assert seed.hex() not in repr(ada.heard)
        assert two.round.dealer[1] is None
        shown = repr([item for item in bob.heard if isinstance(item, news.RoundDealt)])
        assert f"DealerDealt(card='{hole}')" not in shown


# Other dealers from the shoe


async def test_a_solo_hand_of_an_earlier_release_continues_at_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, toml=vegas()) as before:
        before.seeds = [shoe(1, everybody_plays)]
        ada = await arrives(before, "Ada")
        record = ada.caller.record
        with monkeypatch.context() as earlier:
            earlier.setattr(play, "take_shoe", partial(_own_shoe, play.take_shoe, record.id))
            earlier.setattr(journal, "close_own_shoes", lambda *_: None)
            alone = Party(before, [await ada.sits()])
            await alone.deal()
        own = alone.state.shoe
        assert own.caller_id == record.id
        assert before.findings() == []
    async with world(tmp_path, toml=vegas()) as here:
        again = await on_a_call(here.server.board, record, take_over=True)
        assert await again.finds_hand()
        await again.sits()
        assert again.table.state.shoe.id == own.id
        await again.does("stay")
        assert again.table.state.shoe.caller_id is None
        await again.bets(1)
        assert again.table.state.hand.shoe.caller_id is None
        assert again.was_told(news.BetRefused) == []
        with here.books() as desk:
            (number, *_) = desk.connection.exec_driver_sql("SELECT id FROM rounds").scalars()
            description = hand_check.describe(desk, number)
            assert f"Hand {number}: Vegas, Ada" in description
            assert own.seed.hex() in description, "nothing is dealt from it any more"
            assert [*film.film([the_hand(desk, number)], film.reel_of("80x24"))]
        assert here.findings() == []


def _own_shoe(take: Callable[..., Shoe], caller_id: int, *rest: Any, **more: Any) -> Shoe:
    """Take a caller's own shoe in place of the table's, like doors in 1.0."""
    desk, kind, rules, _, seed = rest
    return take(desk, kind, rules, caller_id, seed, **more)


async def test_a_table_rereads_a_round_that_went_on_elsewhere(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as one:
        ada, _ = one.sitters
        await one.deal()
        stored = one.stored()
        with one.here.books() as desk:  # as `timebank maintain` does a day later
            overdue.stand(desk, stored)
        with pytest.raises(NotNow, match="has moved on"):
            await ada.does("hit")
        assert one.journal() == ["1:stay", "2:stay"]
        assert one.round.over
        assert one.state.alarm is None


async def test_a_shoe_that_was_closed_without_the_table_is_looked_at_again(tmp_path: Path) -> None:
    async with party(tmp_path, 1) as one:
        (ada,) = one.sitters
        with one.here.books() as desk:
            journal.close_shoe(desk, one.state.shoe.id)
        await ada.bets(1)
        (refused,) = ada.was_told(news.BetRefused)
        assert "A new shoe" in str(refused.reason)
        await ada.bets(1)
        assert one.rounds_dealt() == 1
