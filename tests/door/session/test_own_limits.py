"""Limits that callers set for themselves, and the messages of the tables."""

from tests.door.visiting import MENU, TABLE, sysop_toml, visitor
from tests.world import World
from timebank.callers import own_limits
from timebank.ledger.own_limits import HOUR

TOML = sysop_toml(events="")


async def test_a_limit_is_set_in_the_settings_and_bounds_the_bets(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("y").sees("type O to see or set them")
    await ada.presses("o").sees("A stricter limit applies at once.")
    await ada.presses("m").is_asked("Minutes you can lose in a day")
    await ada.presses("9\r").sees("You can bet 9 minutes more today.")
    await ada.presses("m").is_asked("Minutes you can lose in a day")
    await ada.presses("0\r").sees("9 minutes; from 21 November 2026 at 12:00: no limit")
    await ada.presses("q").sees("you can bet 9 minutes more")
    await ada.presses("q").is_asked(MENU)
    await ada.sits_down()
    await ada.bets(1, "stay", ends="lose")
    await ada.stays()
    await ada.presses("b").is_asked("Coins to bet")
    coin = board.server.board.config.coin // 60
    await ada.presses(f"{9 // coin}\r").sees("Your own limit lets you bet")
    assert ada.has["stake"] == 0


async def test_a_table_says_before_a_bet_that_the_caller_has_paused(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("yop").is_asked("Days without a bet")
    await ada.presses("3\r").sees("Stop betting for 3 days?")
    await ada.presses("y").sees("no bets before 23 November 2026 at 12:00")
    await ada.presses("qq").is_asked(MENU)
    await ada.presses("b").is_asked(TABLE)
    ada.presses("b")
    await ada.sees("You've paused yourself: you can bet again on 23 November 2026 at 12:00.")


async def test_the_hourly_summary_comes_by_itself(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("yoh").sees("Hourly summary       on")
    with board.books() as desk:  # she read it an hour ago, on another call
        own = own_limits.current(desk, ada.caller.record.id)
        own_limits.put_back(desk, ada.caller.record.id, own._replace(told=own.told - HOUR))
    await ada.presses("qq").is_asked(MENU)
    await board.pass_time(61)
    await ada.sees("Your hourly summary: you've bet nothing since 11:00.")
