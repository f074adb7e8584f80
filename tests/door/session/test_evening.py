"""A caller's evening, from the first byte to the ledger, over a real telnet connection."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from door.games.blackjack.events import BlackjackOutcome
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound
from tests.door.visiting import MENU, MINUTE, Guest
from tests.terminal import MODERN, REFUSING, SILENT, SYNCTERM, Profile
from tests.world import PASSWORD, seed_of, world


@dataclass(frozen=True)
class Way:
    """How somebody calls: their terminal, which box looks right on it, what a card is there."""

    profile: Profile
    box: str
    king_of_spades: str


def king_that_loses(dealt: BlackjackRound) -> bool:
    """The caller is dealt the king of spades first, and would lose by standing."""
    if dealt.phase is not BlackjackPhase.PLAY or dealt.seats[0].hands[0].cards[0] != "KS":
        return False
    return dealt.apply(BlackjackAction.STAY)[0].outcomes == (BlackjackOutcome.LOSE,)


KING_THAT_LOSES = seed_of(king_that_loses)
WAYS = [
    pytest.param(Way(SYNCTERM, "\r", "│K♠   │"), id="cp437"),
    pytest.param(Way(MODERN, "\r", "│K♠   │"), id="utf-8"),
    pytest.param(Way(MODERN, "3", "|KS   |"), id="ascii"),
    pytest.param(Way(MODERN, "4", "|KS   |"), id="without-colour"),
    pytest.param(Way(REFUSING, "\r", "king of spades"), id="without-ansi"),
    pytest.param(Way(SILENT, "\r", "king of spades"), id="without-telnet"),
]


@pytest.mark.parametrize("way", WAYS)
async def test_an_evening(tmp_path: Path, way: Way) -> None:
    """The first call: a new caller plays, loses carrier in mid-hand, calls back and finishes."""
    async with world(tmp_path) as board:
        ada = Guest(board, "Ada")
        await ada.dials(way.profile)
        assert "The Test Board" in ada.screen
        await registers(ada, way)
        await board.pass_time(20)
        await ada.sits_down()
        await ada.bets(3, seed=KING_THAT_LOSES)
        await ada.sees(way.king_of_spades)
        await ada.stays()
        await ada.sees("lose 3 coins.")
        await board.pass_time(30)
        await ada.bets(5, "hit", "stay", ends="win")
        await ada.presses("h").is_asked("<H>it")
        await ada.drops_carrier()
        await board.pass_time(3 * MINUTE)

        await ada.calls(way.profile)
        await ada.is_asked("<H>it")
        await ada.sees("The hand you left is still on the table.")
        await board.pass_time(10)
        await ada.stays()
        await ada.sees("You get 10 coins: 5 minutes won.")
        await ada.presses("q").is_asked(MENU)
        await ada.logs_off()
        await ada.is_sent_off(
            "Black Jack For Time: 1 win, 0 losses. You're up 5 minutes.",
            "Goodbye, Ada. Call again!",
        )
        assert [(line.amount, line.why) for line in board.lines("Ada")] == [
            (60 * MINUTE, "60 minutes for 20 November"),
            (20, "Time used on node 1"),
            (3 * MINUTE, "Bet 3 minutes at Black Jack For Time"),
            (3 * MINUTE, "Lost at Black Jack For Time (lose)"),
            (30, "Time used on node 1"),
            (5 * MINUTE, "Bet 5 minutes at Black Jack For Time"),
            (10, "Time used on node 1"),
            (5 * MINUTE, "Stake returned at Black Jack For Time (win)"),
            (5 * MINUTE, "Won at Black Jack For Time (win)"),
        ]
        assert ada.has["online"] == (60 - 3 + 5) * MINUTE - 60
        assert ada.has["stake"] == 0


async def registers(ada: Guest, way: Way) -> None:
    """Log on as a new caller, say which box looks right, and read the news."""
    await ada.presses("new\r").is_asked("The name you want:")
    await ada.presses("Ada\r").is_asked("A password")
    await ada.presses(f"{PASSWORD}\r").is_asked("Once more:")
    await ada.presses(f"{PASSWORD}\r").reads_that("Your recovery code")
    await ada.sees("Which of these boxes looks right?")
    await ada.is_asked("Your choice")
    await ada.presses(way.box).sees("You have 60 minutes today.")
    await ada.is_asked("Take a one-minute tour?")
    await ada.presses("n").is_asked(MENU)
