"""Callers' rights in restored books: a restore gives no right back that was taken away.

The replaced books say which rights each caller had. Where they and the copy differ, the stricter
right holds, and the later password. A right given since the copy was taken, such as an SSH key or
the sysop's powers, is not given again: its owner or the sysop can do that.

The replaced books may themselves continue an older copy. So a caller's password, authenticator, SSH
keys and own limits are those of the copy if they were changed later there (callers/changes.py).

If the replaced books cannot be read, it is unknown which rights were taken away. Then SSH keys wait
until their owner has logged on with the password, and the command lists the other rights that are
as in the copy.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import select

from timebank.callers import (
    callers,
    changes,
    hearing,
    messages,
    own_limits,
    powers,
    recovery,
    second_step,
    ssh_keys,
)
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import add_notice
from timebank.callers.second_step import SecondStep
from timebank.keeping import caller_acts
from timebank.language import N_
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.own_limits import COLUMNS, OwnLimits
from timebank.ledger.schema import stamp
from timebank.ledger.sql import Prepared, change, columns_of, equal
from timebank.ledger.sqlite import dialect as sqlite
from timebank.window import corrections as window

# A caller's number and time of registration (seconds since 1970). The number alone may be another
# caller's if the books are another board's.
Key = tuple[int, int]

CODE_VOID = N_(
    "The board was restored from a backup, so your recovery code is void. You can make another in"
    " your settings."
)
KEYS_WAIT = N_(
    "The board was restored from a backup, so your SSH keys wait: they log you on again once you"
    " have logged on with your password."
)


class Rights(NamedTuple):
    """A caller's rights in the replaced books."""

    name: str
    password_hash: str
    locked: bool
    frozen: bool
    muted: bool
    has_powers: bool
    is_deleted: bool
    preferences: Mapping[str, object]
    own_limits: OwnLimits | None


_CALLERS = schema.callers


_NAMES = "id created name password_hash locked frozen powers deleted preferences muted"
_RIGHTS = Prepared(lambda: select(*columns_of(_CALLERS, _NAMES)))
_OWN_LIMITS = Prepared(lambda: select(schema.own_limits.c.caller_id, *COLUMNS))
_SET_PASSWORD = Prepared(lambda: change(_CALLERS, "password_hash", equal(_CALLERS.c.id)))


def rights_in(desk: Desk) -> dict[Key, Rights]:
    """Return the rights of all callers, in books of this version."""
    books = desk.connection
    return _rights(_RIGHTS(books).all(), _OWN_LIMITS(books).all())


def rights_in_file(old: sqlite3.Connection) -> dict[Key, Rights]:
    """Return the rights of all callers in a file. Raises sqlite3.DatabaseError."""
    return _rights(sqlite.run_prepared(old, _RIGHTS), sqlite.run_prepared(old, _OWN_LIMITS))


def _rights(rows: Iterable[Iterable[Any]], own: Iterable[Iterable[Any]]) -> dict[Key, Rights]:
    limits = {number: OwnLimits(*row) for number, *row in own}
    rights: dict[Key, Rights] = {}
    for number, created, name, hashed, *flags, preferences, muted in rows:
        locked, frozen, has_powers, deleted = (flag not in (None, 0) for flag in flags)
        rights[number, created] = Rights(
            *(name, hashed, locked, frozen, muted is not None, has_powers, deleted),
            *(json.loads(preferences), limits.get(number)),
        )
    return rights


def restrict(desk: Desk, before: Mapping[Key, Rights] | None, by: str) -> list[str]:
    """Restrict the callers of a restored copy to their rights in the replaced books.

    `before` are those rights, None if the replaced books cannot be read. All recovery codes become
    void, because some may have been used since. Returns sentences for the sysop with each change.
    """
    sentences = []
    codes = recovery.void_all(desk)
    for caller_id in codes:
        add_notice(desk, caller_id, CODE_VOID)
    if len(codes) == 1:
        sentences.append("Made 1 recovery code void: its owner can make another at Your settings.")
    elif codes:
        sentences.append(
            f"Made {len(codes)} recovery codes void: their owners can make others at Your settings."
        )
    sentences += _let_keys_wait(desk) if before is None else _Stricter(desk, before, by).sentences()
    holders = "; ".join(map(powers.numbered, powers.holders(desk)))
    if before is not None or not holders:
        return [*sentences, f"Sysop powers: {holders or 'nobody'}."]
    return [
        *sentences,
        f"Sysop powers: {holders}, as in the copy. Callers who lost them since have them again:"
        " `door callers revoke` takes them.",
    ]


