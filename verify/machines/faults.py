"""The faults of the machines: each by its name, as a function of the world.

A fault does its harm, and may wait; `World.mend` repairs everything afterwards. It returns a
description of the harm.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable

import psycopg

from verify.machines.databases import DATABASES, FRONT, KEEPERS, SERVERS, TTL
from verify.machines.programs import signal_all
from verify.machines.world import World

Fault = Callable[[World], str]

SWITCHES = 5  # of the log, which takes a new file each time
SEEN_SECONDS = 3.0  # how long to look for a waiting COMMIT


def server_killed(world: World) -> str:
    machine = world.chance.choice(sorted(SERVERS))
    world.servers[machine].kill()
    world.pause(0, 3)
    return f"the board on {machine}"


def server_stopped(world: World) -> str:
    """Stop a server, for a moment or until others have its leases, and resume it."""
    machine = world.chance.choice(sorted(SERVERS))
    world.servers[machine].send(signal.SIGSTOP)
    seconds = world.pause(*world.chance.choice(((2, 25), (60, 70))))
    world.servers[machine].send(signal.SIGCONT)
    return f"the board on {machine} for {seconds:.0f} s"


def front_killed(world: World) -> str:
    world.databases.front.kill()
    world.pause(0, 5)
    return "HAProxy"


def primary_killed_in_commit(world: World) -> str:
    """Kill the primary while a COMMIT waits for its standby; sometimes with its Patroni.

    Usually its standbys were cut off before, so that no other has its commits.
    """
    is_cut = world.chance.random() < 0.7
    return kill_in_commit(world, is_cut, world.chance.random() < 0.5)


def kill_in_commit(world: World, is_cut: bool, is_whole: bool) -> str:
    primary, standbys = world.primary(), world.standbys()
    if is_cut:
        for standby in standbys:
            world.network.cut(primary, standby)
        world.pause(0.5, 2)
    until = time.monotonic() + SEEN_SECONDS
    while time.monotonic() < until and not world.databases.servers_of(primary, "COMMIT"):
        pass
    if is_whole:
        world.databases.patronis[primary].kill()
    world.databases.signal_server(primary, signal.SIGKILL)
    # Healed only now: data in a dead process's sockets is still sent.
    if is_whole:
        world.pause(TTL, TTL + 5)
    else:
        world.pause(8, TTL + 5)
    world.network.heal()
    how = "cut from its standbys" if is_cut else "at any moment"
    return f"{primary}{' and its Patroni' if is_whole else ''}, {how}"


def primary_back_and_lost(world: World) -> str:
    """Kill the primary's server in a COMMIT on no standby, let it return, and lose it.

    In between it shows data that no other has and that was never confirmed.
    """
    primary = world.primary()
    for standby in world.standbys():
        world.network.cut(primary, standby)
    until = time.monotonic() + SEEN_SECONDS
    while time.monotonic() < until and not world.databases.servers_of(primary, "COMMIT"):
        pass
    world.databases.signal_server(primary, signal.SIGKILL)
    back = world.pause(5, 15)
    world.databases.signal_machine(primary, signal.SIGKILL)
    world.databases.patronis[primary].kill()
    world.pause(TTL, TTL + 5)
    world.network.heal()
    return f"{primary}, which came back for {back:.0f} s"


def primary_stopped(world: World) -> str:
    """Stop the primary's whole machine, for a moment or until another has its role."""
    primary = world.primary()
    world.databases.signal_machine(primary, signal.SIGSTOP)
    seconds = world.pause(*world.chance.choice(((1, 5), (TTL + 5, TTL + 15))))
    world.databases.signal_machine(primary, signal.SIGCONT)
    return f"{primary} for {seconds:.0f} s"


