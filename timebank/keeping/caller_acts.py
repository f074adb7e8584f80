"""What the sysop does to callers by hand: a line in the log for each, a notice where it matters.

`by` says who did it, for the log. No command changes a caller in another way. Powers are given and
taken in powers.py, minutes in window/sysop.py.
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
MUTED = N_("The sysop has muted you: other callers don't hear you until that is taken back.")
UNMUTED = N_("The sysop lets you speak to other callers again.")


def enter(desk: Desk, name: str, password_hash: str, by: str, *, with_powers: bool) -> CallerRecord:
    """Enter a caller under a name that sysop.toml keeps; raises as `callers.register_kept`."""
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
        said = N_("The sysop has renamed you: you were {before}, and are {name} now.")
        add_notice(desk, caller_id, said, before=before.name, name=renamed.name)
    return renamed


def set_password(desk: Desk, caller_id: int, password_hash: str, by: str) -> CallerRecord:
    """Store the hash of a password, void code and keys; raises as `callers.set_password_hash`."""
    had_code = recovery.has_one(desk, caller_id)
    had_keys = ssh_keys.of(callers.get(desk, caller_id).preferences)
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
    """Let a key no longer log a caller on by SSH; `fingerprint` is how people name it."""
    record = ssh_keys.take_away(desk, caller_id, line)
    _note(desk, by, record, f"no longer logs on with the SSH key {fingerprint}")
    said = N_("The sysop has taken away your SSH key {fingerprint}.")
    add_notice(desk, caller_id, said, fingerprint=fingerprint)


def leave_notice(desk: Desk, caller_id: int, text: str, by: str) -> str:
    """Leave a caller a line of the sysop's; returns it fit for a screen, "" where nothing is left
    of it to say."""
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
    """Keep a caller out from the next log-on on, or let them in; False if it was so already."""
    record = callers.get(desk, caller_id)
    if record.locked == locked:
        return False
    callers.set_locked(desk, caller_id, locked)
    _note(desk, by, record, "was locked out" if locked else "was let in again")
    if not locked:
        add_notice(desk, caller_id, N_("Your name was locked; the sysop has unlocked it."))
    return True


def set_muted(desk: Desk, caller_id: int, muted: bool, by: str) -> bool:
    """Let a caller say nothing to others, or speak again; False if it was so already."""
    record = callers.get(desk, caller_id)
    if record.muted == muted:
        return False
    callers.set_muted(desk, caller_id, muted)
    _note(desk, by, record, "was muted" if muted else "may speak again")
    add_notice(desk, caller_id, MUTED if muted else UNMUTED)
    return True


def _note(desk: Desk, by: str, record: CallerRecord, what: str) -> None:
    sysop_log.note(desk, by, record.id, f"{powers.numbered(record)}, {what}")
