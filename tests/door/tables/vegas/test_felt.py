"""The felt of the Vegas table in every size, and the banner at the end of a round."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ansi.canvas import Canvas
from ansi.cards import paint_hand
from door.call.markup import plain
from door.call.scene import Area
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.blackjack.rules import VEGAS, rules_to_mapping
from door.games.engine.cards import parse_cards
from door.games.vegas.game import VEGAS_KIND
from door.tables.solo_table import BANNER_SECONDS
from door.tables.vegas.felt import MOST_SEAT_COLUMNS, fitting, layout_of, paint_print
from door.tables.vegas.scene import VegasScene
from door.tables.vegas.seat import BEAT_SECONDS
from door.tables.vegas.words import ending_of, net_of
from door.tables.words import count_words
from tests.door.seated import Party, everybody_plays, party, settled, shoe
from tests.door.vegas_callers import Player, player, table_toml, vegas_callers
from tests.door.visiting import MINUTE
from tests.terminal import MODERN, Profile
from tests.world import world

NARROW, NARROW_AND_LOW = Area(0, 39, 18), Area(0, 39, 15)
USUAL, TALL, LARGE = Area(0, 79, 19), Area(0, 79, 33), Area(0, 79, 40)
SIZES = [NARROW, NARROW_AND_LOW, USUAL, TALL, LARGE]
ANIMATED = table_toml().replace('"off"', '"normal"')
STAND, HIT = BlackjackAction.STAY, BlackjackAction.HIT
DOUBLE, SPLIT = BlackjackAction.DOUBLE, BlackjackAction.SPLIT
INSURE = BlackjackAction.INSURANCE


def painted(two: Party, area: Area, *, side: int = 0) -> tuple[VegasScene, Canvas, str]:
    """The table as the first caller of a party sees it, in so large an area."""
    scene = VegasScene(two.table, two.sitters[0].caller)
    canvas = Canvas(area.columns + 1 + side, area.rows + 5)
    scene.paint(canvas, area)
    return scene, canvas, "\n".join(canvas.text(row) for row in range(area.rows))


# Labels


def test_a_label_is_printed_whole_or_not_at_all() -> None:
    lines = ["LE BLACKJACK PAIE 3 POUR 2", "Le croupier reste sur tous les 17"]
    for rows, shown in ((1, 1), (2, 1), (3, 3)):
        canvas = Canvas(28, 5)
        paint_print(canvas, 0, 0, 27, lines, rows)
        assert [bool(canvas.text(row).strip()) for row in range(4)].count(True) == shown


# Hands in every size


async def test_talk_is_painted_on_the_felt_unless_it_is_at_the_side(tmp_path: Path) -> None:
    large = replace(MODERN, columns=132, rows=50)
    async with world(tmp_path, toml=table_toml()) as board:
        ada, bob = await player(board, "Ada", large), await player(board, "Bob")
        bob.presses("kgood evening\r")
        for each, words in ((ada, "Bob says: good evening"), (bob, "You say: good evening")):
            await each.sees(words)
            assert each.screen.count("good evening") == 1


@pytest.mark.parametrize("area", SIZES, ids=str)
async def test_a_natural_is_called_so_and_never_soft_21(tmp_path: Path, area: Area) -> None:
    def natural(dealt: BlackjackRound) -> bool:
        return dealt.over and dealt.seats[0].hands[0].is_natural

    async with party(tmp_path, 1, seed=shoe(1, natural)) as alone:
        await alone.sitters[0].bets(2)
        _scene, _canvas, shown = painted(alone, area)
        assert "blackjack" in shown
        assert "blackjack  +3" in shown
        assert "soft 21" not in shown


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("width", [12, 18, 25, 34, 37])
def test_no_hand_is_wider_than_its_place(width: int, *, large: bool) -> None:
    for count in range(1, 12):
        cards = ["AS"] * count
        shown, is_large = fitting(cards, width, large=large)
        canvas = Canvas(80, 10)
        assert paint_hand(canvas, 0, 0, shown, width, large=is_large) <= width
        assert len(shown) >= min(count, 2)


@pytest.mark.parametrize("columns", [79, 80, 100, 107, 131, 159])
@pytest.mark.parametrize("rows", [17, 19, 25, 29, 30, 38, 50])
@pytest.mark.parametrize("others", range(7))
def test_every_seat_has_a_place_of_its_own(columns: int, rows: int, others: int) -> None:
    layout = layout_of(Area(0, columns, rows), others)
    taken = set(range(1, others + 2))
    occupied: set[tuple[int, int]] = {
        (down, across)
        for down in range(layout.dealer_row, layout.clock_row + 1)
        for across in range(layout.dealer_column, layout.dealer_column + layout.seat_columns)
    }
    shown = layout.places_of(1, 7, taken)
    assert taken <= shown.keys()
    for at in shown.values():
        cells = {
            (down, across)
            for down in range(at.row, at.row + at.rows)
            for across in range(at.column - 2, at.column + layout.seat_columns)
        }
        assert not cells & occupied
        assert all(down < layout.rail_row and 0 <= across < columns for down, across in cells)
        occupied |= cells
    assert layout.rail_row < rows - 1
    assert layout.seat_columns <= MOST_SEAT_COLUMNS


@pytest.mark.parametrize(
    ("columns", "rows", "cards"),
    [
        # The rows of the other seats with one to six of them taken.
        (79, 19, [7, 7, 7, 7, 4, 4]),
        (99, 25, [11, 11, 7, 7, 7, 7]),
        (131, 45, [11] * 6),
    ],
)
def test_cards_are_whole_wherever_the_seats_taken_leave_room(
    columns: int, rows: int, cards: list[int]
) -> None:
    area = Area(0, columns, rows)
    assert [layout_of(area, others).side_rows for others in range(1, 7)] == cards
    for others in range(7):
        assert layout_of(area, others).own_rows >= 7, "the viewer's own cards are always whole"


async def test_the_felt_keeps_its_layout_during_a_round(tmp_path: Path) -> None:
    async with party(tmp_path, 6, seed=shoe(6, everybody_plays)) as six:
        await six.deal()
        _scene, _canvas, before = painted(six, USUAL)
        six.table.leave(six.sitters[5])
        await six.sitters[0].does("stay")
        _scene, _canvas, after = painted(six, USUAL)
        names = ["Ada", "Bob", "Cyd", "Dan", "Eve", "Fay"]
        found = [(before.index(f"{name} "), after.index(f"{name} ")) for name in names]
        assert all(one == other for one, other in found)
        for sitter in six.sitters[1:5]:
            await sitter.does("stay")
        await settled(six.here.server.board)
        _scene, _canvas, shown = painted(six, USUAL)
        assert "Fay" not in shown
        assert layout_of(USUAL, 4).side_rows == 7


async def test_on_a_narrow_screen_a_name_is_not_cut_in_mid_word(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        two.state.seats[2].name = "Wolfgang Amadeus Mozart"
        _scene, _canvas, shown = painted(two, NARROW)
        assert "Wolfgang Amadeus Mozart no bet yet" in shown
        await two.deal(10, 10)
        await two.play_out()
        two.state.seats[2].name = "Wolfgang Amadeus Theophilus Mozart"
        _scene, _canvas, shown = painted(two, NARROW)
        assert "Wolfgang Amadeus Theophilus " in shown
        assert "Mo" not in shown


# Results across the felt


def played(cards: str, *actions: BlackjackAction) -> BlackjackRound:
    """Play a round of one seat with a bet of ten coins.

    The cards: seat, dealer, seat, dealer, then the draws.
    """
    rules = rules_to_mapping(VEGAS)
    round_: BlackjackRound = VEGAS_KIND.deal(rules, parse_cards(cards), [600], 1)[0]
    for action in actions:
        round_ = round_.apply(action, 300 if action is INSURE else None)[0]
    assert round_.over
    return round_


@pytest.mark.parametrize(
    ("round_", "words", "amount"),
    [
        (played("AS 9D KS 8C"), "BLACKJACK!", "+15 coins"),
        (played("TS 9D KS 8C", STAND), "YOU WIN!", "+10 coins"),
        (played("TS 9D 7S 9C", STAND), "DEALER WINS", "-10 coins"),
        (played("TS TD 7S 7C", STAND), "PUSH", ""),
        (played("TS 9D 6S 8C KH", HIT), "BUST!", "-10 coins"),
        (played("6S 9D 5S 8C KH", DOUBLE), "YOUR DOUBLE WINS!", "+20 coins"),
        (played("6S TD 5S 9C 2H", DOUBLE), "DEALER WINS", "-20 coins"),
        (played("8S TD 8D 7C TH TC", SPLIT, STAND, STAND), "YOU WIN!", "+20 coins"),
        (played("TS AD 9S KC", BlackjackAction.NO_INSURANCE), "DEALER HAS BLACKJACK", "-10 coins"),
        (played("TS AD 9S KC", INSURE), "SAVED BY INSURANCE", ""),
    ],
)
def test_the_banner_says_how_it_ended_for_the_caller(
    round_: BlackjackRound, words: str, amount: str
) -> None:
    ending = ending_of(round_, 0, 60)
    assert (ending.words, ending.amount) == (words, amount)


def stands_at_once(dealt: BlackjackRound) -> bool:
    """The first seat stands and has lost when the dealer's cards are turned over."""
    if not everybody_plays(dealt) or len(dealt.seats) > 1:
        return False
    after = dealt.apply(STAND)[0]
    return after.over and len(after.dealer) == 2 and after.totals.lost > 0


