"""Callers: their names, passwords and preferences. Their minutes are in the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Update, bindparam, func, or_, select
from sqlalchemy.exc import IntegrityError

from timebank.callers import changes
from timebank.errors import NameTaken, Refused, UnknownCaller
from timebank.language import N_, Phrase
from timebank.ledger import dialects, sql
from timebank.ledger.database import Desk
from timebank.ledger.schema import CALLER_ACCOUNTS, callers, instant, stamp
from timebank.ledger.sql import Prepared, Query, Reader, change, equal, value
from timebank.ledger.transfers import open_account
from timebank.names import look_alikes, names
from timebank.settings.quoting import printable


@dataclass(frozen=True, slots=True)
class CallerRecord:
    """A caller as the books know them."""

    id: int
    name: str
    password_hash: str = field(repr=False)
    # The sysop has locked them out.
    locked: bool
    created: datetime
    last_call: datetime | None
    preferences: dict[str, Any]
    # The sysop has frozen their account in the bank.
    frozen: bool
    # For a caller of another board: its name, and what it knows them by. None for our own.
    board: str | None
    board_key: str | None
    # The caller has the sysop's powers (powers.py).
    powers: bool
    # The sysop lets them say nothing to others.
    muted: bool = False
    # They may not bet before the sysop has approved them, where the board asks for that.
    waits: bool = False
    # When the sysop deleted them, who can bring them back (deletion.py).
    deleted: datetime | None = None

    @property
    def why_out(self) -> str:
        """The sysop's reason why they are locked out or deleted, or ""."""
        return str(self.preferences.get(WHY_OUT, ""))


_NO_PASSWORD = N_("{name} is a caller of {board}: there is no password to set.")
_NO_NAME = N_("{name} is a caller of {board}: there is no name to set.")
WHY_OUT = "why_out"  # the preference with the sysop's reason
# The preference with the public keys that log a caller on (ssh_keys.py).
SSH_KEYS = "ssh_keys"

LONGEST_NUMBER = 18  # digits of a caller's number
MOST_LIKELY = 4  # names that are suggested

_LIVING = callers.c.deleted.is_(None)
_ENTER = Prepared(
    lambda: sql.insert_into(
        callers,
        "name fold skeleton password_hash created board board_key waits",
        locked=0,
        preferences="{}",
    )
)


def _records(*where: ColumnElement[bool]) -> Query:
    columns = (callers.c[each.name] for each in fields(CallerRecord))
    return select(*columns).where(*where)


def _changed_to(columns: str, *where: ColumnElement[bool], **fixed: Any) -> Update:
    return change(callers, columns, equal(callers.c.id), _LIVING, *where, **fixed)


_FIND = Prepared(lambda: _records(_LIVING, equal(callers.c.fold)))
_FIND_HIDDEN = Prepared(
    lambda: (
        _records(equal(callers.c.fold), callers.c.deleted.is_not(None), callers.c.removed.is_(None))
        .order_by(callers.c.deleted.desc())
        .limit(1)
    )
)
_GET = Prepared(lambda: _records(_LIVING, equal(callers.c.id)))
_GET_EVER = Prepared(lambda: _records(equal(callers.c.id)))
_LISTING = Prepared(lambda: _records(_LIVING).order_by(sql.by_name(callers.c.name)))
_STATES = Prepared(
    lambda: select(callers.c.id, callers.c.frozen, callers.c.locked, callers.c.deleted).where(
        callers.c.removed.is_(None),
        or_(callers.c.frozen != 0, callers.c.locked != 0, callers.c.deleted.is_not(None)),
    )
)
_COUNT: Reader[int] = value(lambda: select(func.count()).select_from(callers).where(_LIVING))
_NUMBER: Reader[int] = value(
    lambda: (
        select(callers.c.id)
        .where(equal(callers.c.fold))
        .order_by(callers.c.deleted.is_not(None), callers.c.deleted.desc())
    )
)
_NAMES = Prepared(lambda: select(callers.c.fold, callers.c.name).where(_LIVING))
_NAME: Reader[str] = value(lambda: select(callers.c.name).where(equal(callers.c.id)))
_SET_LOCKED = Prepared(lambda: _changed_to("locked"))
_SET_MUTED = Prepared(lambda: _changed_to("muted"))
_WAITING = Prepared(
    lambda: select(callers.c.name).where(_LIVING, callers.c.waits.is_not(None)).order_by("waits")
)
_APPROVE = Prepared(lambda: _changed_to("", waits=None))
_SET_POWERS = Prepared(lambda: _changed_to("powers"))
_SET_PASSWORD = Prepared(lambda: _changed_to("password_hash", recovery_digest=None))
_RENEW_PASSWORD = Prepared(
    lambda: _changed_to("password_hash", callers.c.password_hash == bindparam("old"))
)
_SET_PREFERENCES = Prepared(lambda: _changed_to("preferences"))
_RENAME = Prepared(lambda: _changed_to("name fold skeleton"))
_BRING_BACK = Prepared(
    lambda: change(
        *(callers, "name fold skeleton", equal(callers.c.id), callers.c.removed.is_(None)),
        deleted=None,
    )
)


