"""The version behind today's, as tests make it up: one step, which is the same on both engines.

Run as a program this is the command `door` of a release that has the step.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    column,
    table,
    update,
)
from sqlalchemy.schema import CreateIndex, CreateTable, Index

from timebank.ledger import migrations

BEFORE = migrations.newest_version()
VERSION = BEFORE + 1

NICKNAMES = Table(
    "nicknames",
    MetaData(),
    Column("caller_id", Integer, primary_key=True),
    Column("nickname", Text, nullable=False),
)
BY_NICKNAME = Index("by_nickname", NICKNAMES.c.nickname, unique=True)


def step(connection: Connection) -> None:
    connection.execute(CreateTable(NICKNAMES))
    connection.execute(CreateIndex(BY_NICKNAME))
    connection.execute(DDL("ALTER TABLE callers ADD COLUMN motto TEXT"))
    connection.execute(update(table("callers", column("motto"))).values(motto="none"))


STEPS = (*migrations.STEPS, step)


def run() -> None:
    from door.cli.main import main

    migrations.STEPS = STEPS
    main()


if __name__ == "__main__":
    run()
