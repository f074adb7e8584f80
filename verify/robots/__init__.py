"""Callers that are programs: they telnet in, read their screens, and play at all tables.

    robot = Robot("Ada", "127.0.0.1", port, seed=7, pace=HASTY)
    stop = asyncio.Event()
    task = asyncio.create_task(robot.play(stop))
    ...
    stop.set()
    await task
    wrong = check.against_the_books(database_file, [robot.seen])

A `Robot` registers under its name with the password `PASSWORD`, or logs on with it when `is_known`
says that the board has the name. It plays until `stop` is set, then says goodbye, and hangs up
when that takes longer than some seconds. A call that is lost at any byte, a server that is gone and
a port that nobody answers at are part of its day: it calls again, at `host` and `port` as they are
then. Nothing of that is raised.

`Robot.seen` is a `Seen`: what was on the robot's own screen and must therefore be durable. Settled
hands with their amounts, movements at the bank's window, time left and savings, seals and seeds,
cards, messages, deals, and whether it was told that it has a name here. It grows while the robot
plays, holds across calls and servers, and is looked at once more when a line is lost; so that
whatever it says after a kill -9 has to be in the books that are found. `complaints` are screens
that no caller should ever see.

Everything a robot decides is drawn from its seed; what comes of it depends on the board's cards
and on the machine.
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