def keeper_of_primary_stopped(world: World) -> str:
    """Stop only the primary's Patroni: the server goes on, and believes to be the primary."""
    primary = world.primary()
    world.databases.patronis[primary].send(signal.SIGSTOP)
    seconds = world.pause(TTL, TTL + 15)
    world.databases.patronis[primary].send(signal.SIGCONT)
    return f"the Patroni of {primary} for {seconds:.0f} s"


def cut_from_database(world: World) -> str:
    """Cut a server, or the front, from its partners; both ways, or one."""
    machine, other = world.chance.choice(
        (*((server, FRONT) for server in SERVERS), (FRONT, world.primary()))
    )
    return _cut(world, machine, other, 3, 20)


def cut_between_databases(world: World) -> str:
    primary = world.primary()
    other = world.chance.choice([each for each in DATABASES if each != primary])
    return _cut(world, primary, other, 3, 20)


def primary_cut_off(world: World) -> str:
    """Cut the primary from everything, or from the keepers alone."""
    primary = world.primary()
    if world.chance.random() < 0.5:
        world.network.isolate(primary)
        what = "everything"
    else:
        for keeper in KEEPERS:
            world.network.cut(primary, keeper)
        what = "etcd"
    seconds = world.pause(5, TTL + 15)
    world.network.heal()
    return f"{primary} from {what} for {seconds:.0f} s"


def clocks_moved(world: World) -> str:
    """Move the clocks of the databases' servers, each by its own leap."""
    done = []
    for machine in DATABASES:
        seconds = world.chance.choice((-1, 1)) * world.chance.randint(5, 2 * 86400)
        world.databases.set_clock(machine, seconds)
        done.append(f"{machine} by {seconds:+d} s")
    world.pause(3, 10)
    if world.chance.random() < 0.5:
        primary = world.primary()
        world.databases.signal_server(primary, signal.SIGKILL)
        done.append(f"and {primary} killed")
        world.pause(3, 10)
    return ", ".join(done)


def keepers_without_quorum(world: World) -> str:
    """Stop or kill two keepers of three."""
    which = world.chance.sample(KEEPERS, 2)
    number = world.chance.choice((signal.SIGSTOP, signal.SIGKILL))
    for keeper in which:
        world.databases.keepers[keeper].send(number)
    seconds = world.pause(5, TTL + 10)
    return f"{' and '.join(which)} by {number.name} for {seconds:.0f} s"


def disk_full(world: World) -> str:
    """Fill the primary's disk, and make its log need space at once."""
    primary = world.primary()
    world.fill_disk(primary)
    with contextlib.suppress(psycopg.Error):
        for _ in range(SWITCHES):
            words = "SELECT pg_logical_emit_message(true, 'bjft', ''), pg_switch_wal()"
            world.databases.ask(words, machine=primary)
    seconds = world.pause(3, 20)
    return f"that of {primary} for {seconds:.0f} s"


def standby_killed(world: World) -> str:
    """Kill the standby that COMMITs wait for."""
    standby, _ = world.standbys()
    world.databases.patronis[standby].kill()
    signal_all(world.databases.servers_of(standby), signal.SIGKILL)
    world.pause(2, 15)
    return standby


FAULTS: dict[str, Fault] = {
    each.__name__.replace("_", "-"): each
    for each in (
        server_killed,
        server_stopped,
        front_killed,
        primary_killed_in_commit,
        primary_back_and_lost,
        primary_stopped,
        keeper_of_primary_stopped,
        cut_from_database,
        cut_between_databases,
        primary_cut_off,
        standby_killed,
        clocks_moved,
        keepers_without_quorum,
        disk_full,
    )
}


def _cut(world: World, machine: str, other: str, least: float, most: float) -> str:
    way = world.chance.choice(("both ways", "to", "from"))
    if way == "from":
        machine, other = other, machine
    world.network.cut(machine, other, one_way=way != "both ways")
    seconds = world.pause(least, most)
    world.network.heal()
    how = "both ways" if way == "both ways" else f"only what goes to {machine}"
    return f"{machine} and {other} for {seconds:.0f} s, {how}"
