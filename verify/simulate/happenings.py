"""Everything that may happen at one step of a story, and how often it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from signal import Signals

from sqlalchemy import text

from door.lines.rlogin.header import RloginHeader
from timebank.callers import callers, own_limits
from timebank.calls import clock_mend
from timebank.calls.calls import OpenedCall, close_call, open_call
from timebank.errors import EventRefused, Refused
from timebank.guests import claims
from timebank.guests.departure import HostPayment
from timebank.keeping import events
from timebank.keeping.caller_acts import set_muted
from timebank.keeping.events import EventAsked
from timebank.ledger.database import Desk
from timebank.window import corrections
from timebank.window.teller import OPERATIONS, allowance, borrow, sender_rules
from verify.robots import phrases, reading
from verify.simulate.below import some_trouble
from verify.simulate.duel_play import end_duels, play_duels
from verify.simulate.hosts import SECRET, Guest
from verify.simulate.house import next_change
from verify.simulate.inspection import STALE
from verify.simulate.people import Person
from verify.simulate.story import NOTICED, Story
from verify.simulate.tournament_play import (
    call_off_a_tournament,
    end_a_tournament,
    play_in_a_tournament,
)
from verify.simulate.wire import Wire
from verify.simulate.wrong import must

Happens = Callable[[Story], None]

DAY = timedelta(days=1)
SEEN = 6.0  # seconds until every process has looked at its clock


def choose(story: Story) -> Happens:
    """Choose the next event: mostly keys of callers."""
    if story.restores.is_restore_due:
        return restore_a_backup
    if story.restores.is_backup_due:
        return take_a_backup
    if story.is_led_astray and not story.wall.wrong and story.machine.disk.is_well:
        return set_right  # older books may bring mended days back
    on = sum(len(process.board.consoles) for process in story.processes)
    weights: dict[Happens, float] = {
        press: 75,
        call: 14 if on < story.nodes else 1,
        wait: 10,
        hang_up: 2,
        be_handed_over: 6 if len(story.doors) < story.nodes // 2 else 0.5,
        call_twice: 1,
        befall_a_relay: 1.5 if story.relayed() else 0,
        end_the_server_of_relays: 1 if story.relayed() else 0,
        wait_long: 0.5,
        meet_a_boundary: 0.5,
        set_the_clock: 0.5,
        let_the_clock_leap: 0.4,
        break_the_disk: 0.7,
        kill: 1,
        restart: 0.15,
        add_or_stop_a_process: 1.2 if len(story.processes) == 1 else 0.4,
        reload: 0.5,
        correct_an_account: 1.5,
        settle_a_doubt: 0.5,
        borrow_on_short_calls: 4,
        limit_themselves: 1.5,
        call_for_a_reason: 8,
        sit_out_an_event: 1.5,
        stay_closed_for_days: 0.4,
        draw_near_to_an_event: 2,
        write_for_accounts: 1.5,
        take_what_was_passed_on: 0.5,
    }
    if story.early:
        weights[start_or_take_back_an_event] = 3
    if story.savers:
        weights |= {save_on_short_calls: 8, meet_midnight: 8, freeze_or_open_an_account: 2}
    if story.company:
        weights |= {mute_or_let_speak: 1.5, play_in_a_tournament: 10, end_a_tournament: 4}
        weights |= {play_duels: 8, end_duels: 6, write_to_each_other: 6, break_the_disk: 2}
        weights |= {use_up_elsewhere: 2, call_without_time: 4, meet_an_event_without_time: 2}
        weights[call_off_a_tournament] = 0.1
    if story.relays:
        weights |= {be_handed_over: 20, hang_up: 5, kill: 4}
        weights |= {befall_a_relay: 5, end_the_server_of_relays: 5} if story.relayed() else {}
    if not story.machine.disk.is_well:
        weights[mend] = 25
    if story.wall.wrong or story.is_led_astray:
        weights[set_right] = 2
    if story.server is not None:
        weights |= {break_the_disk: 4, kill: 3, restart: 0.4}
        if not story.machine.disk.is_well:
            weights |= {mend: 12, kill: 6}
    if story.below is not None:
        weights |= {break_the_disk: 3, kill: 3, lose_power: 1.5, restart: 0.4}
        trouble = story.below.trouble
        if trouble is not None:
            lying = {mend: 2, lose_power: 8.5}
            weights |= lying if trouble.lies else {mend: 10, lose_power: 6.5, kill: 6}
    (happens,) = story.chance.choices(list(weights), list(weights.values()))
    return happens


# Callers.


def press(story: Story) -> None:
    """Let some callers read their screens and press keys, at the same moment."""
    on, chance = story.on_line(), story.chance
    if not on:
        call(story)
        return
    for person, wire in chance.sample(on, min(len(on), chance.randint(1, 20))):
        news = wire.screen.came != person.seen
        if not news and chance.random() < 0.8:
            continue
        person.seen = wire.screen.came
        keys = person.decides(wire.screen.prompt)
        if keys:
            _type(story, person, wire, keys.encode("ascii"))


def _type(story: Story, person: Person, wire: Wire, keys: bytes) -> None:
    chance = story.chance
    way = chance.random()
    if way < 0.012:  # the carrier is lost while they type
        sent = keys[: chance.randint(0, len(keys))]
        story.tell(f"{person.name} types {sent!r} and loses the carrier")
        wire.type(sent)
        if chance.random() < 0.5:
            wire.hang_up_in_peace()
        else:
            wire.lose()
        return
    if way < 0.024:  # or while they are answered
        wire.loses_after = chance.choice((1, 10, 100, 1000)) * chance.randint(1, 9)
        story.tell(f"{person.name} loses the carrier after {wire.loses_after} bytes")
    elif way < 0.03:
        wire.reads = False
    story.tell(f"{person.name} types {keys!r} at {wire.screen.prompt.strip()[-40:]!r}")
    wire.type(keys)


def call(story: Story) -> None:
    """Let a few callers who are off line call."""
    off = [person for person in story.people if person.wire is None]
    for person in story.chance.sample(off, min(len(off), story.chance.randint(1, 6))):
        _dial(story, person)


def call_twice(story: Story) -> None:
    """Let a caller who is on line call a second time."""
    on = story.on_line()
    if not on:
        return
    person, _ = story.chance.choice(on)
    if isinstance(person, Guest):
        _hand_over(story, person)
    else:
        _dial(story, person)


def be_handed_over(story: Story) -> None:
    """Let callers of other boards be handed over to us."""
    off = [guest for guest in story.guests if guest.wire is None]
    for guest in story.chance.sample(off, min(len(off), story.chance.randint(1, 4))):
        _hand_over(story, guest)


def _hand_over(story: Story, guest: Guest) -> None:
    if guest.kind.write is None:
        process = story.chance.choice(story.processes)
        story.tell(f"{guest.board} sends {guest.alias} to {process.name} by rlogin")
        header = RloginHeader(SECRET, guest.alias, guest.telephone.terminal, "", "")
        guest.wires.append(process.connect_board(guest.telephone, "192.0.2.7", header))
        return
    story.tell(f"{guest.board} hands over {guest.alias}")
    story.start_door(guest)


def _dial(story: Story, person: Person) -> None:
    address = f"192.0.2.{story.chance.randint(1, 250)}"
    process = story.chance.choice(story.processes)
    story.tell(f"{person.name} calls {process.name} from {address}")
    person.wires.append(process.connect(person.telephone, address))


def hang_up(story: Story) -> None:
    """Let some lose the carrier."""
    on = story.on_line()
    for person, wire in story.chance.sample(on, min(len(on), story.chance.randint(1, 4))):
        story.tell(f"{person.name} loses the carrier")
        wire.lose(story.chance.choice(("carrier lost", "SIGHUP", "SIGTERM")))


# Time.


def wait(story: Story) -> None:
    """Let a while pass."""
    _pass(story, story.chance.choice((0.3, 1, 2, 5, 15, 61)) * story.chance.uniform(0.5, 1.5))


def wait_long(story: Story) -> None:
    """Let time pass until callers are logged off."""
    _pass(
        story, story.chance.choice((200, 400, 1200, 4000, 20_000)[: 3 if story.is_brief else None])
    )


def meet_a_boundary(story: Story) -> None:
    """Wait, or have the machine sleep, until shortly before something changes."""
    now, schedule = story.now(), story.config.bank.schedule
    boundaries = [schedule.next_day(now)]
    closed = schedule.closed_at_or_after(now)
    if closed is not None:
        boundaries.append(closed.start if closed.start > now else closed.end)
    change = next_change(story.place, now)
    if change is not None:
        boundaries.append(change)
    before = story.chance.choice((3, 20, 100, 400, 1500))
    seconds = (story.chance.choice(boundaries) - now).total_seconds() - before
    if seconds <= 0:
        return
    # Stories about the disk spend no hours on idle time.
    if story.chance.random() < 0.5 or (story.is_brief and seconds > 600):
        _sleep(story, seconds)
    else:
        _pass(story, seconds)


def _sleep(story: Story, seconds: float) -> None:
    story.tell(f"the machine sleeps for {seconds:.0f} s")
    story.wall.sleep(seconds)
    story.calm_from = story.monotonic + NOTICED
    _pass(story, story.chance.choice((0.1, 4)))


def set_the_clock(story: Story) -> None:
    """Correct the wall clock by so little that the board trusts it at once.

    A larger error would hide it.
    """
    if story.wall.wrong or story.is_led_astray:
        return
    seconds = story.chance.choice((1, -1)) * story.chance.choice((1, 7, 60, 200))
    story.tell(f"the wall clock is corrected by {seconds:.0f} s")
    story.wall.step(seconds)
    story.calm_from = story.monotonic + NOTICED
    _pass(story, SEEN)


def let_the_clock_leap(story: Story) -> None:
    """Set the wall clock to a wrong time, for a while or for long."""
    if story.wall.wrong or story.is_led_astray:
        return
    seconds = story.chance.choice((1, -1)) * story.chance.choice((400, 7200, 90_000, 31_622_400))
    story.tell(f"the wall clock leaps by {seconds:.0f} s")
    story.wall.go_wrong(seconds)
    on = {screen.wire for screen in story.screens()}
    for door in story.doors:
        if door.wire not in on:  # the wrong clock says on which day its event is
            door.handed = replace(door.handed, until=None)
    _pass(story, story.chance.choice((0.1, 4, 20)))
    if story.chance.random() < 0.3:
        set_right(story)


def set_right(story: Story) -> None:
    """Correct the wall clock, and mend its effects once the board trusts it."""
    if story.is_led_astray and not story.machine.disk.is_well:
        return
    if story.wall.wrong:
        story.tell("the wall clock is set right")
        story.wall.go_wrong(-story.wall.wrong)
        story.counted["_leaps ended"] += 1
    if story.is_led_astray:
        _believe_and_mend(story)
    story.calm_from = story.monotonic + NOTICED
    _pass(story, SEEN)


def _believe_and_mend(story: Story) -> None:
    """Have the sysop confirm the clock and mend the effects of the wrong one."""
    story.tell("the sysop says so, and mends what it did")
    config, clock = story.config, story.clock()
    database = story.bare_books()
    try:
        with database.transaction(config.bank, clock.reading()) as desk:
            judgement = clock.believe(desk, "Sysop")
        clock.adopt(judgement)
        story.ahead, story.is_to_mend, story.watch.was_led_astray = 0.0, True, True
        _pass(story, SEEN)  # every process has the news
        with database.transaction(config.bank, clock.reading()) as desk:
            story.counted["_callers mended"] += len(clock_mend.mend(desk, "Sysop"))
            left = clock_mend.callers_ahead(desk)
            must(not left, "{} are still led astray", [each.name for each in left])
        story.is_to_mend = False
        story.posted_from = story.monotonic + STALE
        story.watch.early = (story.config.bank.schedule.day_of(clock.now()) + DAY).isoformat()
    finally:
        database.close()


def _pass(story: Story, seconds: float) -> None:
    story.tell(f"{seconds:.1f} s pass")
    story.let_pass(seconds)


# The disk and the processes.


def break_the_disk(story: Story) -> None:
    """Start a trouble of the disk, or lock it."""
    disk = story.machine.disk
    if not disk.is_well:
        return
    if disk.below is not None and story.chance.random() < 0.8:
        trouble = some_trouble(story.chance)
        story.tell(f"the disk {trouble.words}")
        disk.below.fail(trouble)
        return
    story.tell(disk.break_down(story.chance))


def mend(story: Story) -> None:
    """Make the books writable again."""
    story.tell("the books can be written again")
    story.mend()


def kill(story: Story) -> None:
    """Plan the death of a process: at an operation, or in a COMMIT."""
    planned = (each.mortal for each in story.lives())
    if any(each.dies_at or each.dies_committing or each.dies_talking for each in planned):
        return
    process = story.chance.choice(story.lives())
    mortal = process.mortal
    if story.relayed() and (process in story.relayed() or story.chance.random() < 0.3):
        mortal.dies_talking = story.chance.randint(1, 5)
        story.tell(f"{process.name} will be killed at packet {mortal.dies_talking} from here")
    elif story.chance.random() < 0.5:
        mortal.dies_at = mortal.operations + story.chance.randint(1, 200)
        story.tell(f"{process.name} will be killed at operation {mortal.dies_at}")
    else:
        mortal.dies_committing = story.chance.choice(("before", "within", "within", "after"))
        story.tell(f"{process.name} will be killed {mortal.dies_committing} a COMMIT")
    if story.below is not None and story.chance.random() < 0.5:
        story.tell("and all others with it: the power will be lost")
        story.below.loses_power = True


def befall_a_relay(story: Story) -> None:
    """Let a host end a door during a hand-over, report a window to it, or kill it."""
    doors = story.relayed()
    if not doors:
        return
    door = story.chance.choice(doors)
    way = story.chance.choice(("SIGWINCH", "SIGTERM", "SIGHUP", "SIGKILL"))
    story.tell(f"{door.name}, whose caller is at a server, gets {way}")
    story.counted[f"_{way} at relays"] += 1
    if way == "SIGKILL":
        door.mortal.dies_here()
    door.hear(Signals[way])


def end_the_server_of_relays(story: Story) -> None:
    """Stop the server that doors hand their callers over to, in peace; another one starts."""
    process = next((each for each in story.processes if story.is_for_doors(each)), None)
    if process is None or not story.machine.disk.is_well:
        return
    if story.chance.random() < 0.5:
        story.tell(f"{process.name}, to which doors lead callers, is drained")
        process.drain()
    _pass(story, story.chance.choice((0.3, 5, 70)))
    story.tell(f"{process.name}, to which doors lead callers, is stopped in peace")
    story.stop_process(process)
    story.serve_on()


def lose_power(story: Story) -> None:
    """Cut the power at once."""
    assert story.below is not None  # the disk below is simulated
    story.tell("the power is lost at once")
    story.below.loses_power = True
    story.chance.choice(story.processes).mortal.die()


def restart(story: Story) -> None:
    """Stop the board in peace, and start it again."""
    story.tell("the board is stopped in peace, and started again")
    story.restart()


def take_a_backup(story: Story) -> None:
    """Let the sysop take a backup."""
    story.tell("the sysop takes a backup")
    story.restores.take()


def restore_a_backup(story: Story) -> None:
    """Stop the board in peace, put a backup in the place of its books, and start it again."""
    story.tell("the board is stopped in peace, and its books are put back")
    story.restart(story.restores.put_back)
    story.inspection.audit()


def add_or_stop_a_process(story: Story) -> None:
    """Start a second server in the same books, or stop one of two.

    Books in a file have a single server: it stops, and the next one starts.
    """
    if story.server is None and story.machine.disk.is_well:
        process = story.processes[0]
        story.tell(f"{process.name} is stopped in peace, and another serves")
        story.stop_process(process)
        story.serve_on()
    elif len(story.processes) > 1:
        process = story.chance.choice(story.processes)
        story.tell(f"{process.name} is stopped in peace")
        story.stop_process(process)
    elif story.server is not None and story.machine.disk.is_well:
        story.tell("another process serves the same books")
        if not story.start_process():
            story.remove(story.processes[-1])
            story.serve_on()  # the other one may have died meanwhile


def reload(story: Story) -> None:
    """Change sysop.toml and have it read again, by one process after the other."""
    if story.chance.random() < 0.1:
        story.tell("sysop.toml is broken, and read again")
        story.toml.write_text("[board]\nnodes = 'many'\n", encoding="utf-8")
    else:
        story.tell("sysop.toml is changed, and read again")
        story.write_settings()
    for process in story.processes:
        process.reload()
    story.ears.errors = [each for each in story.ears.errors if "is wrong, the old" not in each[1]]
    story.calm_from = story.monotonic + NOTICED
    _pass(story, story.chance.choice((0.1, 4)))


def correct_an_account(story: Story) -> None:
    """Let the sysop correct an account from the command line, in a separate process."""
    known = [person for person in story.everybody() if person.is_known]
    if not known:
        return
    person = story.chance.choice(known)
    seconds = 60 * story.chance.choice((1, 30, 90, -1, -20))
    story.tell(f"the sysop adjusts {person.name} by {seconds} s")
    with story.command("which is refused", Refused) as desk:
        record = callers.find(desk, person.name)
        if record is not None:
            corrections.adjust(desk, record.id, seconds, "a correction", "sysop")


def settle_a_doubt(story: Story) -> None:
    """Let the sysop settle minutes in doubt, after asking the other board."""
    with story.command("a doubt cannot be settled") as desk:
        rows = [row for row in claims.outstanding_payments(desk) if row.state == "doubtful"]
        if rows:
            _settle(story, desk, story.chance.choice(rows))


def _settle(story: Story, desk: Desk, row: HostPayment) -> None:
    asked = text("SELECT claim FROM given_back WHERE number = :number")
    token = desk.connection.execute(asked, {"number": row.number}).scalar()
    if any(claim.token == token for door in story.doors for claim, _ in door.claims):
        return  # its door is slow, and the other board knows nothing yet
    arrived = story.written.get(token, False)
    is_of_old = token is None and story.restores.has_arrived(row.number)
    arrived = arrived or is_of_old
    story.tell(f"the sysop settles {row.minutes} min of {row.caller}: {arrived=}")
    if arrived:
        claims.confirm_payment(desk, row.number)
        (guest,) = [each for each in story.guests if (each.board, each.key) == _key_of(desk, row)]
        story.settled[guest] += row.minutes
        guest.given += row.minutes if is_of_old else 0
    else:
        claims.retry_payment(desk, row.number)


def _key_of(desk: Desk, row: HostPayment) -> tuple[str, str]:
    asked = text("SELECT board, board_key FROM callers WHERE id = :number")
    rows = desk.connection.execute(asked, {"number": row.caller_id}).one()
    return rows.board, rows.board_key


def write_to_each_other(story: Story) -> None:
    """Let some callers write to others who are on line."""
    on = story.on_line()
    for person, wire in story.chance.sample(on, min(len(on), 5)):
        if person.company is not None and reading.letters(wire.screen.prompt):
            _type(story, person, wire, person.company.command().encode("ascii"))


def mute_or_let_speak(story: Story) -> None:
    """Let the sysop mute some callers on line, or unmute all."""
    on = [person.name for person, _ in story.on_line()]
    some = story.chance.sample(on, min(len(on), 6))
    with story.command("nobody is muted") as desk:
        muted = desk.connection.execute(text(MUTED)).scalars().all()
        for number in muted:
            set_muted(desk, number, muted=False, by="Sysop")
        records = [] if muted else [callers.find(desk, name) for name in some]
        for record in records:
            if record is not None:
                set_muted(desk, record.id, muted=True, by="Sysop")
        story.tell("everybody may speak again" if muted else f"the sysop mutes {', '.join(some)}")


MUTED = "SELECT id FROM callers WHERE muted IS NOT NULL ORDER BY id"


# Events that lead to loans, held time and abandoned hands.


def borrow_on_short_calls(story: Story) -> None:
    """Let some callers borrow on a short call to another server and then call here."""
    owing = _on_short_calls(story, 12, _borrows)
    story.counted["_loans taken"] += len(owing)
    _dial_in_place_of_others(story, owing)


Visits = Callable[[Story, Desk, Person, OpenedCall], bool]


def _on_short_calls(story: Story, most: int, visits: Visits) -> list[Person]:
    """Let this many callers off line call another server; return those with a true `visits`.

    `visits` ends the call.
    """
    off = [person for person in story.people if person.is_known and person.wire is None]
    with story.command("nobody calls another server") as desk:
        calls = []
        for person in story.chance.sample(off, min(len(off), most)):
            call = _call_elsewhere(desk, person)
            if call is not None and visits(story, desk, person, call):
                calls.append(person)
        return calls
    return []


def _borrows(story: Story, desk: Desk, person: Person, call: OpenedCall) -> bool:
    seconds = allowance(desk, call.call_id)[borrow].seconds
    if seconds:
        borrow(desk, call.call_id, 0, story.chance.choice((60, seconds, seconds)))
        story.tell(f"{person.name} has borrowed on a short call")
    close_call(desk, call.call_id, 0, "log-off")
    return seconds > 0


def _call_elsewhere(desk: Desk, person: Person) -> OpenedCall | None:
    """Begin a call at another server; return None for a caller on line or unknown."""
    record = callers.find(desk, person.name)
    if record is None:
        return None
    try:
        return open_call(desk, record.id, 99, "elsewhere", "192.0.2.9", take_over=False)
    except Refused:  # the call just hung up continues
        return None


# Events that lead to days of earning and saving.

SAVES = {each.name: each for each in OPERATIONS if each is not sender_rules}


def save_on_short_calls(story: Story) -> None:
    """Let some callers use the bank's window on a short call to another server."""
    savers = _on_short_calls(story, 8, _saves)
    story.counted["_savers"] += len(savers)
    _dial_in_place_of_others(story, savers[:3])