def register(desk: Desk, name: str, password_hash: str) -> CallerRecord:
    """Register a new caller with empty accounts.

    Raises `names.NameRefused` for an invalid name, and `NameTaken` if another caller has this name
    or a similar one, or if sysop.toml reserves it.
    """
    checked_name = names.check(name)
    if desk.settings.reserves(checked_name):
        raise _taken(checked_name)
    return _enter(desk, checked_name, password_hash, waits=desk.settings.approval)


def is_free(desk: Desk, name: str) -> bool:
    """Return whether `register` would accept a name now. Raises `names.NameRefused`."""
    checked_name = names.check(name)
    holder = look_alikes.holder(dialects.runner(desk.connection), checked_name)
    return holder is None and not desk.settings.reserves(checked_name)


def register_kept(desk: Desk, name: str, password_hash: str, *, powers: bool) -> CallerRecord:
    """Register a caller under a name that may be reserved, with or without the sysop's powers.

    Only the sysop's commands may call this. Raises as `register` does.
    """
    record = _enter(desk, names.check(name), password_hash)
    return _changed(desk, _SET_POWERS, record.id, powers=int(powers))


def register_of_board(desk: Desk, name: str, board: str, key: str) -> CallerRecord:
    """Register a caller of another board, who has no password. arrival.host_caller makes `name`.

    Raises `NameTaken`, also if the board has a caller with this key.
    """
    return _enter(desk, name, "", board, key)


def _enter(
    desk: Desk,
    checked_name: str,
    password_hash: str,
    board: str | None = None,
    key: str | None = None,
    *,
    waits: bool = False,
) -> CallerRecord:
    if look_alikes.holder(dialects.runner(desk.connection), checked_name) is not None:
        raise _taken(checked_name)
    try:
        caller_id = _ENTER.insert(
            desk.connection,
            name=checked_name,
            fold=names.fold(checked_name),
            skeleton=look_alikes.key(checked_name),
            password_hash=password_hash,
            created=stamp(desk.now),
            board=board,
            board_key=key,
            waits=stamp(desk.now) if waits else None,
        )
    except IntegrityError as error:
        raise _taken(checked_name) from error
    for kind in CALLER_ACCOUNTS:
        open_account(desk, kind, "second", caller_id=caller_id)
    return get(desk, caller_id)


def find(desk: Desk, name: str) -> CallerRecord | None:
    row = _FIND(desk.connection, fold=names.fold(name)).first()
    return None if row is None else _record(row)


def find_hidden(desk: Desk, name: str) -> CallerRecord | None:
    """Find the deleted caller of a name who was deleted last and can be brought back."""
    row = _FIND_HIDDEN(desk.connection, fold=names.fold(name)).first()
    return None if row is None else _record(row)


def number_in(typed: str) -> int | None:
    """Return the number in "#12"; None if the text is no number of a caller."""
    number = typed.removeprefix("#")
    is_number = number != typed and number.isascii() and number.isdecimal()
    return int(number) if is_number and len(number) < LONGEST_NUMBER else None


