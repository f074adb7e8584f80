"""Checks after every step: books, purses, screens, and callers on line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from door.call.caller import Caller
from door.games import hand_check
from tests.timebank import adding_up
from timebank.ledger.database import Database, Desk
from timebank.ledger.sqlite.database import SqliteDatabase
from verify.simulate import shown
from verify.simulate.deals import Deals
from verify.simulate.delivered import Delivered
from verify.simulate.duels import Duels
from verify.simulate.hosts import Guest
from verify.simulate.life import Life
from verify.simulate.own_limits import OwnLimits
from verify.simulate.people import Person
from verify.simulate.rules_of_time import Rules, RulesOfTime
from verify.simulate.second_account import given, given_by_claims
from verify.simulate.told import AT_DEALS, Told
from verify.simulate.tournaments import Tournaments
from verify.simulate.uncharged import Uncharged
from verify.simulate.wire import Wire
from verify.simulate.world import Screen, World
from verify.simulate.wrong import must

Look = Callable[[Person, Wire, Caller], None]

AUDIT_STEPS = 400
ABOUT = timedelta(minutes=30)  # by which clocks that are believed may differ
JUST_NOW = 0.021  # seconds: a beat of the callers' clocks, and a moment
# Seconds until a caller learns of another process's changes to their account, which are read once
# a minute.
STALE = 75.0


class Inspection:
    """Compares the world with the invariants."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.journal = shown.Journal()
        self.phrases_ever = set[str]()  # that callers had for their shuffles
        self.told = Told(world.counted)
        self.time = RulesOfTime(world.counted)
        self.own_limits = OwnLimits(world.counted)
        self.uncharged = Uncharged(world.counted)
        self.deals = Deals(world.counted, world.deals_ever)
        self.delivered = Delivered(world.counted, world.letters)
        self.tournaments = Tournaments(world.counted)
        self.duels = Duels(world.counted)
        self._doubted = 0  # leaps that had ended at the last look
        self._eyes: dict[Path, Database] = {}
        self._stale: dict[int, float] = {}  # since when a call's purse is not that of the books

    def forget(self) -> None:
        """Forget screens and books, which were restored."""
        self.journal = shown.Journal()
        self.told = Told(self.world.counted)
        self.time = RulesOfTime(self.world.counted, knows_all=False)
        self.own_limits = OwnLimits(self.world.counted)
        self.uncharged = Uncharged(self.world.counted)
        self._forget_company()
        self._stale.clear()

    def _forget_company(self) -> None:
        world = self.world
        self.deals = Deals(world.counted, world.deals_ever)
        self.delivered = Delivered(world.counted, world.letters)
        self.tournaments = Tournaments(world.counted)
        self.duels = Duels(world.counted)

    def remember_rules(self, dead: Life) -> None:
        """Let a killed process count as having followed its own rules of time until then."""
        self.time.rules |= {_rules_of(dead)}

    def after_step(self, began: float) -> None:
        """Check everything that can be checked at any moment."""
        world = self.world
        self._check_log()
        world.watch.step(began, world.monotonic, world.latest_day())
        with world.watch.reading() as file:
            self.own_limits.step(file)
            self._check_company(file)
            self._check_uncharged(file)
        with self._looking() as look:
            for screen in world.screens():
                self._check_purse(screen)
                self._look_once(look, screen.person, screen.wire, screen.caller)
        self._check_calls()
        self._learn_names()
        if world.number % AUDIT_STEPS == 0:
            self.audit()
        if world.post.has_taken:
            with world.watch.reading() as file:
                world.post.nothing_went_twice(file)
        self._check_hosts()
        came = sum(wire.screen.came for person in world.everybody() for wire in person.wires)
        world.shelf.update(f"{world.monotonic:.4f} {world.watch.last} {came}".encode())

    def after_kill(self, began: float, screens: Sequence[Screen], copy: Path | None = None) -> None:
        """Check the traces of a killed process: nothing durable is lost, nothing else was shown.

        It looks in the books, or in a copy of them.
        """
        world = self.world
        world.watch.nothing_is_lost()
        world.watch.step(began, world.monotonic, world.latest_day())
        with world.watch.reading() as file:
            self._check_company(file)
        self.audit(copy)
        with self._looking(copy) as look:
            for screen in screens:
                look(screen.person, screen.wire, screen.caller)

    def begins_again(self, file: sqlite3.Connection) -> None:
        """Trust the books, which have lost their end to a lying disk."""
        world = self.world
        self.journal, self.told = shown.Journal(), Told(world.counted)
        self.told.learn(file)
        self.time = RulesOfTime(world.counted, knows_all=False)
        self.own_limits = OwnLimits(world.counted)
        self.uncharged = Uncharged(world.counted)
        self._forget_company()
        self._stale.clear()
        world.back.clear()
        for guest in world.guests:
            row = file.execute(WHO, (guest.board, guest.key)).fetchone()
            minutes = 0 if row is None else given_by_claims(file, *row, world.written)
            world.settled[guest] = guest.given - minutes

    def at_the_end(self) -> None:
        """Check that every caller who left is gone."""
        must(not self.world.doors, "{} doors are left", len(self.world.doors))
        for process in self.world.processes:
            board = process.board
            must(not process.sessions, "{} sessions are left", len(process.sessions))
            must(not board.nodes, "nodes {} are left", board.nodes)
            must(not board.consoles, "{} consoles are left", len(board.consoles))
        self.audit()
        self._check_days()
        self._check_post()
        self.deals.nothing_tells_the_seed(self.world.folder, self.world.config.database)

    def audit(self, copy: Path | None = None) -> None:
        """Run `timebank audit` and `door audit`: the first, and every hand replayed."""
        findings = self.findings(copy)
        must(not findings, "the audit: {}", findings)

    def findings(self, copy: Path | None = None) -> list[str]:
        """Return the findings of the audits in the books, or in a copy of them."""
        config = self.world.config
        database = self.world.bare_books(copy)
        try:
            with database.reading(config.bank, self.world.now()) as desk:
                findings, _ = hand_check.audit(desk)
        finally:
            database.close()
        self.world.counted["audit"] += 1
        return [str(finding) for finding in findings]

    # The parts.

    def _check_time(self, file: sqlite3.Connection) -> None:
        """Every new entry keeps to the rules of time."""
        world = self.world
        rules = {Rules.of(world.loaded.bank), *map(_rules_of, world.lives())}
        self.time.step(file, rules, world.readings)

    def _check_company(self, file: sqlite3.Connection) -> None:
        """Deals and messages are as they were, and go on as they may."""
        world = self.world
        days = self._days_that_go_on()
        self.deals.step(file, days)
        now = (world.really() + ABOUT).timestamp() if days else None
        self.tournaments.step(file, now)
        self.duels.step(file, now)
        well = self._has_been_well() and world.monotonic > world.calm_from
        self.delivered.step(file, world.screens(), world.monotonic if well else None)

    def _check_uncharged(self, file: sqlite3.Connection) -> None:
        """Check that no caller without time is served longer than the books have counted."""
        world = self.world
        on = [screen.caller for screen in world.screens()]
        is_calm = world.monotonic > world.calm_from and not (
            world.is_led_astray or world.wall.wrong
        )
        self.uncharged.step(file, on, world.monotonic, is_calm=is_calm)

    def _days_that_go_on(self) -> frozenset[str]:
        """Return the day that all processes have had since the last look, if it is certain."""
        world = self.world
        doubted, self._doubted = self._doubted, world.counted["_leaps ended"]
        now, zone = world.really(), ZoneInfo(world.place.zone)
        days = {(now + each).astimezone(zone).date().isoformat() for each in (-ABOUT, ABOUT)}
        in_doubt = world.is_led_astray or world.wall.wrong or doubted != self._doubted
        return frozenset(days) if len(days) == 1 and not in_doubt else frozenset()

    def _check_log(self) -> None:
        """Check that the log has only expected messages, and no errors while all is well."""
        world = self.world
        problems = [*world.machine.loop.problems, *world.ears.failures]
        must(not problems, "{}", "\n".join(problems))
        texts = [text for at, text in world.ears.errors if at >= world.well_from]
        if not self._has_been_well():
            texts.clear()
        world.ears.errors.clear()
        must(not texts, "the log says: {}", texts)

    def _check_calls(self) -> None:
        """No call is served twice, in one process or in two."""
        calls = [screen.caller.call_id for screen in self.world.screens()]
        must(len(set(calls)) == len(calls), "calls are there twice: {}", calls)

    def _check_hosts(self) -> None:
        """Check that nothing is given back twice or falsely reported."""
        world = self.world
        if not world.back:
            return
        with world.watch.reading() as file:
            for guest in world.back:
                if world.doors_of(guest):  # on another visit, whose minutes are read at its end
                    continue
                row = file.execute(WHO, (guest.board, guest.key)).fetchone()
                if row is not None:
                    given(file, *row, guest.given, world.settled[guest], world.written)
        world.back.clear()

    def _check_days(self) -> None:
        """Check that the days of every caller add up, in the sentence, statement and ledger."""
        config = self.world.config
        database = self.world.bare_books()
        try:
            with database.reading(config.bank, self.world.now()) as desk:
                self.world.counted["terms of days"] += adding_up.check(desk)
        finally:
            database.close()

    def _check_post(self) -> None:
        """Check that records of other programs arrived once, and those for them left once."""
        post = self.world.post
        post.take()
        with self.world.watch.reading() as file:
            post.nothing_went_twice(file)
            if any(process.board.config.bank.imports for process in self.world.processes):
                post.all_have_come(file)

    def _check_purse(self, screen: Screen) -> None:
        """Check that a purse is the books' balance, less the time since."""
        caller, wire = screen.caller, screen.wire
        world, name = self.world, caller.record.name
        if not self._has_been_well():
            self._stale.clear()
            return
        with world.watch.reading() as file:
            row = file.execute(PURSE, (caller.call_id,)).fetchone()
        if row is None:  # their call is closed, and the notice is on its way
            return
        online, ticked = row
        left = max(0, online - max(0, caller.purse.ticked() - ticked))
        if caller.purse.spendable() != left:
            since = self._stale.setdefault(caller.call_id, world.monotonic)
            alone = len(world.processes) == 1
            alone = alone and world.monotonic > max(world.calm_from, world.posted_from)
            alone = alone and not isinstance(screen.person, Guest)
            is_old = world.monotonic - since > STALE
            must(not (alone or is_old), "{} has {}, not {}", name, left, caller.purse.spendable())
            return
        self._stale.pop(caller.call_id, None)
        shown_time = shown.time_left(wire.screen)
        is_told = wire.telephone.paints and not wire.closed and not caller.status.waits
        is_told = is_told and not shown.is_on_its_way(caller.console, world.monotonic)
        second_begins = caller.purse.on_for() % 1 < JUST_NOW  # its tick is due
        if shown_time is not None and is_told and not second_begins:
            left_to_stay = caller.purse.time_left()
            must(
                shown_time == left_to_stay,
                "{} sees {} left, not {}",
                name,
                shown_time,
                left_to_stay,
            )
            must(shown_time <= left, "{} sees {} left, and has {}", name, shown_time, left)
        to_event = caller.purse.seconds_to_event()
        if to_event is not None and world.monotonic > world.calm_from:
            must(left <= to_event + 2, "{} has {}, {} to the event", name, left, to_event)
        if isinstance(screen.person, Guest):
            self._check_stay(screen, screen.person)

    def _check_stay(self, screen: Screen, guest: Guest) -> None:
        """Check that no caller exceeds their board's limit or has time past its event."""
        doors = self.world.doors_of(guest)
        handed = next((door.handed for door in doors if door.wire is screen.wire), None)
        if handed is None:
            return
        left, spendable = screen.caller.purse.time_left(), screen.caller.purse.spendable()
        if handed.ends is not None:
            most = handed.ends - self.world.monotonic + 1
            must(left <= max(0, most), "{} has {}, their board {}", guest.name, left, most)
        if handed.until is not None and self.world.monotonic > self.world.calm_from:
            most = (handed.until - self.world.now()).total_seconds() + 2
            must(spendable <= max(0, most), "{} has {}, {} to go", guest.name, spendable, most)

    def _look_once(self, look: Look, person: Person, wire: Wire, caller: Caller) -> None:
        """Look at a screen when something has come on it."""
        if wire.screen.came != wire.looked_at:
            look(person, wire, caller)
            wire.looked_at = wire.screen.came

    @contextmanager
    def _looking(self, copy: Path | None = None) -> Iterator[Look]:
        """Compare the books, or a copy, with the rules of time.

        Returns the comparison of a screen with them.
        """
        config = self.world.config
        where = copy or self.world.watch.path
        eyes = self._eyes.get(where)
        if eyes is None:
            eyes = self._eyes[where] = SqliteDatabase(where, busy_seconds=0)
        try:
            with (
                self.world.watch.reading() as file,
                eyes.reading(config.bank, self.world.now()) as desk,
            ):
                self._check_time(file)
                self.told.learn(file)
                self.phrases_ever |= shown.callers_phrases(file)
                yield lambda person, wire, caller: self._look(file, desk, person, wire, caller)
        finally:
            eyes.close()

    def _look(
        self, file: sqlite3.Connection, desk: Desk, person: Person, wire: Wire, caller: Caller
    ) -> None:
        """Check that a caller's screen shows only what is in the books."""
        painted = caller.console.screen.is_painted
        paints = painted or person.telephone.paints
        seals = shown.seals_are_kept(wire.screen, file, self.phrases_ever, paints=paints)
        self.world.counted["seals and seeds seen"] += seals
        record, at_deal = caller.record, caller.place in AT_DEALS
        self.told.listen(record.id, record.name, wire, paints=paints, place=caller.place)
        self.delivered.listen(record.name, caller.call_id, wire, paints=paints)
        self.deals.is_kept_secret(person.name, wire.screen)
        if at_deal and (painted or not caller.console.screen.can_paint):
            self.deals.lies_there(record.name, record.id, wire.screen, paints=painted)
        game = shown.NAMES.get(caller.place)
        if game is None or (
            caller.console.screen.can_paint and not painted
        ):  # they have left the table
            return
        shown_cards = shown.cards(game, wire.screen, paints=painted)
        if shown_cards:
            # Cards of one of two tables, or on a call just taken over by another process, may be
            # older than the last two rounds.
            alone = game != "vegas" and len(person.wires) == 1
            # Scrolling lines may still show the table left a moment ago.
            games = [game] if painted else [game, *set(shown.NAMES.values()) - {game}]
            lie = [
                cards
                for each in games
                for cards in self.journal.cards(desk, caller.record.id, each, 2 if alone else 200)
            ]
            known = any(shown_cards <= cards for cards in lie)
            picture = wire.screen.picture
            must(
                known, "{} sees {} at {}, not {}\n{}", person.name, shown_cards, game, lie, picture
            )
            self.world.counted["hands seen"] += 1

    def _learn_names(self) -> None:
        """Inform people that the board has their names."""
        with self.world.watch.reading() as file:
            names = {name for (name,) in file.execute("SELECT name FROM callers")}
        for person in self.world.people:
            person.is_known = person.name in names

    def _has_been_well(self) -> bool:
        world = self.world
        return world.machine.disk.is_well and world.monotonic >= world.well_from


def _rules_of(life: Life) -> Rules:
    config = life.board.config if hasattr(life, "board") else life.config
    return Rules.of(config.bank)


WHO = "SELECT id FROM callers WHERE board = ? AND board_key = ?"
PURSE = (
    "SELECT a.balance, k.ticked FROM calls k JOIN accounts a ON a.caller_id = k.caller_id"
    " AND a.kind = 'online' WHERE k.id = ? AND k.closed IS NULL"
)
