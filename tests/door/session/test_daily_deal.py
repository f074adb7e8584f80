"""The daily deal: the same cards for all, one try that waits, a seed that is shown afterwards."""

from __future__ import annotations

import asyncio
import re
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from ansi.charset import Charset
from door.errors import HelperUnavailable
from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.blackjack.world import world_shoe
from door.games.engine.shuffle import seal
from door.session.result_line import hand_costs, result_line
from door.tables.scoring import percent
from tests.terminal import MODERN, REFUSING, SYNCTERM, Profile
from tests.thinking import AtOurWord, InPlace
from tests.world import BOARD, NOON, World, log_on, logged_on, newcomer, world
from timebank.wagers import contests, deals
from timebank.wagers.contests import Contest

# So late that little time is left of the day; in seconds.
LATE, BY_MIDNIGHT = NOON.replace(hour=23, minute=30), 1860
# Enough minutes for a call that begins before midnight.
TOML = f"{BOARD}\n[calls]\nminutes_per_day = 600\n"
OWN_CARDS = f'{BOARD}\n[deal]\nkind = "board"\n'


def sealed(board: World) -> Contest:
    with board.books() as desk:
        return deals.todays(desk, lambda _day: (bytes(32), "0" * 64, {}))


def keys_to_the_end(deal: Contest, acts: tuple[str, ...] = ()) -> str:
    """Return the keys that stand every remaining hand, with a key after each."""
    game = duplicate.replay(BLACK_JACK_FOR_TIME, deal.seed, acts)
    met, keys = len(game.over), " " * (0 if acts else len(game.over))
    while not game.is_over:
        assert game.current is not None
        declines = "no-insurance" in game.current.legal()
        acts = (*acts, "no-insurance" if declines else "stay")
        game = duplicate.replay(BLACK_JACK_FOR_TIME, deal.seed, acts)
        keys += ("n" if declines else "s") + " " * (len(game.over) - met)
        met = len(game.over)
    return keys


async def test_everyone_plays_the_same_cards_once_and_sees_the_seed_next_day(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=TOML, now=LATE) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("d").until("You haven't played it yet.")
        deal = sealed(board)
        await ada.send("\r").until("Enter does nothing here.")
        with board.books() as desk:
            assert contests.try_of(desk, deal.seal, 1) is None
        await ada.send("l").until("No deal is over yet.")
        ada.send(" p")
        first = duplicate.replay(BLACK_JACK_FOR_TIME, deal.seed, ())
        await ada.until(f"{first.number} of 10")
        game = first
        await ada.send(" " * len(first.over)).until("<S>tand")
        await ada.send("s").until("any key")
        await ada.close()
        await board.at_rest()

        again = await logged_on(board, "Ada")
        await again.until("oodbye")
        again.send("d")
        game = duplicate.replay(BLACK_JACK_FOR_TIME, deal.seed, ("stay",))
        await again.until(f"Hand {game.number} waits for you.")
        again.send("p" + keys_to_the_end(deal, ("stay",)))
        await again.until("You're the first to play it to the end.")
        assert "<P>lay" not in again.picture

        bob = await newcomer(board, "Bob", REFUSING)
        await bob.send("dp" + keys_to_the_end(deal)).until("You're number 1 of 2.")
        with board.books() as desk:
            one, other = contests.ranking(desk, deal)
        assert (one.score, one.cost, one.place) == (other.score, other.cost, other.place)
        assert (one.cost or 0) > 0
        for caller in (ada, again, bob):
            assert deal.seed.hex() not in caller.transcript
        await again.send("q").until("oodbye")
        await board.clock.advance(BY_MIDNIGHT)
        await board.at_rest()
        late = await newcomer(board, "Cyd")
        await late.send("dl").until(deal.seed.hex()[:32])
        assert (deal.seed, deal.seal) == world_shoe(deal.day)[:2]
        assert f"Name {deal.seal}" in late.transcript
        assert sealed(board).seal == world_shoe(deal.day + timedelta(days=1))[1]


async def test_the_menu_says_that_a_hand_was_left_until_it_is_played(board: World) -> None:
    ada = await newcomer(board, "Ada")
    assert "waits for you" not in ada.picture
    await ada.send("dp").until("of 10")
    await ada.close()
    await board.at_rest()

    again = await board.call(REFUSING)  # in plain lines
    await log_on(again, "Ada")
    await again.send("\r").until("Your daily deal waits for you (D)")
    await again.send("dp").until("of 10")
    deal = sealed(board)
    await again.send(keys_to_the_end(deal)).until("You're the first to play it to the end.")
    await again.send("q").until("Your game, or ?")
    await again.close()

    last = await logged_on(board, "Ada")
    await last.until("oodbye")
    assert "waits for you" not in last.picture


