"""The manual page of bj as a caller may read it, in our own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.lobby.pages import read

if TYPE_CHECKING:
    from door.console import Console

MANUAL = """\
|15NAME|07
  bj -- black jack, as Ken Thompson wrote it for UNIX in 1971

|15SYNOPSIS|07
  /usr/games/bj

|15DESCRIPTION|07
  You play against the dealer, who has no choices: he hits below 17 and
  stands on any 17. The bet is $2 on every hand. One deck runs on from
  hand to hand.

  A natural, 21 in your first two cards, pays $3. A natural of the dealer
  takes your bet, unless you have one too: nobody pays then.

  Under an ace of the dealer you may insure for $1, which wins $2 if he
  has a natural and is lost if he has none.

  Two cards of the same value may be split into two hands of $2 each, once
  a hand; split aces get one card each. On ten or eleven in two cards you
  may double down: twice the bet, and exactly one more card.

  Over 21 is a bust and loses. Otherwise the larger total wins, and a tie
  is a push.

|15QUESTIONS|07
  y and Enter is yes. Enter alone is no.

  Insurance?  Split pair?  Double down?
  Hit? |08(the program of 1971 printed only ?)|07

|15KEYS|07
  Ctrl-H rubs out. DEL, Ctrl-C and telnet's Interrupt Process end the
  game; the hand on the table is then played as if you had said no to all
  that is still asked. Typed right behind your last answer of a hand, DEL
  ends the game before the next one.

|15OUTPUT|07
  A card is its rank and its suit: AS, TD. The action is all that you have
  ever bet, the standing what you have won or lost by it; both are told at
  every shuffle and when you leave.

|15FILES|07
  A run of the game is dealt from one seed. You see its seal before the
  first letter and the seed after the last one. From shuffle to shuffle a
  deck is dealt down to its last card, which is never dealt.

|15BUGS|07
  The page of 1972 warns of the random number generator. This one can be
  checked.
"""


async def read_manual(console: Console) -> None:
    """Show the manual page."""
    await read(console, "BJ(VI)", MANUAL.rstrip("\n"))
