"""The Red Dog table on a real board: hands, bets, raises, and the commands that show them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from door.cli.main import main
from door.games.red_dog.round import RedDogAction
from tests.door.playing import AT_THE_TABLE, PLACE_BET
from tests.door.tables.red_dog.playing import RedDog, at_red_dog, ends, house, sit_down
from tests.terminal import MODERN, REFUSING, SYNCTERM
from tests.world import logged_on, world

# A hand


@pytest.mark.parametrize(
    ("outcome", "spread", "actions", "moved"),
    [
        ("win", 3, ("raise",), [("stake", 300), ("double", 300), ("returned", 600), ("won", 1200)]),
        ("win", 1, ("stay",), [("stake", 300), ("returned", 300), ("won", 1500)]),
        ("lose", 4, ("raise",), [("stake", 300), ("double", 300), ("lost", 600)]),
        ("lose", 2, ("stay",), [("stake", 300), ("lost", 300)]),
        ("three-of-a-kind", -1, (), [("stake", 300), ("returned", 300), ("won", 3300)]),
        ("push", -1, (), [("stake", 300), ("returned", 300)]),
        ("push", 0, (), [("stake", 300), ("returned", 300)]),
    ],
)
async def test_a_hand_moves_the_right_amounts(
    tmp_path: Path, outcome: str, spread: int, actions: tuple[str, ...], moved: list[object]
) -> None:
    async with at_red_dog(tmp_path) as ada:
        seed = ends(outcome, spread)
        await ada.bets(5, seed)
        assert actions == () or (await ada.seal(), await ada.seed()) == (
            sha256(seed).hexdigest(),
            "",
        )
        await ada.does(*actions)
        assert await ada.seed() == seed.hex()
        assert ada.moved() == moved
        assert ada.journal() == ["bet", *actions]
        assert ada.online == ada.time_left
        assert ada.figure("Bet") == "5 coins"
        assert ada.figure("Raise") == ("5 coins" if "raise" in actions else "")
        score = {"lose": "0-1-0", "push": "0-0-1"}.get(outcome, "1-0-0")
        assert ada.figure("W-L-push") == score
        assert "Turns today: 1 of 20" in ada.terminal.row(0)


async def test_a_hand_is_described_from_spread_to_total(tmp_path: Path) -> None:
    async with at_red_dog(tmp_path) as ada:
        await ada.bets(5, ends("win", 3))
        await ada.terminal.until("Spread 3: a card in between pays 2 to 1.")
        await ada.does("raise")
        await ada.message("In between! You win 20 coins: 20 minutes.")
        await ada.bets(1, ends("push", 0))
        await ada.terminal.until("Neighbours: no card fits in between.")
        await ada.message("Push: your bet comes back.")
        await ada.gets_up()
        await ada.terminal.until(
            "Your sitting at Red Dog: 1 win, 0 losses, 1 push. You're up 20 minutes."
        )


@pytest.mark.parametrize("profile", [MODERN, SYNCTERM, REFUSING], ids=["utf-8", "cp437", "lines"])
async def test_the_table_is_played_on_any_screen(tmp_path: Path, profile) -> None:
    async with at_red_dog(tmp_path, profile) as ada:
        seed = ends("lose", 5)
        ada.board.seeds = [seed]
        await ada.terminal.send("b").until("Coins to bet")
        await ada.terminal.send("2\r").until("Spread 5: a card in between pays 1 to 1.")
        await ada.terminal.until("<S>tand")
        await ada.terminal.send("s").until("Not in between. You lose 2 coins: 2 minutes.")
        await ada.terminal.until("<B>et")
        assert ada.moved() == [("stake", 120), ("lost", 120)]


async def test_the_rules_screen_shows_the_house_rules(tmp_path: Path) -> None:
    async with at_red_dog(tmp_path, toml=house(decks=6, shuffle="shoe", largest_bet=4)) as ada:
        await ada.terminal.send("r").until("Bets are 1 to 4 coins.")
        await ada.terminal.until("6 decks, shuffled once 75% have been dealt.")
        await ada.terminal.send(" ").until("Hang up")
        ada.terminal.send(" ")
        await ada.prompt(PLACE_BET)


# Bets


async def test_a_raise_that_would_take_the_last_coin_is_not_offered(tmp_path: Path) -> None:
    async with at_red_dog(tmp_path, toml=house(coin_minutes=20)) as ada:
        seed = ends("lose", 5)
        ada.board.seeds = [seed]
        await ada.asks_to_bet()
        ada.terminal.send("2\r")
        await ada.message("The smallest bet is 1 coin, and your last coin can't be bet.")
        await ada.prompt(AT_THE_TABLE)
        assert "A raise would take your last coin: you stand." in ada.terminal.transcript
        assert ada.journal() == ["bet", "stay"]
        assert ada.moved() == [("stake", 2400), ("lost", 2400)]


async def test_a_win_cut_by_an_event_is_announced_at_the_bet(tmp_path: Path) -> None:
    """Eleven to one is the most that a bet can win."""
    toml = house() + '[[events]]\nname = "Mail hour"\ntime = "13:30"\nminutes = 60\n'
    async with at_red_dog(tmp_path, toml=toml) as ada:
        await ada.asks_to_bet()
        ada.terminal.send("9")
        await ada.message("the most you can win on 9 coins is 1:39:00")


# Ways to the table


async def test_a_closed_table_is_not_in_the_menu(tmp_path: Path) -> None:
    async with world(tmp_path, toml=house(open=False)) as board:
        board.enter("Ada")
        terminal = await logged_on(board, "Ada")
        await terminal.until("Press any key")
        await terminal.send(" ").until("oodbye")
        assert "Vegas" in terminal.picture
        assert "Red Dog" not in terminal.picture


async def test_a_played_hand_is_shown_and_replayed_by_the_commands(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada: RedDog = await sit_down(board, "Ada")
        await ada.bets(3, ends("win", 3))
        await ada.does(RedDogAction.RAISE)
    from click.testing import CliRunner

    config = ["--config", str(tmp_path / "sysop.toml")]
    run = CliRunner().invoke
    output = run(main, ["hand", "1", *config]).output
    assert "Hand 1: Red Dog, Ada" in output
    assert f"Cards    cards {' '.join(ada.round.cards)}; 3 used" in output
    assert "Actions  raise" in output
    as_json = run(main, ["hand", "1", "--json", *config]).output
    again = run(main, ["replay", "-"], input=as_json).output
    assert '"outcome": "win", "net": 720' in again
    assert "1 settled hand was replayed" in run(main, ["audit", *config]).output