@asynccontextmanager
async def at_the_end(folder: Path, toml: str, profile: Profile) -> AsyncIterator[Player]:
    """Bring a caller to the end of a round lost to the dealer's two cards, for two coins."""
    async with world(folder, toml=toml) as board:
        board.seeds = [shoe(1, stands_at_once)]
        ada = await player(board, "Ada", profile)
        await ada.says_bet(2)
        await ada.board.at_rest()
        for _number in range(4):
            await board.pass_time(BEAT_SECONDS)
        await ada.has_the_turn()
        await ada.presses("s").is_asked("<A>gain")
        yield ada


@pytest.mark.parametrize(
    "profile", [MODERN, replace(MODERN, columns=132, rows=50)], ids=["80x24", "132x50"]
)
async def test_a_banner_tells_how_it_ended_and_comes_down_by_itself(
    tmp_path: Path, profile: Profile
) -> None:
    async with at_the_end(tmp_path, ANIMATED, profile) as ada:
        await ada.sees("DEALER WINS")
        await ada.sees("-2 coins")
        await ada.sees("■■")
        await ada.board.pass_time(BANNER_SECONDS - 0.25)
        assert "DEALER WINS" in ada.screen
        await ada.board.pass_time(0.25)
        await ada.terminal.wait_for(lambda _: "DEALER WINS" not in ada.screen, "the banner down")
        assert "-2" in ada.block(1) or profile is not MODERN


