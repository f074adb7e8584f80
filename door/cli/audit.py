"""`door audit`: the books, and every hand in them."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from door.cli.common import config_option, load_config, reading
from door.games import hand_check as hands
from timebank.audit import jobs as audit_jobs
from timebank.audit.checkpoints import first_open_hand
from timebank.cli.common import (
    WholeNumber,
    Wrong,
    beginning,
    format_option,
    note_audit,
    replay_from,
    with_earlier,
    write_audit,
)
from timebank.cli.errors import EXIT_WRONG, refusing
from timebank.cli.progress import working
from timebank.errors import AuditBroken
from timebank.keeping import last_audit
from timebank.ledger import chain, generations, transfers
from timebank.ledger.schema import instant
from timebank.wagers import journal


@click.command()
@config_option
@format_option
@click.option(
    "--since-hand",
    metavar="NUMBER",
    type=WholeNumber(1),
    default=1,
    help="Replay hands from this one on; the books are checked whole.",
)
@click.option(
    "--since-last",
    is_flag=True,
    help="Check what came after the checkpoint that `timebank audit` left last, and replay the"
    " hands since the last audit that replayed them.",
)
@click.option(
    "--jobs",
    type=WholeNumber(1, 64),
    help="How many processes check, each on a core of its own.  [default: by cores and hands]",
)
def audit(
    config_path: Path, form: str, since_hand: int, since_last: bool, jobs: int | None
) -> None:
    """Check the books, and replay every settled hand and every try at a daily deal or tournament.

    Exits with 1 and names what is wrong. The digest of the last transfer is shown as `timebank
    audit` shows it.
    """
    if since_last and since_hand > 1:
        raise click.UsageError("Choose one: --since-hand or --since-last.")
    config = load_config(config_path)
    with reading(config) as desk, working("Checking the books and the hands"):
        begin = beginning(config.bank, desk, None, since_last)
        count = transfers.count(desk, None if begin is None else begin.last)
        jobs = jobs or audit_jobs.usual(count)
        if begin is not None:
            findings, counted = hands.audit(desk, replay_from(config.bank, desk, begin), begin)
        elif jobs > 1:
            last = journal.last_round(desk)
            with refusing(AuditBroken):
                findings, counted = hands.audit_by_jobs(
                    config.bank, desk.now, since_hand, last, jobs
                )
        else:
            findings, counted = hands.audit(desk, since_hand)
        generation, begun = generations.current(desk.connection), desk.now
        digest, hand = chain.head(desk.connection).digest, first_open_hand(desk)
    wrong = Wrong(findings)
    if begin is not None:
        wrong = with_earlier(config.bank, last_audit.HANDS, findings)
    if findings or since_hand == 1:  # a part that is in order says nothing of the rest
        note_audit(config.bank, last_audit.HANDS, begun, generation, wrong, hand=hand)
    if form != "text":
        facts = {"hands": counted, "transfers": count, "digest": digest, "generation": generation}
        write_audit(form, facts, wrong.findings)
    elif wrong:
        wrong.say("door audit")
    else:
        began = None if begin is None else config.bank.schedule.local(instant(begin.at))
        _say_in_order(counted, began, generation, digest)
    sys.exit(EXIT_WRONG if wrong else 0)


def _say_in_order(hands: int, since: datetime | None, generation: int, digest: str) -> None:
    agree = "1 settled hand was replayed and agrees"
    if hands != 1:
        agree = f"{hands} settled hands were replayed and agree"
    click.echo(f"The books are in order; {agree}.")
    if since is not None:
        said = f"Only what came after the checkpoint of {since:%Y-%m-%d %H:%M:%S} was checked."
        click.echo(said)
    if generation > 1:
        click.echo(f"They are in generation {generation}: a backup was restored.")
    click.echo(f"The last digest is {digest}.")
