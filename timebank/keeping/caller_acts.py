"""The sysop's acts on callers: each writes a line into the log, and most leave the caller a notice.

`by` is the name for the log. Commands change callers only through this module, powers.py and
window/corrections.py.
"""

from __future__ import annotations

from timebank.callers import callers, powers, recovery, ssh_keys, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import add_notice
from timebank.keeping import deletion
from timebank.language import N_
from timebank.ledger.database import Desk
from timebank.words import clean

LONGEST_NOTICE = 200  # characters
MUTED = N_("The sysop has muted you: other callers can't see what you say for now.")
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
    """Leave a caller a line from the sysop; return it cleaned, "" if nothing printable is left."""
    words = clean(text, LONGEST_NOTICE)
    if words:
        record = callers.get(desk, caller_id)
        add_notice(desk, caller_id, N_("The sysop: {words}"), words=words)
        sysop_log.note(desk, by, record.id, f"Notice left: {words}")
    return words


def delete(desk: Desk, caller_id: int, by: str) -> None:
    record = callers.get(desk, caller_id)
    deletion.delete(desk, caller_id)
    had = "who had the sysop's powers, " if record.powers else ""
    _note(desk, by, record, f"{had}was deleted")


def set_locked(desk: Desk, caller_id: int, locked: bool, by: str) -> bool:
    """Lock or unlock a caller's log-on. Return False if it was so already."""
    record = callers.get(desk, caller_id)
    if record.locked == locked:
        return False
    callers.set_locked(desk, caller_id, locked)
    _note(desk, by, record, "was locked out" if locked else "was let in again")
    if not locked:
        add_notice(desk, caller_id, N_("Your name was locked; the sysop has unlocked it."))
    return True


def approve(desk: Desk, caller_id: int, by: str) -> bool:
    """Let a caller bet who waits for approval. Return False if they do not wait."""
    record = callers.get(desk, caller_id)
    if not record.waits:
        return False
    callers.approve(desk, caller_id)
    _note(desk, by, record, "was approved")
    add_notice(desk, caller_id, N_("The sysop has let you in: you can bet now."))
    return True


def set_muted(desk: Desk, caller_id: int, muted: bool, by: str) -> bool:
    """Mute or unmute a caller. Return False if it was so already."""
    record = callers.get(desk, caller_id)
    if record.muted == muted:
        return False
    callers.set_muted(desk, caller_id, muted)
    _note(desk, by, record, "was muted" if muted else "may speak again")
    add_notice(desk, caller_id, MUTED if muted else UNMUTED)
    return True


def _note(desk: Desk, by: str, record: CallerRecord, what: str) -> None:
    sysop_log.note(desk, by, record.id, f"{powers.numbered(record)}, {what}")