def _saves(story: Story, desk: Desk, person: Person, call: OpenedCall) -> bool:
    done, chance = [], story.chance
    for way in chance.choices(list(SAVES), k=chance.randint(1, 4)):
        most = allowance(desk, call.call_id)[SAVES[way]].seconds
        if most:
            SAVES[way](desk, call.call_id, 0, chance.choice((60, most // 120 * 60 or 60, most)))
            done.append(way)
            story.counted[f"_{way}s of savers"] += 1
    close_call(desk, call.call_id, 0, "log-off")
    story.tell(f"{person.name} does at another server: {', '.join(done) or 'nothing'}")
    return bool(done)


def meet_midnight(story: Story) -> None:
    """Have the machine sleep until shortly before midnight; callers stay on, or leave a hand."""
    with story.watch.reading() as file:
        staking = {name for (name,) in file.execute(STAKING)}
    for person, wire in story.on_line():
        if person.name in staking and story.chance.random() < 0.7:
            wire.lose("carrier lost")
    now = story.now()
    before = (story.config.bank.schedule.next_day(now) - now).total_seconds()
    if before > 30:
        _sleep(story, before - 20)
    save_on_short_calls(story)
    _pass(story, 31)
    save_on_short_calls(story)


STAKING = """
SELECT c.name FROM callers c JOIN accounts a ON a.caller_id = c.id
WHERE a.balance > 0 AND a.unit = 'second' AND a.kind = 'stake'
"""


def freeze_or_open_an_account(story: Story) -> None:
    """Let the sysop freeze an account, or unfreeze one."""
    chance = story.chance
    with story.command("no account is frozen") as desk:
        frozen = desk.connection.execute(text(FROZEN)).scalars().all()
        if len(frozen) > 3:
            corrections.unfreeze(desk, chance.choice(frozen), "settled", "Sysop")
        else:
            others = desk.connection.execute(text(NOT_FROZEN)).scalars().all()
            if others:
                corrections.freeze(desk, chance.choice(others), "a dispute", "Sysop")
        story.tell("the sysop opens an account" if len(frozen) > 3 else "an account is frozen")


FROZEN = "SELECT id FROM callers WHERE frozen = 1 AND deleted IS NULL ORDER BY id"
NOT_FROZEN = "SELECT id FROM callers WHERE frozen = 0 AND deleted IS NULL ORDER BY id"


def limit_themselves(story: Story) -> None:
    """Let some callers set stricter or looser limits for themselves, as in their settings."""
    chance = story.chance
    known = [person for person in story.people if person.is_known]
    with story.command("nobody limits themselves") as desk:
        for person in chance.sample(known, min(len(known), 6)):
            record = callers.find(desk, person.name)
            if record is None:
                continue
            way = chance.random()
            if way < 0.7:
                minutes = chance.choice((2, 5, 10, 30, None))
                own_limits.limit_loss(desk, record.id, minutes)
            elif way < 0.85:
                own_limits.pause(desk, record.id, chance.choice((0, 0, 1, 3)))
            else:
                own_limits.set_hourly_summary(desk, record.id, chance.random() < 0.7)
            story.tell(f"{person.name} limits themselves")


def call_for_a_reason(story: Story) -> None:
    """Let some callers with a debt, held time or an open hand call."""
    with story.watch.reading() as file:
        names = {name for (name,) in file.execute(REASONS)}
    off = [person for person in story.people if person.wire is None and person.name in names]
    _dial_in_place_of_others(story, story.chance.sample(off, min(len(off), 6)))


def _dial_in_place_of_others(story: Story, people: Sequence[Person]) -> None:
    """Let these callers call and as many others hang up, because most nodes are taken."""
    with story.watch.reading() as file:
        concerned = {name for (name,) in file.execute(REASONS)}
    others = [wire for person, wire in story.on_line() if person.name not in concerned]
    for wire in story.chance.sample(others, min(len(others), len(people))):
        wire.lose("carrier lost")
    for person in people:
        _dial(story, person)


REASONS = """
SELECT c.name FROM callers c JOIN accounts a ON a.caller_id = c.id
WHERE a.balance <> 0 AND a.unit = 'second' AND a.kind IN ('loan', 'held', 'stake')
"""


def use_up_elsewhere(story: Story) -> None:
    """Let some callers use up their minutes at another server and then call here."""
    _dial_in_place_of_others(story, _on_short_calls(story, 4, _uses_up))


def _uses_up(story: Story, desk: Desk, person: Person, call: OpenedCall) -> bool:
    story.tell(f"{person.name} has used up their minutes elsewhere")
    close_call(desk, call.call_id, call.receipt.purse.online, "log-off")
    return True


def call_without_time(story: Story) -> None:
    """Let some callers without time call again, or a second time."""
    with story.watch.reading() as file:
        names = {name for (name,) in file.execute(WITHOUT_TIME)}
    some = [person for person in story.people if person.name in names]
    _dial_in_place_of_others(story, story.chance.sample(some, min(len(some), 3)))


def meet_an_event_without_time(story: Story) -> None:
    """Let the next event begin while a caller without time looks around."""
    if not any(phrases.GRACE_MENU.is_in(wire.screen.prompt) for _, wire in story.on_line()):
        call_without_time(story)
        return
    now = story.now()
    closed = story.config.bank.schedule.closed_at_or_after(now)
    if closed is None:
        return
    before = (closed.start - now).total_seconds()
    if before > 20:
        _sleep(story, before - 20)
    if before > 0:
        _pass(story, 26)


# Callers with uncharged minutes on their last day on line.
WITHOUT_TIME = """
SELECT c.name FROM callers c JOIN days d ON d.caller_id = c.id AND d.day = c.day
WHERE d.grace > 0 AND d.day = (SELECT max(day) FROM callers) AND c.board IS NULL
"""


def draw_near_to_an_event(story: Story) -> None:
    """Let the machine sleep until the next event limits callers' time, and let them play on."""
    now = story.now()
    closed = story.config.bank.schedule.closed_at_or_after(now)
    if closed is not None:
        before = 60 * story.chance.choice((5, 15, 30))
        seconds = (closed.start - now).total_seconds() - before
        if seconds > 0:
            _sleep(story, seconds)


def sit_out_an_event(story: Story) -> None:
    """Let the next event pass while the callers stay off line."""
    now, schedule = story.now(), story.config.bank.schedule
    closed = schedule.closed_at_or_after(now)
    if closed is None or (closed.end - now).total_seconds() > 12 * 3600:
        return
    before = (closed.start - now).total_seconds()
    if before > 30:
        _sleep(story, before - 20)
    over = (closed.end - story.now()).total_seconds() + 3
    if story.is_brief and over > 600:  # where it is the disk that matters
        _pass(story, 30)
        _sleep(story, over - 30)
    else:
        _pass(story, over)
    call_for_a_reason(story)


def start_or_take_back_an_event(story: Story) -> None:
    """Let the sysop start an event early, or cancel the one started."""
    chance = story.chance
    name, minutes = chance.choice(((None, None), (None, 15), ("Repairs", 2), ("Repairs", 90)))
    asked = EventAsked(name, minutes, chance.choice((1, 1, 5, 20)))
    takes_back = chance.random() < 0.3
    with story.command("no event is started early", EventRefused) as desk:
        if takes_back or events.early_event(desk) is not None:
            words = events.take_back(desk, "Sysop")
            story.counted["_events taken back"] += 1
        else:
            words = events.start(desk, asked, "Sysop").words
        story.tell(f"the sysop says: {words}")
        story.calm_from = story.posted_from = story.monotonic + STALE


def stay_closed_for_days(story: Story) -> None:
    """Stop the board in peace, with all hands that lie open, and start it a day or two later."""
    days = story.chance.choice((1, 2, 2))
    story.tell(f"the board stays closed for {days} days")

    def meanwhile() -> None:
        story.monotonic += days * 86_400 + story.chance.randrange(3600)

    story.restart(meanwhile)


# Other programs.


def write_for_accounts(story: Story) -> None:
    """Let another program write for accounts here; the board may take the file meanwhile."""
    story.tell("another program writes for accounts here")
    with story.post.writing([*story.names(), "nobody"], story.now()):
        _pass(story, story.chance.choice((0.1, 6, 40)))


def take_what_was_passed_on(story: Story) -> None:
    """Let the other bank take the records for it."""
    story.tell("the other bank takes what was passed on")
    story.post.take()