async def test_an_unfinished_deal_ends_with_its_day(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML, now=LATE) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("dp").until("of 10")
        await ada.close()
        await board.at_rest()
        await board.clock.advance(BY_MIDNIGHT)
        again = await logged_on(board, "Ada")
        await again.until("You have 600 minutes today.")
        await again.send(" ").until("oodbye")
        assert "waits for you" not in again.picture


async def test_the_page_is_there_before_the_tutor_has_weighed_and_costs_follow(
    tmp_path: Path,
) -> None:
    thinking = AtOurWord()

    async def weigh_all() -> None:
        while True:
            while thinking.asked:
                thinking.answers()
            await asyncio.sleep(0)

    async with world(tmp_path, thinking=thinking) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("d").until("You haven't played it yet.")
        deal = sealed(board)
        await ada.send("p" + keys_to_the_end(deal)).until("You're the first to play it to the end.")
        assert "?" in ada.picture
        await ada.until("<L>ast deal")  # she is waited for while nothing is weighed yet
        weighing = asyncio.create_task(weigh_all())
        await ada.until("%")
        await ada.until_gone("?")
        assert "<L>ast deal" in ada.picture
        weighing.cancel()

        bob = await newcomer(board, "Bob", REFUSING)
        bob.send("dp" + keys_to_the_end(deal))
        await bob.until("Hand 10: ")
        while "You're number 2 of 2." not in bob.transcript:  # an unrated player is last
            await board.pass_time(1)
        await bob.until("Quit (Q, Enter)")
        weighing = asyncio.create_task(weigh_all())
        await bob.until("You're number 1 of 2.")
        weighing.cancel()


async def test_a_tutor_that_does_not_answer_leaves_a_question_mark(tmp_path: Path) -> None:
    thinking = AtOurWord()
    async with world(tmp_path, thinking=thinking) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("d").until("You haven't played it yet.")
        ada.send("p" + keys_to_the_end(sealed(board)))
        await ada.until("You're the first to play it to the end.")
        await board.at_rest()
        thinking.fails(HelperUnavailable("it cannot tell"))
        await board.at_rest()
        assert not thinking.asked
        assert "?" in ada.picture
        await ada.send("q").until("oodbye")


@pytest.mark.parametrize("profile", [MODERN, REFUSING])
async def test_the_seal_is_under_the_rules_and_not_on_the_page(
    tmp_path: Path, profile: Profile
) -> None:
    async with world(tmp_path, toml=OWN_CARDS) as board:
        ada = await newcomer(board, "Ada", profile)
        await ada.send("d").until("<Q>uit")
        deal = sealed(board)
        assert sha256(deal.seed).hexdigest() == deal.seal
        assert deal.seal[:8] not in ada.transcript
        await ada.send("r").until("<N>ext")
        await ada.send(">").until(deal.seal)


async def test_the_page_of_the_world_deal_says_where_its_cards_are_from(board: World) -> None:
    ada = await newcomer(board, "Ada")
    await ada.send("d").until("<Q>uit")
    assert "The world's deal of 20 November: every board has these cards." in ada.picture
    await ada.send("r").until("equal costs share a place")
    await ada.send(">").until("Name  world/1/2026-11-20")


@pytest.mark.parametrize(
    ("profile", "charset"),
    [(MODERN, Charset.UTF8), (SYNCTERM, Charset.CP437), (REFUSING, None)],
)
async def test_a_finished_try_has_a_line_to_paste_without_spoilers(
    board: World, profile: Profile, charset: Charset | None
) -> None:
    ada = await newcomer(board, "Ada", profile)
    await ada.send("d").until("You haven't played it yet.")
    deal = sealed(board)
    ada.send("p" + keys_to_the_end(deal))
    await ada.until("/10 by the book, cost ")
    with board.books() as desk:
        (mine,) = contests.ranking(desk, deal)
    by_hand = await hand_costs(InPlace(), deal, mine.acts)
    assert abs(sum(by_hand) - (mine.cost or 0)) <= len(by_hand), "but for the rounding"
    line = result_line(deal.day, mine.cost or 0, by_hand, charset)
    assert line.startswith("Black Jack For Time, 20 November 2026: ")
    assert percent(mine.cost or 0) in line, "as in the ranking"
    await ada.until("<Q>uit")
    assert " ".join(line.split()) in " ".join(ada.picture.split())
    assert ada.picture.count(line[:30]) == 1
    assert "Copy this and show it to your friends:" in ada.picture