def _let_keys_wait(desk: Desk) -> list[str]:
    owners = [record for record in callers.listing(desk) if ssh_keys.lines_of(record.preferences)]
    for record in owners:
        ssh_keys.suspend(desk, record.id)
        add_notice(desk, record.id, KEYS_WAIT)
    sentences = []
    if owners:
        names = "; ".join(map(powers.numbered, owners))
        sentences.append(
            "It is unknown which SSH keys were removed since. Those of these callers work again"
            f" after a log-on with the password: {names}."
        )
    sentences.append(
        "It is unknown what was changed since the copy. Passwords, locks, freezes, mutes and"
        " authenticators are those of the copy, and callers deleted since are back."
    )
    return sentences


class _Stricter:
    """Restricts each caller of the copy to the rights in the replaced books, and notes changes."""

    def __init__(self, desk: Desk, before: Mapping[Key, Rights], by: str) -> None:
        self._desk = desk
        self._by = by
        # Names of callers, by the template of the sentence about their change.
        self._changed: dict[str, list[str]] = defaultdict(list)
        now = {(record.id, stamp(record.created)): record for record in callers.listing(desk)}
        for key, record in now.items():
            if (rights := before.get(key)) is not None:
                self._apply(record, rights)
        for key, rights in before.items():
            if key not in now and not rights.is_deleted:
                self._changed[_GONE].append(f"{rights.name}, caller number {key[0]}")

    def sentences(self) -> list[str]:
        return [
            template.format(names="; ".join(names)) for template, names in self._changed.items()
        ]

    def _apply(self, record: CallerRecord, before: Rights) -> None:
        if before.is_deleted:
            self._note(_DELETED, record)
            self._lock(record, before)
            if record.powers:
                self._take_powers(record)
            return
        self._apply_locks(record, before)
        if record.powers and not before.has_powers:
            self._take_powers(record)
        elif before.has_powers and not record.powers:
            self._note(_NO_POWERS, record)
        later = changes.later(record.preferences, before.preferences)
        if record.board is None and before.password_hash != record.password_hash:
            self._apply_password(record, before, changes.PASSWORD in later)
        self._apply_keys(record, before.preferences, changes.KEYS in later)
        self._apply_second_step(record, before.preferences, changes.SECOND_STEP in later)
        messages.ignore_also(self._desk, record.id, hearing.ignored(before.preferences))
        if before.own_limits is not None:
            self._apply_own_limits(record, before.own_limits, changes.OWN_LIMITS in later)
        if changes.later(before.preferences, record.preferences):
            latest = changes.latest(record.preferences, before.preferences)
            callers.change_preferences(self._desk, record.id, latest)

    def _apply_locks(self, record: CallerRecord, before: Rights) -> None:
        """Lock, freeze and mute a caller who is so in either the copy or the replaced books."""
        desk, by, number = self._desk, self._by, record.id
        if before.locked:
            self._lock(record, before)
        if before.frozen and not record.frozen:
            window.freeze(desk, number, "as before the restore", by)
        if before.muted and not record.muted:
            caller_acts.set_muted(desk, number, True, by)
        for state, (word, way) in _STATES.items():
            was, is_so = getattr(before, state), getattr(record, state)
            if was and not is_so:
                self._note(f"{word}, as in the books before: {{names}}.", record)
            elif is_so and not was:
                other = "as in the copy, though not in the books before"
                self._note(f"{word}, {other}: {{names}}. {way}", record)

    def _lock(self, record: CallerRecord, before: Rights) -> None:
        if not record.locked:
            why = str(before.preferences.get(callers.WHY_OUT, ""))
            caller_acts.set_locked(self._desk, record.id, True, self._by, why)

    def _apply_password(self, record: CallerRecord, before: Rights, is_later: bool) -> None:
        self._note(_of(_PASSWORDS, is_later=is_later), record)
        if not is_later:
            _SET_PASSWORD(self._desk.connection, password_hash=before.password_hash, id=record.id)

    def _apply_keys(
        self, record: CallerRecord, before: Mapping[str, object], is_later: bool
    ) -> None:
        """Remove keys that are missing in the replaced books.

        Keys that were changed later in the copy wait for a log-on with the password instead.
        """
        desk, number = self._desk, record.id
        lines = ssh_keys.lines_of(record.preferences)
        if is_later and lines:
            # Neither the copy nor the replaced books say which of them were removed since.
            ssh_keys.suspend(desk, number)
            add_notice(desk, number, KEYS_WAIT)
            self._note(_KEYS_OF_COPY, record)
            return
        for line in lines:
            if not any(ssh_keys.is_same(line, each) for each in ssh_keys.lines_of(before)):
                ssh_keys.take_away(desk, number, line)
                self._note(_KEYS, record)
        if ssh_keys.are_suspended(before):
            ssh_keys.suspend(desk, number)

    def _apply_second_step(
        self, record: CallerRecord, before: Mapping[str, object], is_later: bool
    ) -> None:
        """Require an authenticator that either books have, and accept none of its codes twice."""
        step, was = second_step.of_caller(record), second_step.in_preferences(before)
        chosen = step if is_later or was is None else was
        if chosen is not None:
            last = max(each.last for each in (step, was) if each is not None)
            if (step_to_keep := SecondStep(chosen.secret, last)) != step:
                second_step.keep(self._desk, record.id, step_to_keep)
        if (step and step.secret) == (was and was.secret):
            return
        if is_later:
            self._note(_NO_STEP if step is None else _of(_STEPS, is_later=True), record)
        else:
            self._note(_STILL_STEP if was is None else _of(_STEPS, is_later=False), record)

    def _apply_own_limits(self, record: CallerRecord, before: OwnLimits, is_later: bool) -> None:
        """Put back the limits of the replaced books, whose looser ones have passed their delay."""
        of_copy = own_limits.current(self._desk, record.id)
        own_limits.put_back(self._desk, record.id, before)
        now = own_limits.current(self._desk, record.id)
        if is_later:
            own_limits.put_back(self._desk, record.id, of_copy)
        if now._replace(told=None) != of_copy._replace(told=None):
            self._note(_of(_OWN, is_later=is_later), record)

    def _take_powers(self, record: CallerRecord) -> None:
        powers.revoke(self._desk, record.id, self._by)
        self._note(_POWERS, record)

    def _note(self, template: str, record: CallerRecord) -> None:
        name = powers.numbered(record)
        if name not in self._changed[template]:
            self._changed[template].append(name)


