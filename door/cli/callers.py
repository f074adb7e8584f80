"""`door callers`: commands for the sysop about callers."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.call import passwords
from door.cli.common import config_option, load_config, read_password, reading, writing
from door.config.people import command
from door.defence import ssh_keys
from door.errors import PasswordRefused
from door.server import control_client
from timebank.callers import callers as records
from timebank.callers import powers, recovery, second_step
from timebank.callers import ssh_keys as kept
from timebank.callers.callers import CallerRecord
from timebank.cli.common import by_option, format_option, tell
from timebank.cli.errors import UserError, refusing
from timebank.errors import NameRefused, Unchanged
from timebank.keeping import caller_acts
from timebank.names import names
from timebank.reports.exports import Record
from timebank.reports.statements import NAME, SHORT, printable
from timebank.reports.tables import Column, Listing, Loud, Row
from timebank.settings.schedule import Schedule

if TYPE_CHECKING:
    from door.config.config import Config
    from timebank.ledger.database import Desk


@click.group()
def callers() -> None:
    """Manage the board's callers."""


@callers.command("list")
@config_option
@format_option
def list_callers(config_path: Path, form: str) -> None:
    """List all callers, with their last call, powers and state."""
    with reading(load_config(config_path)) as desk:
        known, schedule = records.listing(desk), desk.settings.schedule
    tell(form, [callers_table(known, schedule)], FIELDS, caller_records(known, schedule))


def on_caller(run: Callable[..., None]) -> click.Command:
    """Make a command of `door callers` with the options of each act on one caller."""
    return callers.command()(config_option(by_option(click.argument("name")(run))))


@on_caller
def grant(config_path: Path, by: str, name: str) -> None:
    """Give a caller sysop powers.

    They let the caller act on the pages, and log on when every node is taken. Write NAME exactly
    as `door callers list` shows it, or as "#" and the caller's number.
    """
    with writing(load_config(config_path)) as desk:
        record = powers.grant(desk, _exactly(desk, name).id, by)
    click.echo(f"{powers.numbered(record)}, now has sysop powers.")


@on_caller
def revoke(config_path: Path, by: str, name: str) -> None:
    """Take a caller's sysop powers away, at once. Write NAME as for grant."""
    with writing(load_config(config_path)) as desk:
        record = powers.revoke(desk, _exactly(desk, name).id, by)
    click.echo(f"{powers.numbered(record)}, no longer has sysop powers.")


why_option = click.option("--why", default="", metavar="TEXT", help="The reason, for the caller.")


def act_on_caller(act: Callable[..., str]) -> Callable[..., None]:
    """Make a command of an act on a caller, which returns what it did.

    `act` gets the books, the caller's number, the name for the log, and its own options.
    """

    @on_caller
    @wraps(act)
    def command(config_path: Path, by: str, name: str, **options: str) -> None:
        with writing(load_config(config_path)) as desk:
            try:
                done = act(desk, records.named(desk, name).id, by, **options)
            except Unchanged as already:
                done = str(already)
        control_client.let_server_look(config_path)
        click.echo(done)

    return command


@act_on_caller
@why_option
def lock(desk: Desk, caller_id: int, by: str, why: str) -> str:
    """Lock a caller out, and end their call. They read why, also when they call again."""
    return caller_acts.set_locked(desk, caller_id, True, by, why)


@act_on_caller
def unlock(desk: Desk, caller_id: int, by: str) -> str:
    """Let a locked caller back in."""
    return caller_acts.set_locked(desk, caller_id, False, by)


@act_on_caller
def approve(desk: Desk, caller_id: int, by: str) -> str:
    """Let a new caller bet, where `[callers] approval` is on. A notice tells them."""
    return caller_acts.approve(desk, caller_id, by)


@act_on_caller
@why_option
def mute(desk: Desk, caller_id: int, by: str, why: str) -> str:
    """Stop a caller from saying anything to others."""
    return caller_acts.set_muted(desk, caller_id, True, by, why)


@act_on_caller
def unmute(desk: Desk, caller_id: int, by: str) -> str:
    """Let a muted caller speak again."""
    return caller_acts.set_muted(desk, caller_id, False, by)


@act_on_caller
@click.argument("text")
def notice(desk: Desk, caller_id: int, by: str, text: str) -> str:
    """Leave a line for a caller. They read it at once, or at the next log-on."""
    return caller_acts.leave_notice(desk, caller_id, text, by)


