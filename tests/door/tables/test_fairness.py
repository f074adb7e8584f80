"""The seal before the bet, the cut before the cards, the seed after the hand: and they agree."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from door.cli.main import main
from door.games import proofs
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from tests.door.playing import PLACE_BET, Table, at_the_table, hand, house
from tests.single_shoes import PHRASE
from tests.terminal import REFUSING, SYNCTERM, Profile, Terminal
from tests.world import BOARD, World, logged_on, world
from timebank.wagers.journal import stored_round

RUNNING_SHOE = replace(BLACK_JACK_FOR_TIME, shuffle="shoe", penetration=25)


def verified(seed: str, cut: str = PHRASE) -> tuple[str, list[str]]:
    """Return the output of `door verify` for a seed: the seal and the cards."""
    result = CliRunner().invoke(main, ["verify", "--seed", seed, "--cut", cut])
    assert result.exit_code == 0
    seal, *cards = result.stdout.splitlines()
    return seal.removeprefix("seal "), " ".join(cards).split()


def dealt_in_order(ada: Table) -> list[str | None]:
    """The cards on the screen in the order they came: player, dealer, player, dealer, the rest."""
    mine, dealers = ada.cards("Your hand"), ada.cards("Dealer")
    return [mine[0], dealers[0], mine[1], dealers[1], *mine[2:], *dealers[2:]]


# The seal and the seed


async def test_the_seal_can_be_read_before_the_bet_and_the_seed_after_the_hand(ada: Table) -> None:
    seed = hand("hit", "stay", ends="win")
    ada.board.seeds = [seed]
    assert await ada.seal() == sha256(seed).hexdigest()
    assert await ada.seed() == ""
    await ada.asks_to_bet()
    await ada.types_bet(1, seed)
    await ada.does("hit")
    assert await ada.seal() == sha256(seed).hexdigest()
    assert seed.hex() not in ada.terminal.transcript
    await ada.sees_hand()
    await ada.does("stay")
    assert ada.figure("Seed") == seed.hex()[:8]
    assert seed.hex() not in ada.terminal.transcript
    page = await ada.looks_at_fairness()
    assert page["Seed of the last shoe"] == seed.hex()
    assert page["Seal of the last shoe"] == sha256(seed).hexdigest()
    assert page["Seal of the next shoe"] not in ("", page["Seal of the last shoe"])


async def test_the_table_shows_no_long_number(ada: Table) -> None:
    await ada.bets(1, hand("stay", ends="win"))
    await ada.does("stay")
    assert re.search("[0-9a-f]{9}", ada.terminal.transcript) is None


@pytest.mark.parametrize(
    ("actions", "ending"),
    [(("stay",), "win"), (("hit", "hit", "stay"), "lose"), (("double",), "win"), ((), "push")],
)
async def test_door_verify_gives_the_seal_and_the_cards_that_were_on_the_screen(
    ada: Table, actions: tuple[str, ...], ending: str
) -> None:
    await ada.bets(1, hand(*actions, ends=ending))
    await ada.does(*actions)
    seal, cards = verified(await ada.seed())
    assert seal == await ada.seal()
    shown = dealt_in_order(ada)
    assert shown == cards[: len(shown)]


async def test_a_shown_seal_stays_until_a_hand_is_dealt(ada: Table) -> None:
    seal = await ada.seal()
    await ada.asks_to_bet()
    ada.terminal.send("\x1b")
    await ada.prompt(PLACE_BET)
    assert await ada.seal() == seal
    await ada.logs_off()
    await ada.is_gone()
    await ada.returns()
    assert await ada.seal() == seal


async def test_plain_lines_tell_seal_and_seed_on_the_page_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        board.enter("Ada")
        ada = await logged_on(board, "Ada", REFUSING)
        await ada.until("Press any key")
        await ada.send(" ").until("oodbye")
        await ada.send("b").until("<B>et")
        seed = hand("stay", ends="win")
        board.seeds = [seed]
        await ada.send("b").until("Coins to bet")
        await ada.send("1\r").until("<S>tand")
        ada.send("s")
        await ada.until_heard("<B>et")
        assert re.search("[0-9a-f]{8}", ada.transcript) is None
        await ada.send("f").until("<N>ext")
        assert seed.hex() in ada.transcript
        assert sha256(seed).hexdigest() in ada.transcript
        await ada.send("n").until("To check hand 1 whole, ask Sysop for its proof")


# The cut


async def test_the_cut_is_asked_for_after_the_seal_and_mixed_into_the_shuffle(ada: Table) -> None:
    seed = hand("stay", ends="win", cut="Lucky  duck")
    await turn_cut_on(ada)
    ada.board.seeds = [seed]
    ada.terminal.send("b")
    await ada.prompt("Your phrase (Enter: ")
    ada.terminal.send("  Lucky  duck \r")
    await ada.prompt("Coins to bet")
    await ada.types_bet(2, seed, cut="Lucky  duck")
    await ada.does("stay")
    # Seed and cut suffice to check the shoe: both are on the page.
    assert (await ada.looks_at_fairness())["Cut with"] == "Lucky  duck"
    seal, cards = verified(await ada.seed(), "Lucky  duck")
    assert seal == await ada.seal()
    shown = dealt_in_order(ada)
    assert shown == cards[: len(shown)] != verified(await ada.seed())[1][: len(shown)]


async def test_esc_at_the_question_for_a_phrase_places_no_bet(ada: Table) -> None:
    await turn_cut_on(ada)
    ada.terminal.send("b")
    await ada.prompt("Your phrase")
    ada.terminal.send("words\x1b")
    await ada.message("No bet.")
    await ada.prompt(PLACE_BET)
    seed = hand("stay", ends="lose")
    await ada.logs_off()
    await ada.is_gone()
    # The preference is remembered; the seal is still the old one.
    await ada.returns()
    ada.terminal.send("b")
    await ada.prompt("Your phrase")
    ada.terminal.send("\r")
    await ada.prompt("Coins to bet")
    ada.terminal.send("\x1b")
    await ada.prompt(PLACE_BET)
    page = await ada.looks_at_fairness()
    assert sha256(seed).hexdigest() not in page.values()
    assert page["Cut with"] == PHRASE


async def turn_cut_on(ada: Table) -> None:
    assert ada.figure("Cut") == "off"
    ada.terminal.send("c")
    await ada.message("Cut is on: you'll be asked for a phrase before each shuffle.")
    assert ada.figure("Cut") == "on"


# A shoe that runs on


async def test_a_running_shoe_keeps_its_seal_and_shows_its_seed_when_it_is_done(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path, toml=house(shuffle="shoe", penetration=25)) as ada:
        seed = hand()
        seal = sha256(seed).hexdigest()
        used = 0
        while used < 13:  # a quarter of 52
            await ada.bets(1, seed, rules=RUNNING_SHOE, position=used)
            await ada.stands()
            used += ada.round.cards_used
            if used < 13:
                assert (await ada.seal(), await ada.seed()) == (seal, "")
        assert ada.hands_dealt > 1
        fresh = hand("double", ends="lose")
        ada.board.seeds = [fresh]
        page = await ada.looks_at_fairness()
        assert page["Seed of the last shoe"] == seed.hex()
        assert page["Seal of the last shoe"] == seal
        assert page["Seal of the next shoe"] == sha256(fresh).hexdigest()


async def test_a_running_shoe_is_cut_once(tmp_path: Path) -> None:
    toml = house(shuffle="shoe", penetration=25)
    async with at_the_table(tmp_path, toml=toml) as ada:
        await turn_cut_on(ada)
        seed = hand(cut="here")
        ada.board.seeds = [seed]
        ada.terminal.send("b")
        await ada.prompt("Your phrase")
        ada.terminal.send("here\r")
        await ada.prompt("Coins to bet")
        await ada.types_bet(1, seed, cut="here", rules=RUNNING_SHOE)
        await ada.stands()
        used = ada.round.cards_used
        await ada.bets(1, seed, cut="here", rules=RUNNING_SHOE, position=used)
        await ada.stands()
        assert (await ada.looks_at_fairness())["Cut with"] == "here"


async def test_a_running_shoe_runs_on_in_the_next_call(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(shuffle="shoe")) as ada:
        seed = hand()
        await ada.bets(1, seed, rules=RUNNING_SHOE)
        await ada.stands()
        await ada.logs_off()
        assert seed.hex() not in ada.terminal.transcript
        await ada.is_gone()
        used = ada.round.cards_used
        await ada.returns()
        await ada.bets(1, seed, rules=RUNNING_SHOE, position=used)
        await ada.stands()
        assert await ada.seal() == sha256(seed).hexdigest()


async def test_a_table_set_to_shuffle_every_hand_reuses_no_shoe(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path, toml=house(shuffle="shoe")) as ada:
        await ada.bets(1, hand(), rules=RUNNING_SHOE)
        await ada.stands()
        seal = await ada.seal()
        (tmp_path / "sysop.toml").write_text(BOARD, encoding="utf-8")
        ada.board.server.reload()
        await ada.logs_off()
        await ada.is_gone()
        await ada.returns()
        await ada.bets(1, hand("double", ends="lose"))
        assert await ada.seal() != seal


# A link to the hand that was played

PAGE = "https://board.example/check.html"
CHECKED = f'{BOARD}\n[fairness]\ncheck_address = "{PAGE}"\n'


def link_to_last(board: World) -> str:
    with board.books() as desk:
        stored = stored_round(desk, 1)
    assert stored is not None
    return f"{PAGE}#{proofs.packed(stored)}"


async def plays_one(board: World, profile: Profile) -> Terminal:
    """Play a hand on a terminal of any kind, and ask for <F>airness."""
    board.enter("Ada")
    ada = await logged_on(board, "Ada", profile)
    for expected, keys in (
        ("Press any key", " "),
        ("oodbye", "b"),
        ("<F>airness", "b"),
        ("Coins", "1\r"),
        ("<S>tand", "s"),
    ):
        await ada.until(expected)
        if keys == "b":
            board.seeds = [hand("stay", ends="win")]
        ada.send(keys)
    await ada.until("<B>et")
    await ada.send("f").until("When a shoe is done you see")
    return ada


async def test_the_last_hand_can_be_checked_by_a_link(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=CHECKED) as ada:
        await ada.bets(1, hand("hit", "stay", ends="win"))
        await ada.does("hit", "stay")
        link = link_to_last(ada.board)
        ada.terminal.send("f")
        await ada.prompt("<N>ext")
        ada.terminal.send("n")
        await ada.prompt("Press any key")
        assert "Check hand 1" in ada.terminal.picture
        # The terminal calls itself xterm, so the words lead to the page.
        assert f"\x1b]8;;{link}\x1b\\" in ada.terminal.transcript
        assert "board.example" not in ada.terminal.picture
        ada.board.server.board.callers()[0].console.screen.say("A word of the sysop's.")
        await ada.terminal.until("A word of the sysop's.")
        start = len(ada.terminal.transcript)
        ada.terminal.send(" ")
        await ada.prompt(PLACE_BET)
        assert "\x1b[2J" in ada.terminal.transcript[start:], "or cells would still lead there"


async def test_a_terminal_without_links_shows_the_address(tmp_path: Path) -> None:
    async with world(tmp_path, toml=CHECKED) as board:
        ada = await plays_one(board, SYNCTERM)
        await ada.send("n").until("Open this link:")
        assert link_to_last(board) in re.sub(r"\s", "", ada.picture)
        assert "\x1b]8" not in ada.transcript


async def test_plain_lines_have_the_address(tmp_path: Path) -> None:
    async with world(tmp_path, toml=CHECKED) as board:
        ada = await plays_one(board, REFUSING)
        await ada.send("n").until("Check hand 1 in a browser:")
        await ada.until_heard("<Q>uit")
        output = re.sub(r"\s", "", ada.transcript)
        assert link_to_last(board) in output
        assert "█" not in output