_DELETED = (
    "Locked out, because they were deleted since: {names}. `door callers delete` deletes them"
    " again, and `door callers unlock` lets them in."
)
# What else a caller can be in either books, and how the sysop takes it back.
_STATES = {
    "locked": ("Locked out", "`door callers unlock` lets them in."),
    "frozen": ("Frozen", "`timebank unfreeze` opens their accounts."),
    "muted": ("Muted", "`door callers unmute` lets them speak."),
}
_POWERS = (
    "Took the sysop's powers from {names}: they had none in the books before. `door callers grant`"
    " gives them."
)
_NO_POWERS = (
    "Without the sysop's powers, as in the copy, though they have them in the books before:"
    " {names}. `door callers grant` gives them."
)
_PASSWORDS = "Their passwords are those of {}: {{names}}. `door callers password` sets another."
_KEYS = "Removed SSH keys that are not in the books before: {names}."
_KEYS_OF_COPY = (
    "Their SSH keys are those of the copy, where they were changed last, and work once their owner"
    " has logged on with the password: {names}."
)
_STEPS = "The pages ask for the authenticators of {}: {{names}}."
_STILL_STEP = (
    "The pages ask for the authenticators of the copy, though the books before have none: {names}."
)
_NO_STEP = (
    "The pages ask for no authenticator, as in the copy, where it was turned off last: {names}."
)
_OWN = "Their own limits are those of {}: {{names}}."
_GONE = "In the books before, and not in these: {names}."


def _of(template: str, *, is_later: bool) -> str:
    """Fill in which books have it; `is_later` if it was changed later in the copy."""
    of_copy = "the copy, where they were changed last"
    return template.format(of_copy if is_later else "the books before")
