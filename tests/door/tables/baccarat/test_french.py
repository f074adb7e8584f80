"""The croupier's French, as it arrives on terminals of three character sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansi.charset import Charset, spelling
from door.games.baccarat.round import BaccaratAction, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT
from door.games.engine.cards import Card
from door.tables.card_names import the_card
from tests.door.playing import PAST_HEADER
from tests.door.punting import (
    at_baccarat,
    baccarat_toml,
    ends,
    on_5,
    punter_of,
    seed_where,
    shoe_of,
)
from tests.terminal import MODERN, REFUSING, SYNCTERM, Profile
from tests.world import world
from timebank.callers.notices import read as read_notice
from timebank.language import Viewer, speaking_to
from timebank.ledger.reasons import BetPlaced
from timebank.ledger.sentences import sentence
from tools.catalogues import read

FRENCH_HOUSE = baccarat_toml(language="french")
# A painted screen in plain letters: the terminal types of the other two are remembered.
PLAIN = Profile(
    charset="ascii",
    performs=MODERN.performs,
    accepts=MODERN.accepts,
    terminal_types=("vt100",),
)
LOOKS = {
    "xterm-256color": {"charset": "utf-8", "paint": "colour"},
    "syncterm": {"charset": "cp437", "paint": "colour"},
    "vt100": {"charset": "ascii", "paint": "mono"},
}
EVERYWHERE = pytest.mark.parametrize(
    "profile", [MODERN, SYNCTERM, PLAIN], ids=["UTF-8", "CP437", "ASCII"]
)


def as_shown(text: str, profile: Profile) -> str:
    """French as this terminal can show it: without accents where it has none."""
    charset = Charset(profile.charset)
    if charset is not Charset.UTF8:
        text = text.replace("œ", "oe")
    if charset is Charset.ASCII:
        text = text.translate(str.maketrans("éèêàûçÉ", "eeeaucE"))
    return text


def in_french(card: Card) -> str:
    with speaking_to(Viewer("fr")):
        return the_card(card)


def five_against_a_heart(coup: BaccaratRound) -> bool:
    """A 5 that draws a heart: the one suit with a letter that few terminals have."""
    if coup.legal() != (BaccaratAction.CARD, BaccaratAction.NO_CARD):
        return False
    after, _ = coup.apply(BaccaratAction.CARD)
    return after.player[2].suit == "H" and after.cards_used == 5 and after.bank_point == 7


@EVERYWHERE
async def test_a_coup_in_french(tmp_path: Path, profile: Profile) -> None:
    seed = seed_where(five_against_a_heart)
    coup, _ = start(BACCARAT, shoe_of(seed), 1)
    coup, _ = coup.apply(BaccaratAction.CARD)
    async with world(tmp_path, toml=FRENCH_HOUSE) as board:
        ada = await punter_of(board, "Ada", profile, looks=LOOKS)
        board.seeds = [seed]
        ada.presses(f"c{PAST_HEADER}")
        await ada.is_asked_any("Jouer pour du temps, ou pour faire sauter la banque ?")
        await ada.presses("f").is_asked("<M>ode  <L>angue  <S>abot  Banque de <t>emps  <Q>uitter")
        await ada.sees(as_shown("La maison vous avance 100 000 F : bienvenue à la table.", profile))
        assert ada.terminal.row(0).split() == ["Baccara", "En", "francs"]
        assert as_shown("Égalité", profile) in ada.terminal.row(15)
        ada.presses("b")
        await ada.is_asked(
            as_shown("Faites vos jeux : 1 F à 100 000 F (Entrée pour 1 000 F) :", profile)
        )
        await ada.presses("12 500\r ").is_asked("Carte ?  <Y> Oui  <N>on, merci")
        await ada.sees("Rien ne va plus. Cinq au joueur.")
        ada.presses("o")
        third = f"Carte au joueur : {in_french(coup.player[2])}."
        await ada.sees(as_shown(third, profile))
        await ada.presses(" ").is_asked("<S>abot")
        await ada.sees(as_shown("Distinction : Première main !", profile))
        assert as_shown("Sept à la banque", profile) in ada.terminal.row(10)
        # Not a letter came that is none of the terminal's.
        assert "?" not in ada.screen.replace("Carte ?", "").replace("banque ?", "")
        assert b"\xff" not in ada.terminal.received


# Language and money


async def test_the_currency_is_chosen_at_the_table_in_any_language(tmp_path: Path) -> None:
    seed = seed_where(ends("player"), ends("bank"), ends("player"))
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.wagers(10_000)
        await ada.presses("l").is_asked("<S>abot")
        assert ada.figure("Capital") == "110 000 $"
        await ada.presses("m").is_asked("<F>rancs")
        await ada.presses("f").is_asked("<S>abot")
        await ada.wagers(30_000)
        assert ada.play_money("usd-cent")["bankroll"] == 110_000
        assert ada.play_money("frf-cent")["bankroll"] == 70_000
        # Remembered for the next call.
        await ada.comes_back("<G> Au revoir")
        assert ada.figure("Capital") == "70 000 F"
        await ada.presses("l").is_asked("<S>hoe")
        assert ada.figure("Bankroll") == "FR 70,000"
        await ada.presses("md").is_asked("<S>hoe")
        await ada.wagers(5_000)
        assert ada.play_money("usd-cent")["bankroll"] == 115_000


async def test_leaving_the_question_for_the_mode_stays_at_the_table(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player"))) as ada:
        await ada.presses("mq").is_asked("<S>hoe")
        assert ada.figure("Bankroll") == "$100,000"


@pytest.mark.parametrize("key", ["b", "\r"])
async def test_enter_and_b_go_on_to_a_bet_of_time_at_the_first_visit(
    tmp_path: Path, key: str
) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player")), mode=key) as ada:
        await ada.presses(key).is_asked("1 to 10 coins (Enter for 1):")


async def test_for_time_the_language_changes_words_and_nothing_else(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player")), mode="t") as ada:
        await ada.presses("l").is_asked("<S>abot")
        assert "Tours du jour : 0 sur 20" in ada.terminal.row(0)
        assert ada.figure("Pot") == "60 jetons"
        await ada.asks_to_bet()
        assert "Faites vos jeux, 1 à 10 jetons (Entrée pour 1) :" in ada.prompt
        await ada.presses("3\r ").is_asked("<S>abot")
        await ada.sees("Vous gagnez 3 jetons : 3 minutes.")
        assert ada.has["online"] == 63 * 60
        assert ada.play_money("frf-cent") == {}


async def test_plain_lines_name_every_card_in_french(tmp_path: Path) -> None:
    seed = seed_where(on_5(BaccaratAction.NO_CARD, ends="bank"))
    coup, _ = start(BACCARAT, shoe_of(seed), 1)
    async with world(tmp_path, toml=FRENCH_HOUSE) as board:
        ada = await punter_of(board, "Ada", REFUSING)
        board.seeds = [seed]
        ada.presses(f"c{PAST_HEADER}")
        await ada.terminal.until("Jouer pour du temps")
        ada.presses("f")
        await ada.terminal.until("<S>abot")
        ada.presses("b")
        await ada.terminal.until("Faites vos jeux : 1 F a 100 000 F")
        ada.presses("1000\r")
        await ada.terminal.until("Carte ?  Oui (Y), Non, merci (N)")
        output = ada.terminal.heard
        for card in coup.player:
            assert as_shown(f"Vous recevez {in_french(card)}.", REFUSING) in output
        assert output.count("La banque prend une carte, face cachee.") == 2
        assert "Cinq au joueur." in output
        ada.presses("n")
        await ada.terminal.until_heard(" 1 000 F.")
        assert "Le joueur reste : cinq au joueur." in ada.terminal.heard
        await ada.terminal.until_heard("Capital : 99 000 F, Banque : 1 001 000 F")
        assert b"\x1b" not in ada.terminal.received


async def test_another_language_clears_the_last_coup_away(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player"))) as ada:
        await ada.wagers(1000)
        await ada.sees("You win $1,000")
        await ada.presses("l").is_asked("<S>abot")
        assert "You win" not in ada.screen


async def test_a_language_that_was_chosen_here_before_is_spoken_here_still(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as board:
        ada = await punter_of(board, "Ada")
        await ada.caller.remember({"baccarat": {"language": "french", "mode": "B"}})
        await ada.presses(f"c{PAST_HEADER}").is_asked("<L>angue")
        assert ada.figure("Capital") == "100 000 F"
        await ada.presses("q").is_asked("oodbye")
        assert "Time left" in ada.status


async def test_in_french_the_game_is_baccara_outside_the_table_too(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await punter_of(board, "Ada")
        await ada.presses("ylq").is_asked("<G> Au revoir")
        assert "<C> Baccara\n" in f"{ada.screen}\n".replace("Baccara ", "Baccara\n")
        assert "Baccarat" not in ada.screen
    bet = BetPlaced("baccarat")
    with speaking_to(Viewer("fr")):
        assert sentence(bet, 60, "second") == "Baccara : mise de 1 minute"
        assert str(read_notice('{"say":"{game}","game":["game","baccarat"]}')) == "Baccara"


# The texts themselves


@pytest.fixture(params=list(Charset))
def french(request: pytest.FixtureRequest) -> Iterator[Charset]:
    """Bring a French reader on a terminal with this character set."""
    with speaking_to(Viewer("fr", spelling(request.param))):
        yield request.param


def texts() -> dict[str, str]:
    """Every text of this table in French, by its English."""
    said = read("fr")
    return {
        str(text.id): " ".join(text.string) if text.pluralizable else text.string
        for text in said
        if any("games/baccarat" in place for place, _line in text.locations)
    }
