"""The tables of the visits of other boards' callers. With them `metadata` is whole.

Amounts are seconds. What the columns of a visit are, `hosts_visit` says.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Integer, Table, Text

from timebank.model import metadata

__all__ = ["given_back", "metadata", "visits"]

visits = Table(
    "visits",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    # NULL where a hand was settled for one who is on no call.
    Column("call_id", ForeignKey("calls.id"), unique=True),
    # The day whose debts it is charged and pays.
    Column("day", Text, nullable=False),
    # The time left that the host's clock showed at the entry, NULL for a host without one; and
    # what counts as such.
    Column("shown", Integer),
    Column("clock", Integer, CheckConstraint("clock >= 0"), nullable=False),
    # When the host's next event is, or must have him back.
    Column("until", Integer),
    # How gains can be given back to the host, NULL for not at all; its clock can show losses.
    Column("way", Text),
    Column("shows_losses", Integer, CheckConstraint("shows_losses IN (0, 1)"), nullable=False),
    # The debt of the day that was taken off.
    Column("debt", Integer, CheckConstraint("debt >= 0"), nullable=False),
    # What was on the table at the entry: all of it, the host's part of it, and the caller's own.
    Column("staked", Integer, nullable=False),
    Column("standing", Integer, nullable=False),
    Column("standing_own", Integer, nullable=False),
    # external -> online; and what came out of bank and loan less what went there.
    Column("brought", Integer, CheckConstraint("brought >= 0"), nullable=False),
    Column("own", Integer, nullable=False),
    # At the exit: when, what was won less what was lost, and what became of it.
    Column("closed", Integer),
    Column("elapsed", Integer),
    Column("result", Integer),
    # The debt of the day then, what of it the gain paid, and what was added to it.
    Column("owed", Integer, CheckConstraint("owed >= 0")),
    Column("debt_paid", Integer, CheckConstraint("debt_paid >= 0")),
    Column("debt_added", Integer, CheckConstraint("debt_added >= 0")),
    # external -> online once more: what the host's clock counted beyond what was brought.
    Column("also_brought", Integer, CheckConstraint("also_brought >= 0")),
    # What was owed on a loan then, and what of the caller's own paid it. NULL in visits that were
    # over before version 4: loans were not paid at the exit.
    Column("loan", Integer, CheckConstraint("loan >= 0")),
    Column("loan_paid", Integer, CheckConstraint("loan_paid >= 0")),
    # The gain, whoever keeps it for him; what went back to his bank; what went home.
    Column("gain", Integer, CheckConstraint("gain >= 0")),
    Column("put_back", Integer, CheckConstraint("put_back >= 0")),
    Column("taken_home", Integer, CheckConstraint("taken_home >= 0")),
    # What is on the table still: all of it, the host's part, and the caller's own.
    Column("left_staked", Integer),
    Column("left_standing", Integer),
    Column("left_own", Integer),
    sqlite_autoincrement=True,
)
Index("visits_of_a_caller", visits.c.caller_id)
Index("visits_of_a_day", visits.c.caller_id, visits.c.day)

given_back = Table(
    "given_back",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    # The transfer to `external` that it tells of; NULL for a loss.
    Column("transfer_id", ForeignKey("transfers.id"), unique=True),
    # Below zero for a loss that the host's clock is to show, which is of this day.
    Column("minutes", Integer, CheckConstraint("minutes <> 0"), nullable=False),
    Column("day", Text, nullable=False),
    # How it was written, or is to be.
    Column("way", Text, nullable=False),
    # waiting -> writing -> written, or -> kept here; or -> doubtful when only the sysop can tell.
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('waiting', 'writing', 'written', 'kept', 'doubtful')"),
        nullable=False,
    ),
    Column("at", Integer, nullable=False),
    # Those that are written as one have the same claim.
    Column("claim", Text),
    Column("changed", Integer, nullable=False),
    # The transfer by which it came back, when it is kept here.
    Column("kept_id", ForeignKey("transfers.id"), unique=True),
    # Why it is doubtful, or kept.
    Column("why", Text),
    CheckConstraint("(transfer_id IS NULL) = (minutes < 0)", name="gains_were_moved"),
    sqlite_autoincrement=True,
)
Index("given_back_of_a_caller", given_back.c.caller_id, given_back.c.state)