def named(desk: Desk, typed: str) -> CallerRecord:
    """Return the caller with a name, or with a number ("#12"). Raises `UnknownCaller`."""
    number = number_in(typed)
    if number is not None:
        return get(desk, number)
    record = find(desk, typed) if typed.isprintable() else None
    if record is None:
        raise unknown(desk, typed)
    return record


def unknown(desk: Desk, typed: str) -> UnknownCaller:
    """Return the refusal of a name that no caller has, with names that are like it."""
    words = N_("There is no caller named {name}. `timebank accounts` lists them all.")
    if close := likely(desk, typed):
        words = N_("There is no caller named {name}. Do you mean {names}?")
    return UnknownCaller(Phrase(words, name=printable(typed), names=close))


def likely(desk: Desk, typed: str) -> str:
    """Return the names that are like a name that no caller has, those that begin so first.

    If there is none, return the names that look the same, or begin with the same three letters.
    """
    known = {row.fold: row.name for row in _NAMES(desk.connection)}
    begins, look = names.fold(typed), names.skeleton(typed)
    close = names.near(typed, known) or [
        key
        for key, name in known.items()
        if names.skeleton(name) == look or (begins and key.startswith(begins[:3]))
    ]
    close.sort(key=lambda key: (not key.startswith(begins), key))
    return ", ".join(known[key] for key in close[:MOST_LIKELY])


def nobody(desk: Desk, typed: str, otherwise: str) -> Phrase:
    """Return the same for a caller's screen, `otherwise` if no name is like the one typed."""
    close = likely(desk, typed)
    if not close:
        return Phrase(otherwise)
    return Phrase("There is no caller of that name. Do you mean {names}?", names=close)


def number_named(desk: Desk, typed: str) -> int:
    """Return the number of a caller, given as such or as a name. Raises `UnknownCaller`.

    The caller may be deleted.
    """
    number = number_in(typed) or _NUMBER.first(desk.connection, fold=names.fold(typed))
    if number is None or even_if_deleted(desk, number) is None:
        raise unknown(desk, typed)
    return number


def name_of(desk: Desk, caller_id: int) -> str:
    return _NAME.one(desk.connection, id=caller_id)


def get(desk: Desk, caller_id: int) -> CallerRecord:
    """Return a caller by number. Raises `UnknownCaller`, also for a deleted one."""
    row = _GET(desk.connection, id=caller_id).first()
    if row is None:
        raise UnknownCaller(Phrase("There is no caller number {number}.", number=caller_id))
    return _record(row)


def even_if_deleted(desk: Desk, caller_id: int) -> CallerRecord | None:
    row = _GET_EVER(desk.connection, id=caller_id).first()
    return None if row is None else _record(row)


def listing(desk: Desk, part: str = "") -> list[CallerRecord]:
    """Return the living callers by name, or those whose names contain `part` in any spelling."""
    plain, key = part.casefold(), names.fold(part)
    records = map(_record, _LISTING(desk.connection))
    return [
        each for each in records if plain in each.name.casefold() or key in names.fold(each.name)
    ]


def states(desk: Desk) -> dict[int, list[str]]:
    """Return the states by caller number, without callers who have none."""
    return {
        row.id: [word for word in ("frozen", "locked", "deleted") if getattr(row, word)]
        for row in _STATES(desk.connection)
    }


def count(desk: Desk) -> int:
    return _COUNT.one(desk.connection)


def set_locked(desk: Desk, caller_id: int, locked: bool, why: str = "") -> CallerRecord:
    """Lock or unlock a caller's log-on. An open call stays open."""
    change_preferences(desk, caller_id, {WHY_OUT: why})
    return _changed(desk, _SET_LOCKED, caller_id, locked=int(locked))


def set_muted(desk: Desk, caller_id: int, muted: bool) -> CallerRecord:
    """Mute or unmute a caller."""
    return _changed(desk, _SET_MUTED, caller_id, muted=stamp(desk.now) if muted else None)


def approve(desk: Desk, caller_id: int) -> CallerRecord:
    return _changed(desk, _APPROVE, caller_id)


