"""The Vegas table on callers' screens: bets, cards and decisions of everybody, as they happen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansi.canvas import Canvas
from ansi.cards import short
from door.call.scene import Area
from door.errors import Closing
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.tables.card_names import named_card, the_card
from door.tables.vegas.felt import layout_of
from door.tables.vegas.scene import VegasScene
from door.tables.vegas.state import Alarm
from door.tables.vegas.words import total_of
from tests.door.seated import (
    ace_up,
    dealers_natural,
    everybody_plays,
    first_may_hit,
    over_at_once,
    party,
    shoe,
)
from tests.door.vegas_callers import AT_TABLE, YOUR_TURN, player, table_toml, vegas_callers
from tests.door.visiting import MENU, MINUTE
from tests.terminal import REFUSING
from tests.thinking import AtOurWord
from tests.world import world


def pair(dealt: BlackjackRound) -> bool:
    """The first seat may split, and both hands would be played."""
    first, second = dealt.seats[0].hands[0].cards
    return everybody_plays(dealt) and first.value == second.value and 4 < first.value < 8


# Alone


async def test_alone_enter_and_enter_again_deals_for_the_bet_that_was_last(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(3)
        await ada.stands()
        await ada.is_asked("<A>gain")
        await ada.presses("\r").is_asked("(Enter for 3)")
        ada.presses("\r")
        await ada.terminal.wait_for(lambda _: ada.on_the_table.lead == 2, "another round")
        assert ada.round.seats[0].bet == 3 * MINUTE


async def test_alone_again_deals_at_once(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, over_at_once)) as (ada,):
        await ada.is_asked("<B>et (Enter)")
        assert "<A>gain" not in ada.prompt  # no last bet yet
        await ada.presses("b\r").sees("Turns today: 1")
        await ada.is_asked("<A>gain")
        await ada.presses("a").sees("Turns today: 2")


async def test_the_result_of_a_round_is_shown_and_summed_up_in_the_menu(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.stands()
        totals = ada.round.totals
        net = (totals.won - totals.lost) // MINUTE
        words = f"{net:+}" if net else "push"
        await ada.sees_at(1, words)
        assert ada.has["online"] == (60 + net) * MINUTE
        await ada.gets_up()
        won, lost = int(net > 0), int(net < 0)
        counts = f"{won} win{'s' * (1 - won)}, {lost} loss{'es' * (1 - lost)}"
        await ada.sees(f"Your sitting at Vegas: {counts}")


async def test_insurance_is_typed_in_coins(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, dealers_natural)) as (ada,):
        await ada.says_bet(3)
        await ada.sees("you can insure up to half your bet. It pays 2 to 1 if the dealer has")
        await ada.is_asked("Insurance, up to 1.5 coins?")
        assert ada.prompt.endswith("<N>o  Tal<k>  <Q>uit")
        await ada.presses("i").is_asked("up to 1.5 (Enter for 1.5)")
        await ada.presses("1.6\r").sees("Insurance: 1.5 at most, in coins.")
        await ada.is_asked("Insurance, up to")
        await ada.presses("i").is_asked("Coins to insure")
        await ada.presses(".5\r").sees("Your insurance pays. You win 1 coin: 1 minute.")
        assert ada.has["online"] == 58 * MINUTE


async def test_insurance_may_be_declined_and_thought_better_of(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, ace_up)) as (ada,):
        await ada.says_bet(2)
        await ada.is_asked("Insurance, up to 1 coin?")
        await ada.presses("i").is_asked("Coins to insure")
        await ada.presses("\x03").is_asked("Insurance, up to 1 coin?")
        ada.presses("n")
        await ada.has_the_turn()
        assert ada.has["stake"] == 2 * MINUTE


async def test_a_pair_is_split_and_each_hand_played_and_shown(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, pair)) as (ada,):
        await ada.says_bet(2)
        await ada.is_asked("S<p>lit")
        await ada.presses("p").is_asked("(first hand)")
        assert ada.has["stake"] == 4 * MINUTE
        await ada.presses("s").is_asked("(second hand)")
        assert ada.prompt.endswith("<H>it  <S>tand  Tal<k>  <Q>uit")
        await ada.presses("s").is_asked("<B>et")
        shown = ada.block(1)
        for hand in ada.round.seats[0].hands:
            assert all(short(card) in shown for card in hand.cards)
            assert total_of(hand) in shown


# Together


async def test_everybody_sees_everybodys_bets_cards_and_decisions(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, first_may_hit)) as (ada, bob):
        await bob.sees_at(1, "Ada")
        await ada.sees_at(2, "Bob")
        await ada.says_bet(4)
        await bob.sees_at(1, "4 coins ready")
        await ada.sees("Cards in 20 s")
        await bob.says_bet(2)
        await ada.has_the_turn()
        for chair in (1, 2):
            for card in ada.round.seats[chair - 1].hands[0].cards:
                await ada.sees_at(chair, short(card))
                await bob.sees_at(chair, short(card))
        ada.presses("h")
        await bob.sees_at(1, short(ada.round.seats[0].hands[0].cards[-1]))
        await ada.stands()
        await bob.sees_at(1, "stands")
        await bob.stands()
        await ada.is_asked("<A>gain")
        for chair, other in ((1, bob), (2, ada)):
            totals = ada.round.totals_of(chair - 1)
            net = totals.won - totals.lost
            await other.sees_at(chair, f"{net / MINUTE:+g}" if net else "push")


async def test_the_countdown_is_on_every_screen(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready()
        await bob.is_ready()
        await ada.sees("Your turn: 30 s")
        await bob.sees("Ada: 30 s")
        await ada.board.pass_time(7)
        await ada.sees("Your turn: 23 s")
        await bob.sees("Ada: 23 s")
        await ada.board.pass_time(23)
        await bob.has_the_turn()
        await ada.sees_at(1, "stands")
        await ada.sees("The dealer plays for you.")
        assert "\a" in bob.terminal.transcript


async def test_the_clock_of_the_longest_name_keeps_clear_of_the_seats(tmp_path: Path) -> None:
    async with party(tmp_path, 1) as alone:
        scene = VegasScene(alone.table, alone.sitters[0].caller)
        name, area = "Wolfeschlegelsteinhausen", Area(0, 79, 19)
        layout = layout_of(area, 0)
        middle, right = layout.dealer_column, layout.places()[1].column - 1
        felt = Canvas(80, 22)
        scene.paint(felt, area)
        row = layout.clock_row
        neighbours = felt.text(row)[right:]
        for what, words in (("turn", r"(\w+): 0 s"), ("return", r"(\w+) is away: 0 s")):
            alone.state.alarm = Alarm(what, 0.0, name)
            canvas = Canvas(80, 22)
            scene.paint(canvas, area)
            found = re.fullmatch(words, canvas.text(row)[middle:right].strip())
            assert found is not None
            assert name.startswith(found[1])
            assert canvas.text(row)[right:] == neighbours


async def test_a_key_that_comes_too_late_means_nothing(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready()
        await bob.is_ready()
        await ada.has_the_turn()
        await ada.board.pass_time(30)
        await bob.has_the_turn()
        ada.presses("hsdp")
        await bob.stands()
        assert ada.round.over
        assert len(ada.round.seats[0].hands[0].cards) == 2


async def test_leaving_in_mid_round_asks_first_and_the_menu_shows_the_result(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.has_the_turn()
        await bob.presses("q").is_asked("If you leave now, the dealer stands your hand.")
        await bob.presses("n").is_asked(AT_TABLE)
        await bob.presses("q").is_asked("Leave?")
        await bob.presses("y").is_asked(MENU)
        await ada.sees_at(2, "has left")
        await ada.stands()
        await bob.sees("Your hand at Vegas was played out:")
        assert bob.caller.purse.posted.online == bob.has["online"]


async def test_plain_lines_describe_everything_in_sentences(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(2, everybody_plays)]
        bob = await player(board, "Bob")
        ada = await player(board, "Ada", REFUSING)
        await ada.terminal.until_heard("Seat 1: Bob")
        await bob.says_bet(3)
        await ada.terminal.until_heard("Bob bets 3 coins.")
        await ada.terminal.until_heard("Cards in 20 seconds.")
        ada.presses("b\r")
        for seat, name in zip(range(2), ("Bob", "Ada"), strict=True):
            await bob.has_the_turn() if not seat else None
            cards = ", ".join(named_card(card) for card in bob.round.seats[seat].hands[0].cards)
            await ada.terminal.until_heard(f"{name}: {cards} (")
        await ada.terminal.until_heard(f"Dealer: {named_card(bob.round.dealer_hand[0])}, face down")
        await bob.stands()
        await ada.terminal.until_heard("Bob stands on")
        await ada.terminal.until_heard("Your turn: 30 seconds.")
        await ada.has_the_turn()
        ada.presses("s")
        await ada.terminal.until_heard("You stand on")
        await ada.terminal.until_heard(f"The dealer turns over {the_card(bob.round.dealer[1])}.")
        await ada.terminal.until_heard("Bob loses 3 coins.")
        assert "\x1b" not in ada.terminal.transcript


async def test_in_plain_lines_only_a_turn_repeats_the_menu(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(2, everybody_plays)]
        bob = await player(board, "Bob")
        ada = await player(board, "Ada", REFUSING)
        before = len(ada.terminal.transcript)
        await bob.says_bet(3)
        await ada.terminal.until_heard("Cards in 20 seconds.")
        bob.presses("kgood luck\r")
        await ada.terminal.until_heard("Bob says: good luck")
        assert "Tal<k>" not in ada.terminal.transcript[before:]
        ada.presses("b\r")
        await bob.stands()
        await ada.has_the_turn()
        lines = [line.rstrip() for line in ada.terminal.transcript.splitlines()]
        assert lines[-2] == "\aYour turn: 30 seconds."
        assert lines[-3].startswith("Bob stands on")


async def test_plain_lines_tell_the_pot_before_each_bet(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(1, everybody_plays)]
        ada = await player(board, "Ada", REFUSING)
        assert "Your pot: 60 coins. Turns today: 0 of 20." in ada.terminal.heard
        await ada.says_bet(3)
        await ada.has_the_turn()
        assert "Your pot" not in ada.terminal.heard
        await ada.presses("s").is_asked("<B>et")
        pot = ada.caller.purse.pot(MINUTE)
        assert f"Your pot: {pot} coins. Turns today: 1 of 20." in ada.terminal.heard


async def test_a_new_deal_clears_the_messages_of_the_last_round(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(1)
        await ada.stands()
        await ada.sees("First hand")
        last = {row.strip() for row in ada.terminal.lines[18:22] if row.strip()}
        assert any(row.startswith("The dealer ") for row in last)
        await ada.says_bet(1)
        await ada.has_the_turn()
        assert not last & {row.strip() for row in ada.terminal.lines}


@pytest.mark.parametrize("is_at_turn", [True, False])
async def test_the_tutors_advice_waits_for_a_caller_who_reads_the_help(
    tmp_path: Path, is_at_turn: bool
) -> None:
    thinking = AtOurWord()
    async with world(tmp_path, toml=table_toml(), thinking=thinking) as board:
        board.seeds = [shoe(2, everybody_plays)]
        bob, ada = await player(board, "Bob"), await player(board, "Ada")
        await ada.presses("u").sees("Tutor is on")
        await bob.is_ready()
        await ada.says_bet(1)
        if is_at_turn:
            await bob.stands()
            await ada.has_the_turn()
            await ada.presses("?").is_asked("<N>ext")
            thinking.answers()
            await board.settled()
            ada.presses("q")
        else:
            await ada.presses("?").is_asked("<N>ext")
            await bob.stands()
            await ada.sees("Your turn at Vegas")
            await ada.presses("q").has_the_turn()
            thinking.answers()
        await ada.sees("Book: ")
        await ada.has_the_turn()


# Talk


async def test_last_words_stand_on_a_line_of_their_own_behind_an_open_question(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        ada = await player(board, "Ada", REFUSING)
        ada.caller.console.keyboard.interrupt(Closing("The board is closing."))
        await ada.terminal.until_closed()
        lines = [line.strip() for line in ada.terminal.transcript.splitlines()]
        assert "The board is closing." in lines


async def test_w_alone_lists_callers_and_w_with_text_whispers_to_walter(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", "Walter", "Ida") as (ada, walter, ida):
        ada.presses("/w hello\r")
        await walter.sees("Ada whispers to you: hello")
        ada.presses("/i hello yourself\r")
        await ida.sees("Ada whispers to you: hello yourself")
        await ada.presses("/w\r").sees("On now: Ada, Walter, Ida")
        await ada.presses("k").is_asked("Say:")
        await ada.presses("?").reads_that("/p, /r and /w work as everywhere")


async def test_a_turn_that_comes_while_its_caller_types_waits_behind_the_line(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready()
        await bob.is_ready()
        await ada.has_the_turn()
        await bob.presses("k").is_asked("Say:")
        bob.presses("h")
        await ada.stands()
        await bob.sees("Your turn: 30 s")
        bob.presses("i\r")
        await bob.has_the_turn()
        await ada.sees("Bob says: hi")
        assert len(bob.round.seats[1].hands[0].cards) == 2


# Elsewhere for a moment


@pytest.mark.parametrize(("key", "page"), [("r", "The rules of Vegas"), ("t", "You can still")])
async def test_a_caller_reading_or_banking_is_called_to_their_turn(
    tmp_path: Path, key: str, page: str
) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready()
        await bob.is_ready()
        await ada.has_the_turn()
        await bob.presses(key).sees(page)
        await ada.stands()
        await bob.sees("Your turn at Vegas: 30 seconds.")
        bob.presses("q")
        await bob.has_the_turn()
        assert YOUR_TURN in bob.prompt
        await bob.stands()


# The tutor


async def test_the_tutor_speaks_before_a_move_and_after_a_worse_one(tmp_path: Path) -> None:
    def stiff(dealt: BlackjackRound) -> bool:
        """The hand has about thirteen against a six: the book stands."""
        return everybody_plays(dealt) and (
            dealt.dealer_hand[0].value == 6
            and 12 < dealt.seats[0].hands[0].count.total < 17
            and not dealt.seats[0].hands[0].count.soft
            and len({card.value for card in dealt.seats[0].hands[0].cards}) == 2
        )

    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, stiff)) as (ada,):
        await ada.presses("u").sees("Tutor is on")
        await ada.is_asked(AT_TABLE)
        await ada.says_bet(1)
        await ada.sees("Book: STAND")
        await ada.presses("h").sees("In the long run hitting costs about")
        assert ada.caller.record.preferences["tutor"] is True


async def test_the_tutor_judges_a_move_by_the_cards_visible_before_it(tmp_path: Path) -> None:
    def hit_and_then_stand(dealt: BlackjackRound) -> bool:
        """The book hits the hand and then stands on it."""
        if not first_may_hit(dealt) or dealt.dealer_hand[0].value not in (8, 9, 10):
            return False
        after, _ = dealt.apply(BlackjackAction.HIT)
        before, then = (each.seats[0].hands[0].count for each in (dealt, after))
        return before.total < 15 and not (before.soft or then.soft) and 17 < then.total < 21

    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(1, hit_and_then_stand)]
        ada = await player(board, "Ada", REFUSING)
        ada.presses("u")
        await ada.terminal.until_heard("Tutor is on")
        await ada.says_bet(1)
        await ada.terminal.until_heard("Book: Hit")
        ada.presses("h")
        await ada.terminal.until_heard("Book: Stand")
        await ada.stands()
        assert "In the long run" not in ada.terminal.transcript


# The cut
