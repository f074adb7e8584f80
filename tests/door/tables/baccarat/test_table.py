"""Baccarat at the table: the deal, the 5, the shoe, the score, the language, by a caller's keys."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from door.games.baccarat.game import BACCARAT_KIND
from door.games.baccarat.round import BaccaratAction, BaccaratPhase, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT
from door.games.engine import shuffle
from tests.door.punting import (
    MENUS,
    at_baccarat,
    baccarat_toml,
    ends,
    on_5,
    punter_of,
    seed_where,
    seeds,
    shoe_of,
)
from tests.door.shell import door
from tests.world import world

# The deal, and the winner


@pytest.mark.parametrize(
    ("outcome", "net", "expected"),
    [
        ("player", 2_500, ". You win $2,500."),
        ("bank", -2_500, ". You lose $2,500."),
        ("stand-off", 0, "Tie: your bet comes back."),
    ],
)
async def test_a_coup_is_won_lost_or_off_at_even_money(
    tmp_path: Path, outcome: str, net: int, expected: str
) -> None:
    async with at_baccarat(tmp_path, seed_where(ends(outcome))) as ada:
        assert ada.play_money("usd-cent") == {"bankroll": 100_000, "casino": 1_000_000, "stake": 0}
        await ada.wagers(2500)
        await ada.sees(expected)
        # Saved with the coup itself, before anybody quits.
        assert ada.play_money("usd-cent") == {
            "bankroll": 100_000 + net,
            "casino": 1_000_000 - net,
            "stake": 0,
        }
        assert ada.figure("Bankroll") == f"${100_000 + net:,}"
        assert ada.figure("The bank") == f"${1_000_000 - net:,}"
        assert ada.journal() == ["bet"]


@pytest.mark.parametrize(
    ("key", "action"), [("y", BaccaratAction.CARD), ("n", BaccaratAction.NO_CARD)]
)
async def test_the_caller_decides_on_5_and_the_bank_shows_its_cards_after_that(
    tmp_path: Path, key: str, action: BaccaratAction
) -> None:
    seed = seed_where(on_5())
    coup, _ = start(BACCARAT, shoe_of(seed), 1)
    after, _ = coup.apply(action)
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.wagers_on_5(1000)
        assert "Player  5" in ada.terminal.row(4)
        assert "Five for the player" in ada.terminal.row(10)
        assert ada.terminal.row(4)[28:55].strip() == "Bank"
        assert ada.terminal.picture.count("░▒▓▒░") == 4  # two backs of two such lines
        await ada.answers(key)
        assert f"Player  {after.player_point}" in ada.terminal.row(4)
        assert f"Bank  {after.bank_point}" in ada.terminal.row(4)
        assert "░▒▓▒░" not in ada.terminal.picture
        assert ada.journal() == ["bet", str(action)]


async def test_a_third_card_is_laid_across(tmp_path: Path) -> None:
    def both_draw(coup: BaccaratRound) -> bool:
        return coup.over and coup.cards_used == 6

    seed = seed_where(both_draw)
    coup, _ = start(BACCARAT, shoe_of(seed), 1)
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.wagers(1000)
        signs = str.maketrans("HSDC", "♥♠♦♣")
        for side, hand in ((1, coup.player), (28, coup.bank_hand)):
            rank, sign = hand[2].translate(signs)
            rank = "10" if rank == "T" else rank
            assert ada.terminal.row(7)[side + 16 : side + 26] == (
                f"│{rank + sign:<4}{sign + rank:>4}│"
            )


async def test_a_natural_is_called_and_ends_the_coup(tmp_path: Path) -> None:
    def natural_nine(coup: BaccaratRound) -> bool:
        return coup.natural and coup.points == (9, 5)

    async with at_baccarat(tmp_path, seed_where(natural_nine)) as ada:
        await ada.wagers(1000)
        await ada.sees("Player wins, 9 to 5.")
        assert "Nine for the player" in ada.terminal.row(10)
        assert "Five for the bank" in ada.terminal.row(10)


# The bank's options, and the toss


TOSSES = BACCARAT_KIND.vary({"bank_option_3v9": "toss", "bank_option_5v4": "toss"}, BACCARAT)


def tossing(coup: BaccaratRound) -> bool:
    return coup.phase is BaccaratPhase.BANK


@pytest.mark.parametrize("lands", [0, 1])
async def test_a_toss_is_drawn_from_the_seed_of_the_shoe_and_journaled(
    tmp_path: Path, lands: int
) -> None:
    # The toss is made when five cards of the shoe are gone.
    seed = next(
        seed
        for seed in seeds()
        if tossing(start(TOSSES, shoe_of(seed), 1)[0])
        and shuffle.draws(seed, "toss 5", "")(2) == lands
    )
    toml = baccarat_toml(bank_option_3v9="toss", bank_option_5v4="toss")
    async with at_baccarat(tmp_path, seed, toml=toml) as ada:
        await ada.asks_to_bet()
        ada.presses("1000\r")
        for _step in range(40):
            if "leaves it to a toss" in ada.screen:
                break
            await ada.board.clock.advance(0.25)
            await ada.board.settled()
        await ada.sees("leaves it to a toss")
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        assert ada.journal() == ["bet", "bank-card" if lands else "bank-no-card"]
        # Anyone with the seed can check it.
        output = door("verify", "--seed", seed.hex(), "--decks", "4", "--toss", "5").output
        assert output.endswith(f"toss before card 5: {'a' if lands else 'no'} card for the bank\n")


@pytest.mark.parametrize("option", ["draw", "stand"])
async def test_the_houses_options_are_the_sysops_keys(tmp_path: Path, option: str) -> None:
    seed = seed_where(tossing, rules=TOSSES)
    toml = baccarat_toml(bank_option_3v9=option, bank_option_5v4=option)
    async with at_baccarat(tmp_path, seed, toml=toml) as ada:
        await ada.wagers(1000)
        options = {"bank_option_3v9": option, "bank_option_5v4": option}
        coup, _ = start(BACCARAT_KIND.vary(options, BACCARAT), shoe_of(seed), 1)
        assert f"Bank  {coup.bank_point}" in ada.terminal.row(4)
        assert ada.journal() == ["bet"]


# The shoe


async def test_the_shoe_lasts_until_8_or_fewer_cards_are_left(
    tmp_path: Path,
) -> None:
    first, second = seed_where(ends("bank")), seed_where(ends("player"))
    async with at_baccarat(tmp_path, first, second) as ada:
        # A stock of shoes that are never taken from the drawer while one is on the table.
        ada.board.seeds = [second] * 200
        position = 0
        assert await ada.named("Seal of this shoe") == sha256(first).hexdigest()
        while 208 - position > 8:
            assert not await ada.named("Seed of this shoe") if position < 20 else True
            coup, _ = start(BACCARAT, shoe_of(first)[position:], 1)
            if coup.over:
                await ada.wagers(1)
            else:
                coup, _ = coup.apply(BaccaratAction.NO_CARD)
                await ada.wagers_on_5(1)
                await ada.answers("n")
            position += coup.cards_used
            assert f"Player  {coup.player_point}" in ada.terminal.row(4)
            ada.presses("s")
            left = 208 - position
            await ada.sees(f"{left} cards left" if left > 8 else "The shoe is done")
        await ada.sees(f"Seed {first.hex()[:8]}")
        await ada.asks_to_bet()
        await ada.sees("The cards are shuffled: a new shoe.")
        ada.presses("\x1b")
        await ada.is_asked_any(*MENUS)
        assert await ada.named("Seal of this shoe") == sha256(second).hexdigest()
        assert not await ada.named("Seed of this shoe")
        # The board holds twenty coups at most.
        assert {len(row.split()) for row in ada.score} == {20}


# The scoreboard


async def test_the_scoreboard_has_the_winning_point_in_the_row_of_the_winner(
    tmp_path: Path,
) -> None:
    seed = seed_where(ends("player"), ends("stand-off"), ends("bank"))
    points, position = [], 0
    for _ in range(3):
        coup, _ = start(BACCARAT, shoe_of(seed)[position:], 1)
        position += coup.cards_used
        points.append(max(filter(None, (*coup.points, 0)), default=0))
    async with at_baccarat(tmp_path, seed) as ada:
        for _ in range(3):
            await ada.wagers(1000)
        player, off, bank = points
        assert ada.score == [f"{player} · ·", f"· · {bank}", f"· {off} ·"]


async def test_the_scoreboard_is_rebuilt_from_the_books_after_a_lost_carrier(
    tmp_path: Path,
) -> None:
    seed = seed_where(ends("player"), ends("stand-off"), ends("bank"))
    async with at_baccarat(tmp_path, seed) as ada:
        for _coup in range(3):
            await ada.wagers(1000)
        score = ada.score
        assert [len(row.split()) for row in score] == [3, 3, 3]
        await ada.comes_back()
        assert ada.score == score


# The slide


async def test_cards_are_slid_from_the_shoe_one_by_one(tmp_path: Path) -> None:
    seed = seed_where(ends("bank"))
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.asks_to_bet()
        await ada.presses("1000\r").sees("No more bets.")
        positions = []
        while not any(menu in ada.prompt for menu in MENUS):
            positions.append(ada.terminal.row(5).count("┌─────┐"))
            # Figures and score wait for the cards.
            if "Bank wins" not in ada.screen:
                assert ada.figure("Bankroll") == "$100,000"
                assert ada.score == ["", "", ""]
            await ada.board.clock.advance(0.1)
            await ada.board.settled()
        assert sorted(set(positions)) == [1, 2, 3, 4]
        assert positions == sorted(positions)
        assert ada.figure("Bankroll") == "$99,000"


async def test_the_status_line_does_not_tell_the_result_before_the_cards(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player")), mode="t") as ada:
        await ada.asks_to_bet()
        await ada.presses("5\r").sees("No more bets.")
        assert "Time left 1:00:00" in ada.status
        assert ada.figure("Pot") == "60 coins"
        await ada.board.clock.advance(1.0)
        await ada.sees_time_left(59 * 60 + 59)  # the clock goes on, and the rest waits
        assert "Pot 60 coins" in ada.status
        ada.presses("t")  # hurries the cards, and doesn't cover their result
        await ada.is_asked_any(*MENUS)
        assert "Time left 1:04:59" in ada.status
        assert ada.figure("Pot") == "64 coins"


async def test_a_key_typed_ahead_is_not_lost_to_the_slide(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("bank"), ends("player"))) as ada:
        await ada.presses("b1000\rb2000\r ").sees(". You win $2,000.")
        assert ada.play_money("usd-cent")["bankroll"] == 101_000


# Other rooms


async def test_leaving_at_the_first_question_returns_to_the_menu(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await punter_of(board, "Ada")
        await ada.presses("c").is_asked("Play for time or play money?")
        await ada.presses("q").is_asked("oodbye")
        assert ada.play_money("usd-cent") == {}


async def test_the_table_says_how_the_evening_went(tmp_path: Path) -> None:
    seed = seed_where(ends("player"), ends("bank"))
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.wagers(2000)
        await ada.wagers(500)
        await ada.presses("q").sees(
            "Your sitting at Baccarat: 1 win, 1 loss. Your bankroll: $101,500."
        )
        assert "$101,500; 20 turns left today" in ada.terminal.picture