def waiting(desk: Desk) -> list[str]:
    """Return the names of callers who wait for approval, first those who wait longest."""
    return [name for (name,) in _WAITING(desk.connection)] if desk.settings.approval else []


def set_password_hash(desk: Desk, caller_id: int, password_hash: str) -> CallerRecord:
    """Store a password's hash, made by door/call/passwords.py.

    Makes the recovery code and the SSH keys void. Raises `Refused` for a caller of another board,
    who has no password here.
    """
    record = get(desk, caller_id)
    refuse_of_board(record, _NO_PASSWORD)
    now = changes.noted(desk, record.preferences, changes.PASSWORD, changes.KEYS)
    change_preferences(desk, caller_id, now | {SSH_KEYS: []})
    return _changed(desk, _SET_PASSWORD, caller_id, password_hash=password_hash)


def renew_password_hash(desk: Desk, caller_id: int, old: str, renewed: str) -> bool:
    """Replace the hash `old` by another hash of the same password.

    Returns False if the password was changed, or the caller deleted, since `old` was read.
    """
    changed = _RENEW_PASSWORD(desk.connection, password_hash=renewed, id=caller_id, old=old)
    return changed.rowcount == 1


def set_preferences(desk: Desk, caller_id: int, preferences: Mapping[str, object]) -> CallerRecord:
    text = json.dumps(preferences, ensure_ascii=False)
    return _changed(desk, _SET_PREFERENCES, caller_id, preferences=text)


def change_preferences(desk: Desk, caller_id: int, changed: Mapping[str, object]) -> CallerRecord:
    """Change some preferences, and leave the others as they are in the books."""
    return set_preferences(desk, caller_id, {**get(desk, caller_id).preferences, **changed})


def rename(desk: Desk, caller_id: int, name: str) -> CallerRecord:
    """Rename a caller of this board. Raises as `register` does.

    Raises `Refused` for a caller of another board, whose name follows the one there.
    """
    refuse_of_board(get(desk, caller_id), _NO_NAME)
    return rename_of_board(desk, caller_id, names.check(name))


def rename_of_board(desk: Desk, caller_id: int, new_name: str) -> CallerRecord:
    """Rename a caller. arrival.host_caller makes the name. Raises `NameTaken`."""
    return _call(desk, caller_id, new_name, _RENAME)


def bring_back(desk: Desk, caller_id: int, name: str) -> CallerRecord:
    """Show a deleted caller again under this name. Raises `NameTaken`."""
    return _call(desk, caller_id, name, _BRING_BACK)


def _call(desk: Desk, caller_id: int, new_name: str, statement: Prepared) -> CallerRecord:
    if (
        look_alikes.holder(dialects.runner(desk.connection), new_name, ignored_id=caller_id)
        is not None
    ):
        raise _taken(new_name)
    fold, skeleton = names.fold(new_name), look_alikes.key(new_name)
    try:
        return _changed(desk, statement, caller_id, name=new_name, fold=fold, skeleton=skeleton)
    except IntegrityError as error:
        raise _taken(new_name) from error


def refuse_of_board(record: CallerRecord, text: str) -> None:
    """Raise `Refused` with this text for a caller of another board."""
    if record.board is not None:
        raise Refused(Phrase(text, name=record.name, board=record.board))


def _changed(desk: Desk, statement: Prepared, caller_id: int, **values: object) -> CallerRecord:
    statement(desk.connection, id=caller_id, **values)
    return get(desk, caller_id)


def _taken(name: str) -> NameTaken:
    return NameTaken(
        Phrase("The name {name} is taken, or looks too much like one that is.", name=name)
    )


def _record(row: Any) -> CallerRecord:
    return replace(
        CallerRecord(*row),
        locked=bool(row.locked),
        created=instant(row.created),
        last_call=None if row.last_call is None else instant(row.last_call),
        preferences=json.loads(row.preferences),
        frozen=bool(row.frozen),
        powers=bool(row.powers),
        muted=row.muted is not None,
        waits=row.waits is not None,
        deleted=None if row.deleted is None else instant(row.deleted),
    )
