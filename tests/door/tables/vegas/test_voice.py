"""The Vegas table's keys, help, languages, and cards that fall one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ansi.cards import short
from door.call.spoken import MAX_LINES, WINDOW_SECONDS
from door.games.blackjack.events import BlackjackOutcome
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.tables.card_names import named_card
from door.tables.vegas import news, words
from door.tables.vegas.seat import BEAT_SECONDS
from door.tables.vegas.state import SeatedGuest
from door.tables.vegas.table import VegasTable
from tests.door.seated import TURN, everybody_plays, party, shoe
from tests.door.vegas_callers import AT_TABLE, Player, player, table_toml, vegas_callers
from tests.door.visiting import MINUTE
from tests.terminal import MODERN, REFUSING, Profile
from tests.world import world
from timebank.language import Phrase, Viewer, _

# Keys


@pytest.mark.parametrize("profile", [MODERN, REFUSING])
async def test_a_caller_after_the_last_turn_of_the_day_reads_where_else_to_bet(
    tmp_path: Path, profile: Profile
) -> None:
    async with world(tmp_path, toml=table_toml(turns_per_day=1)) as board:
        board.seeds = [shoe(1, everybody_plays)]
        ada = await player(board, "Ada", profile)
        await ada.says_bet(1)
        await ada.stands()
        await ada.sees("That was your last turn here today.")
        await ada.sees("For play money: UNIX bj.")
        assert "<B>et" not in ada.prompt
        await ada.presses("b").sees("No turns left here today: 1 a day.")


def loses(dealt: BlackjackRound) -> bool:
    """Standing on the dealt cards loses."""
    if not everybody_plays(dealt):
        return False
    return dealt.apply(BlackjackAction.STAY)[0].outcomes == (BlackjackOutcome.LOSE,)


async def test_a_caller_without_a_pot_reads_why_they_cannot_bet(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(1, loses)]
        ada = await player(board, "Ada")
        await ada.says_bet(1)
        await ada.has_the_turn()
        await board.pass_time(57 * MINUTE + 10)
        await ada.presses("s").sees("The smallest bet is 1 coin")


# A bet, a turn, a line that breaks


async def test_a_turn_is_announced_once_however_many_cards_it_has(tmp_path: Path) -> None:
    def splits(dealt: BlackjackRound) -> bool:
        if not everybody_plays(dealt) or BlackjackAction.SPLIT not in dealt.legal():
            return False
        after = dealt.apply(BlackjackAction.SPLIT)[0]
        return after.turn is not None and after.turn.seat == 0

    async with party(tmp_path, 2, seed=shoe(2, splits)) as two:
        await two.deal()
        await two.sitters[0].does("split")
        assert len(two.sitters[0].was_told(news.TurnBegan)) == 1
        assert two.table.seconds_left() == TURN


async def test_the_turn_disappears_from_the_screen_when_it_ends(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready()
        await bob.is_ready()
        await ada.sees("Your turn: 30 s")
        await ada.stands()
        assert "Your turn" not in ada.screen
        await bob.stands()
        await ada.is_asked("<A>gain")
        for each in (ada, bob):
            assert "turn:" not in each.screen


async def test_a_lost_line_leaves_the_rest_of_the_turn_for_the_way_back(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await two.deal()
        await two.pass_time(20)
        ada.table.lose(ada)
        await ada.board.close_call(ada.caller, "carrier lost")
        await two.pass_time(9)
        assert two.at_turn == "Ada"
        assert bob.was_told(news.LineLost) == [news.LineLost("Ada", TURN - 20)]
        again = await ada.calls_back()
        await again.does("stay")
        assert two.journal() == ["1:stay"]


# Names of hands


def first_is(wanted: Callable[[BlackjackRound], bool]) -> bytes:
    return shoe(1, wanted)


async def test_a_bust_is_announced_once_with_its_cost(tmp_path: Path) -> None:
    def busts(dealt: BlackjackRound) -> bool:
        if dealt.over or dealt.seats[0].hands[0].count.total < 12:
            return False
        if BlackjackAction.HIT not in dealt.legal():
            return False
        after = dealt.apply(BlackjackAction.HIT)[0]
        return after.over and after.seats[0].hands[0].count.total > 21

    async with vegas_callers(tmp_path, "Ada", seed=first_is(busts)) as (ada,):
        await ada.says_bet(2)
        await ada.has_the_turn()
        ada.presses("h")
        total = 0
        await ada.terminal.wait_for(lambda _: ada.round.over, "the bust")
        total = ada.round.seats[0].hands[0].count.total
        await ada.sees(f"You bust with {total}. You lose 2 coins: 2 minutes.")
        assert ada.screen.count("You lose") == 1


# Talk


async def test_talk_that_is_refused_for_its_speed_stays_in_the_field(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob") as (ada, bob):
        for number in range(MAX_LINES + 1):
            ada.presses(f"kline {number}\r")
        await ada.sees("let the others get a word in")
        await ada.is_asked(f"Say: line {MAX_LINES}")
        await ada.board.pass_time(WINDOW_SECONDS)
        ada.presses("\r")
        await bob.sees(f"Ada says: line {MAX_LINES}")


# Each in their language


async def test_two_callers_get_the_same_news_each_in_their_language(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        spoken: dict[str, str] = {}
        for sitter, language in ((ada, "en"), (bob, "fr")):
            sitter.caller.console.viewer.language = language

            def on_news(_happened: object, name: str = sitter.name) -> None:
                spoken[name] = _("Yes")

            sitter.on_news = on_news  # type: ignore[method-assign]
        two.state.tell(news.BellRang())
        viewers = Viewer("en"), Viewer("fr")
        assert spoken == {"Ada": _("Yes"), "Bob": _in(viewers[1])}


def _in(viewer: Viewer) -> str:
    from timebank.language import speaking_to

    with speaking_to(viewer):
        return _("Yes")


def test_a_refused_bet_is_worded_for_each_reader() -> None:
    refused = news.BetRefused("Ada", Phrase("Please bet again."))
    assert words.sentences_for(refused, "Ada") == ["|12Please bet again."]
    assert words.sentences_for(refused, "Bob") == ["|07Ada sits this one out."]


# Cards fall


async def test_cards_fall_one_by_one_and_a_key_cuts_it_short_and_counts(tmp_path: Path) -> None:
    toml = table_toml().replace('"off"', '"normal"')
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays), toml=toml) as (ada,):
        await ada.says_bet(1)
        await ada.sees("Turns today: 1 of")
        cards = [short(card) for card in ada.round.seats[0].hands[0].cards]
        await ada.sees_at(1, cards[0])
        assert cards[1] not in ada.block(1)
        for _number in range(3):
            await ada.board.pass_time(BEAT_SECONDS)
        await ada.has_the_turn()
        await ada.sees_at(1, cards[1])
        await ada.presses("s").sees("Dealer")
        await ada.presses("r").sees("The rules of Vegas")


# Lines


async def test_plain_lines_show_cards_dealt_while_a_caller_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        real, dealt = VegasTable.sit, asyncio.Event()

        async def sit(self: VegasTable, guest: SeatedGuest) -> None:
            await dealt.wait()
            await real(self, guest)

        monkeypatch.setattr(VegasTable, "sit", sit)
        ada.board.enter("Bob")
        bob = Player(ada.board, "Bob")
        await bob.visits(REFUSING)
        await bob.presses("v").sees("Seat 1: Ada")
        await ada.says_bet()
        await ada.has_the_turn()
        dealt.set()
        await bob.is_asked(AT_TABLE)
        assert named_card(ada.round.seats[0].hands[0].cards[0]) in bob.terminal.transcript


def test_each_hand_of_a_split_is_named() -> None:
    seat = SimpleNamespace(hands=["first", "second"])
    item = cast("news.RoundNews", SimpleNamespace(round=SimpleNamespace(seats=[seat])))
    named = [words._on_hand("You bust.", item, 0, hand) for hand in (0, 1)]
    assert named == ["|07First hand: You bust.", "|07Second hand: You bust."]


async def test_a_hand_that_takes_one_card_after_a_double_is_not_said_to_stand(
    tmp_path: Path,
) -> None:
    def stops_below_21(dealt: BlackjackRound) -> bool:
        if not everybody_plays(dealt):
            return False
        after = dealt.apply(BlackjackAction.DOUBLE)[0]
        return after.seats[0].hands[0].count.total < 21

    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(1, stops_below_21)]
        ada = await player(board, "Ada", REFUSING)
        await ada.says_bet(1)
        await ada.has_the_turn()
        await ada.presses("d").terminal.until_heard("The dealer turns over")
        assert "You have " in ada.terminal.heard
        assert "You stand on " not in ada.terminal.heard
