"""Callers that are programs: they telnet in, read their screens, and play at all tables.

    robot = Robot("Ada", "127.0.0.1", port, seed=7, pace=HASTY)
    stop = asyncio.Event()
    task = asyncio.create_task(robot.play(stop))
    ...
    stop.set()
    await task
    wrong = check.against_the_books(database_file, [robot.seen])

A `Robot` registers under its name with the password `PASSWORD`, or logs on with it when `is_known`
says that the board has the name. It plays until `stop` is set, then says goodbye, and hangs up if
that takes longer than some seconds. It expects calls lost at any byte, servers that are gone and
closed ports: it calls again, at the `host` and `port` of that moment. None of these raises.

`Robot.seen` is a `Seen`: everything that was on the robot's own screen and must therefore be
durable. These are settled hands with their amounts, movements at the bank's window, time left and
savings, seals and seeds, cards, messages, deals, and a confirmed name. It grows while the robot
plays, lasts over calls and servers, and is updated once more when a line is lost. So its content
after a kill -9 has to be in the recovered books. `complaints` are screens that no caller should
ever see.

A robot's decisions follow from its seed; their results depend on the board's cards and on the
machine.
"""

from verify.robots.robot import HASTY, HUMAN, PASSWORD, RESTLESS, Pace, Robot
from verify.robots.seen import Movement, Purse, Seen, Settlement

__all__ = [
    "HASTY",
    "HUMAN",
    "PASSWORD",
    "RESTLESS",
    "Movement",
    "Pace",
    "Purse",
    "Robot",
    "Seen",
    "Settlement",
]
