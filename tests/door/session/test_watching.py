"""Watching another caller's table: permissions, the visible parts, and the hidden ones."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from door.call.bystander import LOOK_SECONDS
from door.call.chair import MOST_BEHIND
from door.call.markup import plain
from door.call.spoken import WINDOW_SECONDS
from door.games.engine.cards import parse_cards
from door.lines.flow import StreamLine
from door.tables.black_jack_for_time.scene import BlackJackScene
from door.tables.red_dog.scene import RedDogScene
from tests.door.reading import read_again
from tests.door.seated import everybody_plays, shoe
from tests.door.several import servers
from tests.door.vegas_callers import AT_TABLE, player, table_toml
from tests.door.visiting import MENU, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import REFUSING, SYNCTERM, Profile
from tests.world import World, world
from timebank.callers import callers, messages
from timebank.callers.hearing import IGNORES

TOML = sysop_toml(events="")
LIST = "<W>atch  <Q>uit"
GOT_UP, SENT_AWAY = "has left the table.", "no longer allows watching."


async def reader(board: World, name: str, profile: Profile = SYNCTERM) -> Guest:
    """Bring a caller to the list of callers."""
    guest = await visitor(board, name, profile=profile)
    await guest.presses("w").is_asked(LIST)
    return guest


async def sits_behind(guest: Guest, watched: Guest) -> None:
    await guest.presses("w").sees(f"Behind {watched.name}, at ")
    await watched.sees(f"{guest.name} sits down behind you to watch. /o sends watchers away.")


async def two_looks(board: World) -> None:
    for _ in range(2):
        await board.clock.advance(LOOK_SECONDS)
        await board.at_rest()


async def sees_in_time(board: World, guest: Guest, text: str) -> None:
    await two_looks(board)
    await guest.sees(text)


async def test_a_watcher_at_a_table_sees_the_table_and_nothing_else(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(1, everybody_plays)]
        ada = await player(board, "Ada")
        assert ada.caller.console.screen.onlookers == ()
        bob = await reader(board, "Bob")
        cyd = await reader(board, "Cyd", REFUSING)
        for each in (bob, cyd):
            await sits_behind(each, ada)
        await ada.presses("b").is_asked("Coins to bet")
        ada.presses("3\r")
        await ada.has_the_turn()
        await sees_in_time(board, bob, "3 coins")
        await sees_in_time(board, cyd, "Dealer: ")
        # Watchers see lines spoken aloud, but not private ones.
        ada.presses("khello table\r")
        for each in (bob, cyd):
            await sees_in_time(board, each, "Ada says: hello table")
        board.enter("Dan")
        with board.books() as desk:
            dan, to = (callers.find(desk, name) for name in ("Dan", "Ada"))
            assert dan is not None
            assert to is not None
            messages.send(desk, dan.id, to, "between us", messages.Limits())
        board.server.books.notices_wait.set()
        await ada.sees("between us")
        await ada.presses("u").sees("Tutor is on")
        await ada.presses("r").sees("The rules of Vegas")
        for each in (bob, cyd):
            await sees_in_time(board, each, "Ada is looking at something else.")
        await ada.presses("q").is_asked(AT_TABLE)
        await sees_in_time(board, bob, "free seat")
        await ada.presses("s").is_asked("<B>et")
        for each in (bob, cyd):
            await two_looks(board)
            shown = each.terminal.transcript.partition("Behind Ada")[2]
            for private in ("between us", "utor", "Coins to bet", "Turns today", "The rules of"):
                assert private not in shown
        assert cyd.terminal.transcript.count("Behind Ada") == 1, "and not with every card"
        *_, end = cyd.terminal.transcript.rpartition("Dealer: ")
        assert "A coin is" not in end, "it is heard with the table, and not with every hand"
        await ada.presses("q").is_asked(MENU)
        for each in (bob, cyd):
            await each.sees(f"Ada {GOT_UP}")
        assert ada.caller.console.screen.onlookers == ()


def test_lines_name_only_hands_that_have_cards() -> None:
    scene = BlackJackScene(coin=60, turns_limit=None, has_purse=False)
    scene.is_dealt, scene.player = True, "Ada"
    scene.mine = list(parse_cards("KH"))
    lines = "\n".join(scene.lines())
    assert "king of hearts" in lines
    assert "Dealer" not in lines


async def test_a_watcher_reads_no_talk_of_a_caller_they_ignore(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        ada = await player(board, "Ada")
        bob, cyd = await reader(board, "Bob"), await reader(board, "Cyd", REFUSING)
        await bob.caller.remember({IGNORES: [ada.caller.record.id]})
        for each in (bob, cyd):
            await sits_behind(each, ada)
        ada.presses("khello table\r")
        await sees_in_time(board, cyd, "Ada says: hello table")
        await board.pass_time(2)
        assert "hello table" not in bob.screen


async def test_a_caller_chooses_where_others_may_watch(board: World) -> None:
    ada = await seated(board, "Ada")
    bob = await visitor(board, "Bob", profile=SYNCTERM)
    # Alone at a table, unasked, she is not watched, and nobody is offered it.
    await bob.presses("w").sees("Callers at Vegas can, unless they forbid it")
    assert "<W>atch" not in bob.screen
    await bob.presses(" ").is_asked(MENU)
    await ada.presses("q").is_asked(MENU)
    await ada.presses("yh").sees("Where may others watch you?  at all tables")
    await ada.presses("q").is_asked(MENU)
    await ada.sits_down()
    await bob.presses("w").is_asked(LIST)
    await sits_behind(bob, ada)
    await ada.bets(5, "hit")
    await sees_in_time(board, bob, "Ada")
    assert bob.screen.count("Pot") == 1  # his own, in the status line
    # She sends him away, and watching stays closed until she opens it.
    await board.pass_time(WINDOW_SECONDS)
    await ada.presses("/o\r").sees("Nobody can watch you now.")
    await ada.is_asked("<H>it")
    await bob.sees(f"Ada {SENT_AWAY}")
    assert bob.caller.place == "Who is on"
    await bob.presses("q").sees("Nobody can be watched now.")
    # The list is open when she begins to ignore him, and when the places behind her are taken.
    await ada.caller.remember({"watched": "all"})
    await bob.presses(" ").is_asked(MENU)
    await bob.presses("w").is_asked(LIST)
    chair = ada.caller.chair
    assert chair is not None
    chair.watchers += [mock.Mock()] * MOST_BEHIND
    await bob.presses("w").sees("There's no more room behind Ada.")
    chair.watchers.clear()
    await bob.presses(" ").is_asked(MENU)
    await bob.presses("w").is_asked(LIST)
    await ada.caller.remember({IGNORES: [bob.caller.record.id]})
    await bob.presses("w").sees("Ada doesn't allow watching here.")
    await ada.caller.remember({IGNORES: []})
    await bob.presses(" ").is_asked(MENU)
    await bob.presses("w").is_asked(LIST)
    # Each watcher is announced to her, so their number is limited.
    for _ in range(2):
        await bob.presses("w").is_asked("Behind Ada")
        bob.presses("q")
        await ada.sees("Bob has stopped watching.")
        await bob.is_asked(LIST)
    await bob.presses("w").sees("Not so fast")


async def test_watchers_leave_when_the_sysop_switches_watching_off(tmp_path: Path) -> None:
    off = f"{TOML}\n[company]\nwatching = false\n"
    async with world(tmp_path, toml=TOML) as board:
        ada = await visitor(board, "Ada")
        await ada.caller.remember({"watched": "all"})
        await ada.sits_down()
        bob, cyd = [await reader(board, name) for name in ("Bob", "Cyd")]
        await sits_behind(bob, ada)
        read_again(board, off)
        await bob.sees("The sysop no longer allows watching.")
        assert ada.caller.console.screen.onlookers == ()
        # Her call is older than the setting, and admits no watchers either.
        await cyd.presses("w").reads_that("The sysop no longer allows watching.")
        await bob.presses("q").is_asked("Press any key")
        assert "atch" not in bob.screen


async def test_a_slow_watcher_gets_a_screen_only_after_reading_the_last(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await ada.caller.remember({"watched": "all"})
    await ada.sits_down()
    bob = await reader(board, "Bob")
    await sits_behind(bob, ada)
    with mock.patch.object(StreamLine, "is_blocked", new=True):
        await ada.bets(5, "hit")
        await two_looks(board)
        assert "5 coins" not in bob.screen
    await sees_in_time(board, bob, "5 coins")
    await ada.presses("s").is_asked(TABLE)


async def test_players_of_another_server_and_of_the_daily_deal_cannot_be_watched(
    tmp_path: Path, bank: str
) -> None:
    async with servers(tmp_path, bank, toml=TOML) as (here, there):
        ada = await visitor(there, "Ada")
        bob = await visitor(here, "Bob", profile=REFUSING)
        await ada.sits_down()
        await ada.bets(5, "hit")
        await bob.presses("w").sees("Nobody can be watched now.")
        await bob.presses(" ").is_asked(MENU)
        await ada.presses("s").is_asked(TABLE)
        await ada.presses("q").is_asked(MENU)
        await ada.caller.remember({"watched": "all"})
        await ada.presses("d").is_asked("<P>lay")
        await ada.presses("p").sees("Your hand")
        assert ada.caller.chair is None
        await bob.presses("w").is_asked("Press any key")


async def test_a_node_of_the_list_is_taken_as_well_as_a_name(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        for name in ("Ada", "Bob"):
            await player(board, name)
        cyd = await reader(board, "Cyd")
        node = next(line.split()[0] for line in cyd.terminal.lines if " Bob " in line)
        await cyd.presses("w").is_asked("Behind whose chair?")
        await cyd.presses(f"{node}\r").sees("Behind Bob, at Vegas")
        await cyd.presses("q").is_asked(LIST)
        await cyd.presses("w").is_asked("Behind whose chair?")
        await cyd.presses("77\r").sees("Nobody of that name or number is at a table.")


def test_lines_of_a_result_are_no_capitals() -> None:
    """Readers spell words in capitals."""
    scene = RedDogScene(coin=60, turns_limit=None, has_purse=False)
    scene.is_dealt, scene.player = True, "Ada"
    scene.end("NOT IN BETWEEN", -60)
    assert plain(scene.lines()[-1]) == "Not In Between -1"
