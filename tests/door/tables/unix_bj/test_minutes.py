"""UNIX bj for minutes: a dollar is a coin of the caller's time, with all that holds for time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.door.at_the_teletype import ANY_KEY, PLAY, Player, at_the_teletype, teletype_toml
from tests.door.teletype import STRUCK, from_seed, seed_asking
from tests.door.visiting import MENU, MINUTE, event, sysop_toml
from tests.world import world

COIN = 60
FOR_MINUTES = teletype_toml(stakes="minutes")
SPLIT = ("Split pair? y", "Double down? y", "Hit? ")
HIT = ("Hit? ", "over")


def moved(ada: Player) -> list[tuple[str, int]]:
    """Return the movements of their hands, in seconds."""
    return [(kind, amount) for kind, amount in ada.ledger if kind not in ("grant", "elapsed")]


async def test_a_dollar_is_a_coin(tmp_path: Path) -> None:
    seed = seed_asking(*SPLIT)
    async with at_the_teletype(tmp_path, toml=FOR_MINUTES) as ada:
        await ada.sees("A dollar is a coin: 1 minute of your time.")
        await ada.sees("You have played 0 of 20 hands today.")
        await ada.starts(seed)
        assert moved(ada) == [("stake", 2 * COIN)]
        await ada.types("y", "y")
        assert moved(ada) == [("stake", 2 * COIN), ("split", 2 * COIN), ("double", 2 * COIN)]
        await ada.strikes("\x7f")
        assert ada.letters == from_seed(seed, "y", "y", STRUCK)
        action, score = ada.tally("second")
        assert action == 6
        assert ada.has["stake"] == 0
        assert ada.has["online"] == 60 * MINUTE + score * COIN
        assert ada.tally("usd-cent") == (0, 0)
        await ada.presses(" ").sees("You have played 1 of 20 hands today.")


async def test_the_sysop_sets_the_value_of_a_coin(tmp_path: Path) -> None:
    seed = seed_asking("Insurance? ")
    toml = teletype_toml(stakes="minutes", coin_minutes=5)
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed)
        await ada.types("y")
        assert moved(ada)[:2] == [("stake", 600), ("insurance", 300)]
        assert ada.letters == from_seed(seed, "y")


@pytest.mark.parametrize(
    ("minutes", "script", "unasked", "asked"),
    [
        (3, ("Insurance? ", "Hit? "), "Insurance?", "Hit? "),
        (4, ("Split pair? ", "Hit? "), "Split pair?", "Hit? "),
        (4, ("Double down? ", "Hit? "), "Double down?", "Hit? "),
    ],
    ids=["insurance", "split", "double down"],
)
async def test_a_question_that_the_pot_cannot_pay_for_is_not_asked(
    tmp_path: Path, minutes: int, script: tuple[str, ...], unasked: str, asked: str
) -> None:
    toml = f"{FOR_MINUTES}[calls]\nminutes_per_day = {minutes}\n"
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed_asking(*script))
        assert unasked not in ada.letters
        assert ada.letters.endswith(asked)
        # Insurance that Ada could not pay is journaled as declined.
        assert ada.journal() == (["bet", "no-insurance"] if "I" in unasked else ["bet"])


async def test_a_question_is_asked_only_if_the_pot_pays_for_it_and_keeps_a_coin(
    tmp_path: Path,
) -> None:
    toml = f"{FOR_MINUTES}[calls]\nminutes_per_day = 5\n"
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed_asking("Double down? y", "over"))
        await ada.strikes("y\r\x7f")
        assert [kind for kind, _ in moved(ada)][:2] == ["stake", "double"]


async def test_time_that_passes_in_thought_may_make_a_yes_too_dear(tmp_path: Path) -> None:
    toml = f"{FOR_MINUTES}[calls]\nminutes_per_day = 5\n"
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed_asking("Double down? ", "Hit? "))
        assert ada.letters.endswith("Double down? ")
        await ada.board.pass_time(MINUTE)  # the offer holds for less
        await ada.types("y")
        assert "1 minute must stay in your pot." in ada.plain
        # The unaffordable question is skipped; the next one is asked.
        assert ada.letters.endswith("Hit? ")
        assert ada.journal() == ["bet"]


async def test_a_caller_cannot_sit_down_with_the_last_coins(tmp_path: Path) -> None:
    toml = f"{FOR_MINUTES}[calls]\nminutes_per_day = 2\n"
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.presses("p").is_asked(ANY_KEY)
        await ada.sees("You have 2 coins. The smallest bet is 2 coins, and your last")
        assert ada.rounds() == []
        await ada.presses(" ").is_asked(PLAY)


async def test_a_run_ends_when_the_pot_cannot_pay_the_next_bet(tmp_path: Path) -> None:
    toml = f"{FOR_MINUTES}[calls]\nminutes_per_day = 4\n"
    losing = losing_seed()
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(losing)
        await ada.types("")
        assert "You lose $2\n\nAction $2\nYou lose $2\nYou have 2 minutes, and" in ada.plain
        assert ada.seed == f"Seed {losing.hex()[:8]}"
        await ada.is_asked(ANY_KEY)


async def test_a_day_has_so_many_hands(tmp_path: Path) -> None:
    toml = teletype_toml(stakes="minutes", turns_per_day=2)
    seed = seed_asking(*HIT)
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed)
        while ANY_KEY not in ada.prompt:
            await ada.types("")
        assert len(ada.rounds()) == 2
        assert "You have played all 2 turns for today." in ada.plain
        await ada.presses(" ").is_asked(PLAY)
        await ada.sees("No turns left here today: 2 a day. Still open: Black Jack For Time")
        assert "Ctrl-H" not in ada.screen
        assert "<Q>uit (Enter)" in ada.prompt
        await ada.presses("p").sees("No turns left here today: 2 a day.")
        assert len(ada.rounds()) == 2


async def test_a_cut_of_a_win_is_announced_between_the_hands(tmp_path: Path) -> None:
    toml = sysop_toml(events=event("Mail hour", "12:30"))
    toml = f'{toml}\n[games.unix-bj]\nstakes = "minutes"\n'
    seed = winning_seed()
    async with world(tmp_path, toml=toml) as board:
        board.enter("Ada")
        ada = Player(board, "Ada")
        await ada.calls()
        await ada.goes_on_to(MENU)
        await ada.goes_to_the_teletype()
        await ada.starts(seed)
        await ada.types("")
        assert "You win $2\n" in ada.letters
        text = ada.plain.split("You win $2\n")[1].split("new game")[0]
        assert "Mail hour" in text
        assert "put in the bank" in text
        assert ada.has["bank"] == 2 * COIN


def losing_seed() -> bytes:
    return next(seed for seed in seeds_of_one_answer() if from_first_hand(seed) == "You lose $2")


def winning_seed() -> bytes:
    return next(seed for seed in seeds_of_one_answer() if from_first_hand(seed) == "You win $2")


def seeds_of_one_answer() -> list[bytes]:
    """Return seeds whose first hand asks one question and ends with a no."""
    seeds = [number.to_bytes(32, "big") for number in range(20_000, 20_060)]
    return [seed for seed in seeds if from_seed(seed).endswith("Hit? ") and is_first(seed)]


def is_first(seed: bytes) -> bool:
    return from_seed(seed).count("new game") == 1


def from_first_hand(seed: bytes) -> str:
    """The closing line of the first hand."""
    first = from_seed(seed, "").split("new game\n")[1]
    return first.strip().splitlines()[-1]