async def test_plain_lines_tell_the_end_of_a_deal_once_and_again_on_request(board: World) -> None:
    ada = await newcomer(board, "Ada", REFUSING)
    await ada.send("d").until("You haven't played it yet.")
    before = len(ada.transcript)
    await ada.send("p" + keys_to_the_end(sealed(board))).until("(Q, Enter)")
    told = ada.transcript[before:]
    end = told[told.index("You're the first") :]
    assert told.count("You're the first") == told.count("Copy this") == 1
    assert end.count("(Q, Enter)") == 1
    assert end.rstrip().splitlines()[-1].endswith("(Q, Enter)")
    assert "?" not in end
    copied = end.partition("friends:\r\n")[2].splitlines()[0]
    assert re.fullmatch(r"Black Jack For Time, 20 November 2026: .* cost [0-9.]+%\.", copied)
    await ada.send("=").until_heard(copied)
    await ada.until_heard("(Q, Enter)")
    await ada.send("v").until("Review of your hands")
    await ada.send("q").until_heard("(Q, Enter)")
    await board.settled()
    assert ada.heard.count("(Q, Enter)") == ada.heard.count(copied) == 1


def test_the_line_has_a_square_for_each_hand_or_names_the_slips() -> None:
    day, by_hand = date(2026, 11, 28), [0, 1, 999, 1000, 5000]
    one = result_line(day, 7043, by_hand, Charset.UTF8)
    head = "Black Jack For Time, 28 November 2026: 1/5 by the book, cost 70.43%"
    assert one == f"{head}\n🟩🟨🟨🟥🟥"
    assert result_line(day, 7043, by_hand, Charset.CP437) == f"{head}\n■▒▒░░"
    said = result_line(day, 7043, by_hand, None)
    assert said == f"{head}.\nSmall slips in hands 2, 3.\nBig slips in hands 4, 5."
    longest = result_line(day, 7043, [1] * 10, None)
    assert max(map(len, longest.splitlines())) < 80
    assert result_line(day, 0, [0] * 10, None).endswith(": 10/10 by the book, cost 0%.")


async def test_a_key_that_hurries_the_draw_does_not_swallow_the_result(tmp_path: Path) -> None:
    async with world(tmp_path, toml=BOARD.replace('"off"', '"normal"')) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("d").until("You haven't played it yet.")
        first = keys_to_the_end(sealed(board)).split(" ")[0]
        await ada.send("p ").until("<S>tand")
        await ada.send(first + "\r\r").until("Press any key")
        assert "Hand 1: " in ada.picture
        await ada.send("\r ").until("<S>tand")
        assert "2 of 10" in ada.picture


async def test_the_first_question_about_insurance_says_what_it_pays(tmp_path: Path) -> None:
    async with world(tmp_path, now=NOON.replace(day=26)) as board:  # an ace in the first hand
        ada = await newcomer(board, "Ada", REFUSING)
        await ada.send("dp").until("Insurance for 5 coins?")
        said = " ".join(ada.picture.split())
        assert "It pays 2 to 1 if the dealer has blackjack." in said
        await ada.send("?").until("I  When the dealer shows an ace, you can insure half your bet.")


async def test_a_hand_without_a_decision_is_shown_too(tmp_path: Path) -> None:
    """A blackjack in the first hand was counted and never seen, nor one after a pause."""
    seeds = (bytes([number]) * 32 for number in range(256))
    seed = next(s for s in seeds if duplicate.replay(BLACK_JACK_FOR_TIME, s, ()).number == 2)
    async with world(tmp_path, toml=OWN_CARDS) as board:
        with board.books() as desk:
            deals.todays(desk, lambda _day: (seed, seal(seed), {}))
        ada = await newcomer(board, "Ada", REFUSING)
        await ada.send("dp").until("Hand 1: ")
        assert "1 of 10" in ada.transcript
        await ada.close()
        await board.at_rest()
        ada = await logged_on(board, "Ada", REFUSING)
        await ada.send("dp").until("Hand 1: ")
        await ada.send(" ").until("2 of 10")