async def test_a_key_takes_the_banner_down_and_counts(tmp_path: Path) -> None:
    async with at_the_end(tmp_path, ANIMATED, MODERN) as ada:
        await ada.sees("DEALER WINS")
        await ada.presses("b").is_asked("Coins to bet")
        assert "DEALER WINS" not in ada.screen


async def settles(ada: Player) -> None:
    """Wait until the board has finished all work that needs no key."""
    for _round in range(30):
        await ada.board.at_rest()
        await asyncio.sleep(0)


async def test_a_banner_delays_only_its_own_caller(tmp_path: Path) -> None:
    """The next round is dealt while it is up, and takes it down."""
    toml = table_toml(bell_seconds=1).replace('"off"', '"normal"')
    seed = shoe(2, everybody_plays)
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=seed, toml=toml) as (ada, bob):
        for sitter in (ada, bob):
            sitter.presses("b1\r")
            await settles(sitter)
        for sitter in (ada, bob):
            await ada.board.pass_time(2.0)
            sitter.presses("s")
            await settles(sitter)
        first, words = ada.on_the_table, ending_of(ada.round, 0, MINUTE).words
        for _card in range(12):
            if words in ada.screen:
                break
            await ada.board.pass_time(BEAT_SECONDS)
            await settles(ada)
        assert words in ada.screen
        bob.presses("a")
        await settles(bob)
        await ada.board.pass_time(1.0)
        await settles(bob)
        assert ada.on_the_table.lead > first.lead
        assert words not in ada.screen


def wins_to_a_draw(dealt: BlackjackRound) -> bool:
    """A single seat that stands wins against a dealer who draws."""
    if not everybody_plays(dealt):
        return False
    after = dealt.apply(STAND)[0]
    return after.over and len(after.dealer) > 3 and after.totals.won > 0


async def test_the_pot_is_updated_when_the_last_card_is_down(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, wins_to_a_draw), toml=ANIMATED) as (
        ada,
    ):
        await ada.says_bet(2)
        await settles(ada)
        await ada.board.pass_time(4 * BEAT_SECONDS)
        await ada.has_the_turn()
        ada.presses("s")
        await settles(ada)
        total = count_words(ada.round.dealer[:2])
        await ada.sees(f"Dealer  {total}")
        assert "Pot 57 coins" in ada.screen
        await ada.board.pass_time(len(ada.round.dealer) * BEAT_SECONDS)
        await ada.sees("Pot 61 coins")


# Messages next to the felt of a large window


async def test_help_next_to_the_felt_does_not_repeat_messages(tmp_path: Path) -> None:
    large = replace(MODERN, columns=132, rows=50)
    async with world(tmp_path, toml=table_toml()) as board:
        ada = await player(board, "Ada", large)
        await ada.sees("You sit down.")
        for _time in range(2):
            await ada.presses("?").sees("Turn the tutor on or off:")
            await ada.presses("q").sees("<B>et (Enter)")
        await ada.presses("r").sees("The house pays")
        await ada.presses("q").sees("<B>et (Enter)")
        assert ada.screen.count("You sit down.") == 1


@pytest.mark.parametrize(
    ("round_", "expected"),
    [
        (played("TS 9D KS 8C", STAND), "+10"),
        (played("AS 9D KS 8C"), "+15"),
        (played("TS 9D 7S 9C", STAND), "-10"),
        (played("TS TD 7S 7C", STAND), "push"),
    ],
)
def test_a_seat_shows_its_result_once(round_: BlackjackRound, expected: str) -> None:
    assert plain(net_of(round_, 0, 60)).strip() == expected


def test_an_amount_that_is_no_half_coin_is_shown_as_time() -> None:
    assert plain(net_of(played("TS 9D KS 8C", STAND), 0, 1000)).strip() == "+10:00"