@on_caller
def second_step_off(config_path: Path, by: str, name: str) -> None:
    """Turn off a caller's authenticator, if the phone is lost."""
    with writing(load_config(config_path)) as desk:
        record = records.named(desk, name)
        if not second_step.turn_off(desk, record.id, "by the sysop", by):
            raise UserError(f"{record.name} has no authenticator set up.")
    click.echo(f"`door pages` no longer asks {record.name} for a code.")


@on_caller
@format_option
@click.option("--take-away", metavar="SHA256:...", help="Take away the key of this fingerprint.")
def keys(config_path: Path, form: str, by: str, name: str, take_away: str | None) -> None:
    """Show a caller's SSH keys, or take one away."""
    opened = reading if take_away is None else writing
    with opened(load_config(config_path)) as desk:
        record = records.named(desk, name)
        keys = map(ssh_keys.read, kept.lines_of(record.preferences))
        by_fingerprint = {key.fingerprint: key for key in keys}
        if take_away is not None:
            if take_away not in by_fingerprint:
                raise UserError(f"{record.name} has no key {take_away}.")
            caller_acts.take_key_away(
                desk, record.id, by_fingerprint[take_away].line, take_away, by
            )
    if take_away is not None:
        click.echo(f"{take_away} no longer logs {record.name} on.")
        return
    rows = [(fingerprint, key.kind, key.name) for fingerprint, key in by_fingerprint.items()]
    fields = ("fingerprint", "kind", "name")
    columns = (Column("Fingerprint"), Column("Kind"), Column("Name", least=NAME))
    listed = [(each, kind, printable(called)) for each, kind, called in rows]
    table = Listing(columns, listed, f"{record.name} has no SSH key here.")
    tell(form, [table], fields, [dict(zip(fields, row, strict=True)) for row in rows], paged=False)
    if kept.are_suspended(record.preferences):
        count = "1 key waits" if len(by_fingerprint) == 1 else f"{len(by_fingerprint)} keys wait"
        click.echo(f"Since a restore {count} until {record.name} logs on by password.", err=True)


@on_caller
@click.argument("new_name")
def rename(config_path: Path, by: str, name: str, new_name: str) -> None:
    """Rename a caller, who keeps everything, powers included."""
    config = load_config(config_path)
    with writing(config) as desk:
        record = records.named(desk, name)
        with refusing(NameRefused):
            checked = names.check(new_name)
            _refuse_reserved(config, checked)
            renamed = caller_acts.rename(desk, record.id, checked, by)
    click.echo(f"{record.name} is now {renamed.name}.")
    if config.bank.is_barred(record.name) and not config.bank.is_barred(renamed.name):
        click.echo(
            f"sysop.toml bars {record.name} from the bank by name, and that name is gone:"
            f" list {renamed.name} there, or freeze the account."
        )


@on_caller
@why_option
@click.option("--yes", is_flag=True, help="Don't ask.")
def delete(config_path: Path, by: str, why: str, name: str, yes: bool) -> None:
    """Delete a caller.

    They can be brought back for `[callers] keep_days`. After that their time is forfeited; the
    ledger keeps their history.
    """
    config = load_config(config_path)
    with reading(config) as desk:
        record = records.named(desk, name)
    if not yes:
        click.confirm(f"Delete {record.name}?", abort=True)
    with writing(config) as desk:
        done = caller_acts.delete(desk, record.id, by, why)
    control_client.let_server_look(config_path)
    click.echo(done)


@on_caller
@click.argument("new_name", required=False)
def restore(config_path: Path, by: str, name: str, new_name: str | None) -> None:
    """Bring a deleted caller back, with all their time.

    If another caller has the name now, give a NEW_NAME. If no deleted caller has the name, the
    command lists those who can be brought back.
    """
    config = load_config(config_path)
    with writing(config) as desk, refusing(NameRefused):
        if new_name is not None:
            _refuse_reserved(config, new_name)
        done = caller_acts.bring_back(desk, name, new_name, by)
    click.echo(done)


