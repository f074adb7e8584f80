"""The sysop's acts on callers: each writes a line into the log, and most leave the caller a notice.

`by` is the name for the log. Acts that return a text tell the sysop what was done; they raise
`Unchanged` if the caller is in that state already. Commands change callers only through this
module, powers.py and window/corrections.py.
"""

from __future__ import annotations

from timebank.callers import callers, powers, recovery, ssh_keys, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import add_notice
from timebank.calls.calls import LOCKED_PREFIX, end_call, open_calls
from timebank.errors import NameTaken, Refused, Unchanged
from timebank.keeping import deletion
from timebank.language import N_
from timebank.ledger.database import Desk
from timebank.names import names
from timebank.settings.quoting import printable
from timebank.window.corrections import LONGEST_REASON
from timebank.words import clean

LONGEST_NOTICE = 200  # characters
MUTED = N_("The sysop has muted you: other callers can't see what you say for now.")
MUTED_WHY = N_("The sysop has muted you: {why}. Other callers can't see what you say for now.")
UNMUTED = N_("The sysop lets you speak to other callers again.")


def enter(desk: Desk, name: str, password_hash: str, by: str, *, with_powers: bool) -> CallerRecord:
    """Register a caller under a name that sysop.toml reserves. Raises as
    `callers.register_kept`."""
    record = callers.register_kept(desk, name, password_hash, powers=with_powers)
    had = "with" if with_powers else "without"
    _note(desk, by, record, f"was entered, {had} the sysop's powers")
    if with_powers:
        add_notice(desk, record.id, powers.GIVEN)
    return record


def rename(desk: Desk, caller_id: int, name: str, by: str) -> CallerRecord:
    before = callers.get(desk, caller_id)
    renamed = callers.rename(desk, caller_id, name)
    if renamed.name != before.name:
        _note(desk, by, before, f"is called {renamed.name} now")
        text = N_("The sysop has renamed you: you were {before}, and are {name} now.")
        add_notice(desk, caller_id, text, before=before.name, name=renamed.name)
    return renamed


def set_password(desk: Desk, caller_id: int, password_hash: str, by: str) -> CallerRecord:
    """Store a password's hash; make recovery code and SSH keys void.

    Raises as `callers.set_password_hash`.
    """
    had_code = recovery.has_one(desk, caller_id)
    had_keys = ssh_keys.lines_of(callers.get(desk, caller_id).preferences)
    record = callers.set_password_hash(desk, caller_id, password_hash)
    void = "; the recovery code is void" if had_code else ""
    _note(desk, by, record, f"was given a new password{void}")
    add_notice(desk, caller_id, N_("The sysop has set a new password for you."))
    if had_code:
        add_notice(desk, caller_id, recovery.VOID)
    if had_keys:
        add_notice(desk, caller_id, ssh_keys.VOID)
    return record


def take_key_away(desk: Desk, caller_id: int, line: str, fingerprint: str, by: str) -> None:
    """Remove a caller's SSH key. `fingerprint` names it in log and notice."""
    record = ssh_keys.take_away(desk, caller_id, line)
    _note(desk, by, record, f"no longer logs on with the SSH key {fingerprint}")
    text = N_("The sysop has taken away your SSH key {fingerprint}.")
    add_notice(desk, caller_id, text, fingerprint=fingerprint)


def leave_notice(desk: Desk, caller_id: int, text: str, by: str) -> str:
    """Leave a caller a line from the sysop. Raises `Refused` if nothing printable is left."""
    record, words = callers.get(desk, caller_id), clean(text, LONGEST_NOTICE)
    if not words:
        raise Refused("The text has nothing that can be shown.")
    add_notice(desk, caller_id, N_("The sysop: {words}"), words=words)
    sysop_log.note(desk, by, record.id, f"Notice left: {words}")
    return f"{record.name} reads it at the next log-on, or sooner: {words}"


def delete(desk: Desk, caller_id: int, by: str, why: str = "") -> str:
    """Delete a caller, who can be brought back and reads `why` instead of a log-on.

    Raises as `deletion.delete`.
    """
    record = callers.get(desk, caller_id)
    if record.powers:
        record = powers.revoke(desk, caller_id, by)
    callers.change_preferences(desk, caller_id, {callers.WHY_OUT: (why := _cleaned(why))})
    deletion.delete(desk, caller_id)
    _note(desk, by, record, "was deleted", why)
    days = desk.settings.keep_days
    return (
        f"{record.name} is deleted. `door callers restore` brings them back for"
        f" {days} day{'s'[: days != 1]}; then their time is forfeited."
    )


def bring_back(desk: Desk, typed: str, name: str | None, by: str) -> str:
    """Bring a deleted caller back, by name or number, under a new name if one is given.

    Raises `Refused` if there is none, and as `callers.register`.
    """
    known = deletion.hidden(desk)
    wanted = names.fold(typed), callers.number_in(typed)
    one = next((each for each in known if each.fold == wanted[0] or each.id == wanted[1]), None)
    if one is None:
        some = ", ".join(f"{each.name} (#{each.id})" for each in known) or "nobody"
        raise Refused(f"No deleted caller is named {printable(typed)}. You can bring back {some}.")
    try:
        record = callers.bring_back(desk, one.id, names.check(name) if name else one.name)
    except NameTaken as taken:
        other = f'`door callers restore "#{one.id}" NAME`'
        raise NameTaken(f"{taken} Give them another: {other}.") from taken
    _note(desk, by, record, "was brought back")
    add_notice(desk, record.id, N_("Your name was deleted; the sysop has brought it back."))
    return f"{powers.numbered(record)}, is back with all their time."


def set_locked(desk: Desk, caller_id: int, locked: bool, by: str, why: str = "") -> str:
    """Lock or unlock a caller's log-on. A caller who is locked out reads `why`.

    Their open call ends.
    """
    record = callers.get(desk, caller_id)
    if record.locked == locked:
        raise Unchanged(f"{record.name} is {'already' if locked else 'not'} locked out.")
    callers.set_locked(desk, caller_id, locked, why := _cleaned(why))
    _note(desk, by, record, "was locked out" if locked else "was let in again", why)
    if not locked:
        add_notice(desk, caller_id, N_("Your name was locked; the sysop has unlocked it."))
        return f"{record.name} is no longer locked out."
    on = next((each for each in open_calls(desk) if each.caller_id == caller_id), None)
    if on is None or not end_call(desk, on.call_id, why, LOCKED_PREFIX) or not on.live:
        return f"{record.name} is now locked out."
    return f"{record.name} is now locked out, and their call on node {on.node} ends."


def approve(desk: Desk, caller_id: int, by: str) -> str:
    """Let a caller bet who waits for approval."""
    record = callers.get(desk, caller_id)
    if not record.waits:
        raise Unchanged(f"{record.name} does not wait for approval.")
    callers.approve(desk, caller_id)
    _note(desk, by, record, "was approved")
    add_notice(desk, caller_id, N_("The sysop has let you in: you can bet now."))
    return f"{record.name} may bet now."


def set_muted(desk: Desk, caller_id: int, muted: bool, by: str, why: str = "") -> str:
    """Mute or unmute a caller, who reads `why`."""
    record, why = callers.get(desk, caller_id), _cleaned(why)
    if record.muted == muted:
        raise Unchanged(f"{record.name} is {'already' if muted else 'not'} muted.")
    callers.set_muted(desk, caller_id, muted)
    _note(desk, by, record, "was muted" if muted else "may speak again", why)
    add_notice(desk, caller_id, (MUTED_WHY if why else MUTED) if muted else UNMUTED, why=why)
    return f"{record.name} is {'now' if muted else 'no longer'} muted."


def _cleaned(why: str) -> str:
    return clean(why, LONGEST_REASON).rstrip(".")


def _note(desk: Desk, by: str, record: CallerRecord, what: str, why: str = "") -> None:
    reason = f": {why}" if why else ""
    sysop_log.note(desk, by, record.id, f"{powers.numbered(record)}, {what}{reason}")