@on_caller
@click.option("--stdin", is_flag=True, help="Read the password from standard input.")
def password(config_path: Path, by: str, name: str, stdin: bool) -> None:
    """Set a password, or register a reserved name.

    The names in sysop.toml are reserved. The sysop's own name gets sysop powers; any other gets
    them by `door callers grant`.
    """
    config = load_config(config_path)
    reserved = next(
        (each for _, each in config.bank.named_people if names.is_same(name, each)), None
    )
    is_sysop = reserved is not None and names.is_same(reserved, config.board.sysop)
    with reading(config) as desk:
        record = records.find(desk, name) if name.isprintable() else None
        if record is None and reserved is None:
            raise records.unknown(desk, name)
    if record is not None and reserved is not None and not names.is_same(reserved, record.name):
        raise UserError(f"{powers.numbered(record)}, has a name that only looks like {reserved}.")
    if stdin:
        typed = read_password(sys.stdin.buffer)
    else:
        typed = click.prompt("New password", hide_input=True, confirmation_prompt=True)
    with refusing(PasswordRefused):
        passwords.check(typed, name)
    hashed = passwords.hash_password(typed)
    with writing(config) as desk:
        if record is not None:
            done = f"{record.name} has a new password."
            if recovery.has_one(desk, record.id):
                done += " The recovery code is void; Your settings makes a new one."
            caller_acts.set_password(desk, record.id, hashed, by)
        else:
            record = caller_acts.enter(desk, reserved or name, hashed, by, with_powers=is_sysop)
            had = "with" if is_sysop else "without"
            done = f"{record.name} is new: caller number {record.id}, {had} sysop powers."
    click.echo(done)
    if (reserved in config.bank.co_sysops or is_sysop) and not record.powers:
        gives = command(config_path, "grant", record.name)
        click.echo(f"{record.name} has no sysop powers: {gives} gives them.")


def _refuse_reserved(config: Config, name: str) -> None:
    """Refuse a name reserved for the house, and one that only looks like a name in sysop.toml."""
    if any(names.is_same(name, named) for _, named in config.bank.named_people):
        return
    if names.is_reserved(name):
        raise UserError("That name is reserved for the house.")
    if config.bank.reserves(name):
        raise UserError(f"The name {name} looks too much like one that sysop.toml reserves.")


def _exactly(desk: Desk, name: str) -> CallerRecord:
    """Return the caller with a number ("#12"), or with a name spelled exactly so.

    The refusal names the caller found instead, who may not be the one that the sysop means.
    """
    record = records.named(desk, name)
    if records.number_in(name) is not None or unicodedata.normalize("NFC", name) == record.name:
        return record
    how = "is spelled differently from" if names.is_same(name, record.name) else "only looks like"
    raise UserError(
        f"{powers.numbered(record)}, {how} {name}. If you mean this caller, use #{record.id}"
        " instead of the name."
    )


# Callers as the sysop lists them.

FIELDS = (
    *("number", "caller", "board", "since", "last_call", "powers"),
    *("locked", "frozen", "muted", "waits"),
)


def callers_table(known: Iterable[CallerRecord], schedule: Schedule) -> Listing:
    columns = (
        *(Column("Caller", least=NAME), Column("Number", right=True), Column("Since", goes=1)),
        *(Column("Last call"), Column("State", least=SHORT)),
    )
    rows = [_row(record, schedule) for record in known]
    return Listing(columns, rows, "Nobody has registered yet.")


def _row(record: CallerRecord, schedule: Schedule) -> Row:
    last = f"{schedule.local(record.last_call):%Y-%m-%d %H:%M}" if record.last_call else "never"
    held_back = {
        "waits for approval": record.waits,
        "locked": record.locked,
        "frozen": record.frozen,
        "muted": record.muted,
    }
    states = {"the sysop's powers": record.powers, **held_back}
    state = ", ".join(words for words, is_so in states.items() if is_so)
    return (
        *(printable(record.name), str(record.id)),
        *(f"{schedule.local(record.created):%Y-%m-%d}", last),
        Loud(state) if any(held_back.values()) else state,
    )


def caller_records(known: Iterable[CallerRecord], schedule: Schedule) -> Iterator[Record]:
    for record in known:
        last = record.last_call
        values = (
            *(record.id, record.name, record.board, schedule.local(record.created).isoformat()),
            None if last is None else schedule.local(last).isoformat(),
            *(record.powers, record.locked, record.frozen, record.muted, record.waits),
        )
        yield dict(zip(FIELDS, values, strict=True))
