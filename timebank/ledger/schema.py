"""The tables of the books.

The database itself enforces three rules, so that no program that opens it can break them:

- transfers are only added: triggers refuse UPDATE and DELETE;
- balances follow transfers: a trigger moves both balances when a transfer is added;
- signs hold: a CHECK refuses a balance that its kind of account may not have.

An instant is stored as whole seconds since 1970 in UTC, a day as `YYYY-MM-DD` in the board's time
zone, and an amount as an integer in the unit of its accounts (seconds, or cents of play money).
"""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    Computed,
    Connection,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement, SchemaItem
from sqlalchemy.sql.compiler import DDLCompiler

# "BJ4T" in ASCII, by which `file` and this program recognize the books.
APPLICATION_ID = 0x424A3454
# Books that `timebank move` has not copied completely ("BJ4+"), and books that it has moved away
# ("BJ4-"). No server may use either.
MOVING_IN = 0x424A342B
MOVED_AWAY = 0x424A342D


# The accounts of the system, by their fixed numbers.
SYSTEM_ACCOUNTS = {
    1: "allotment",
    2: "elapsed",
    3: "forfeit",
    4: "external",
    5: "adjustment",
}
# The accounts that a caller gets at registration.
CALLER_ACCOUNTS = ("online", "held", "bank", "stake", "loan")
# The accounts that a caller gets with the first wager in a unit of play money: `casino` is the bank
# that the caller plays against, `tab` the winnings less losses of games that are never paid.
PLAY_ACCOUNTS = ("bankroll", "stake", "casino", "tab")
# The source and sink of a unit of play money, opened when first needed.
MINT = "mint"

# The prizes of tournaments that are not won yet, opened when first needed.
PRIZES = "prizes"
# The stakes of open duels: opened when it is first needed.
DUELS = "duels"

# The allowed signs of balances, for the CHECK below and the audit.
_NEVER_NEGATIVE = (
    "'online', 'held', 'bank', 'stake', 'elapsed', 'forfeit', 'bankroll', 'casino', 'prizes',"
    " 'duels'"
)
NEVER_NEGATIVE = frozenset(_NEVER_NEGATIVE.replace("'", "").split(", "))
NEVER_POSITIVE = frozenset({"loan"})

metadata = MetaData()


def _index(
    name: str, *columns: Column[Any], where: str | None = None, unique: bool = False
) -> None:
    """Define an index, with `where` a partial one, in every dialect."""
    Index(name, *columns, unique=unique, sqlite_where=None if where is None else text(where))


@compiles(CreateIndex, "postgresql")
def _in_postgresql(create: CreateIndex, compiler: DDLCompiler, **how: Any) -> str:
    """Give a partial index SQLite's condition; declaring it twice would import the dialect."""
    options = create.element.dialect_options
    options["postgresql"]["where"] = options["sqlite"]["where"]
    written: str = compiler.visit_create_index(create, **how)  # type: ignore[no-untyped-call]
    return written


def _integer(
    name: str, check: str = "", otherwise: int | None = None, *, nullable: bool = False
) -> Column[int]:
    """Define an integer column; `check` is its condition (">= 0"), `otherwise` its default."""
    checks = [CheckConstraint(f"{name} {check}")] if check else []
    default = None if otherwise is None else text(str(otherwise))
    return Column(name, Integer, *checks, server_default=default, nullable=nullable)


def _state_column(*states: str) -> Column[str]:
    known = ", ".join(f"'{state}'" for state in states)
    return Column("state", Text, CheckConstraint(f"state IN ({known})"), nullable=False)


def _numbered_table(name: str, *parts: SchemaItem, key: str = "id") -> Table:
    """Define a table whose rows are numbered by the column `key`, without reuse of numbers."""
    number = Column(key, Integer, primary_key=True)
    return Table(name, metadata, number, *parts, sqlite_autoincrement=True)


callers = _numbered_table(
    "callers",
    Column("name", Text, nullable=False),
    # names.fold(name); unique among callers who are not deleted.
    Column("fold", Text, nullable=False),
    # The look of the name, after the version of the look-alike tables (look_alikes.py).
    Column("skeleton", Text, server_default=text("''"), nullable=False),
    Column("password_hash", Text, nullable=False),
    _integer("locked", "IN (0, 1)"),
    _integer("created"),
    Column("last_call", Integer),
    Column("deleted", Integer),
    # The caller's day; it only moves forward.
    Column("day", Text),
    # The end and the name of the event for which the account `held` waits.
    Column("held_until", Integer),
    Column("held_behind", Text),
    Column("preferences", Text, nullable=False),
    # The sysop froze the account: its caller can move no time into it or out of it.
    _integer("frozen", "IN (0, 1)", 0),
    # For a caller of another board: the board's name, and its key for the caller. Otherwise NULL.
    Column("board", Text),
    Column("board_key", Text, CheckConstraint("(board IS NULL) = (board_key IS NULL)")),
    # The caller has the sysop's powers (powers.py). Deleted callers and guests never have them.
    _integer("powers", "= 0 OR (powers = 1 AND deleted IS NULL AND board IS NULL)", 0),
    # The digest of the valid recovery code (recovery.py).
    Column("recovery_digest", Text),
    # The caller's last ended round, until the caller has seen the result (notices.py).
    Column("untold_round", Integer),
    # When the sysop muted the caller; NULL if not muted (messages.py).
    Column("muted", Integer),
    # When the caller registered, until the sysop approves them; NULL for one who does not wait.
    Column("waits", Integer),
    # When the time and the preferences of a deleted caller were removed (deletion.py). Until then
    # the sysop can bring the caller back.
    Column("removed", Integer),
    # Numbers are never reused, so the history of a deleted caller stays with its number.
)
_index("one_living_caller_a_name", callers.c.fold, unique=True, where="deleted IS NULL")
_index("callers_by_skeleton", callers.c.skeleton, where="deleted IS NULL")
_index(
    "one_living_caller_a_key",
    callers.c.board,
    callers.c.board_key,
    unique=True,
    where="deleted IS NULL AND board IS NOT NULL",
)

accounts = _numbered_table(
    "accounts",
    Column("kind", Text, nullable=False),
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text),
    Column("unit", Text, nullable=False),
    _integer("balance"),
    CheckConstraint("unit IN ('second', 'usd-cent', 'frf-cent')", name="known_unit"),
    CheckConstraint(f"kind NOT IN ({_NEVER_NEGATIVE}) OR balance >= 0", name="never_negative"),
    CheckConstraint("kind <> 'loan' OR balance <= 0", name="never_positive"),
    UniqueConstraint("caller_id", "unit", "kind", name="one_account_a_kind"),
    # Numbers are never reused, because exports and digests name accounts by number.
)
_index("one_house_a_game", accounts.c.game, accounts.c.unit, unique=True, where="kind = 'house'")
_index("banks_by_balance", accounts.c.balance, where="kind = 'bank' AND unit = 'second'")
_index("one_mint_a_unit", accounts.c.unit, unique=True, where="kind = 'mint'")
_index("one_account_of_prizes", accounts.c.kind, unique=True, where="kind = 'prizes'")
_index("one_account_of_duels", accounts.c.kind, unique=True, where="kind = 'duels'")

calls = _numbered_table(
    "calls",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    _integer("node"),
    # The process that serves the call; a text that is unique to it.
    Column("process", Text, nullable=False),
    Column("address", Text, nullable=False),
    _integer("opened"),
    Column("closed", Integer),
    Column("reason", Text),
    # Seconds since log-on: charged, or waived because no time was left.
    _integer("ticked"),
    _integer("charged"),
    _integer("waived"),
    _integer("renewed"),
    _integer("ticked_at_renewal"),
    Column("note", Text),
    # When its server last renewed it, by the database server's clock; NULL for books in a file.
    Column("seen", Integer),
    # The node is not ours: another board gave the number, or the sysop called without a line.
    _integer("away", "IN (0, 1)", 0),
    CheckConstraint("ticked = charged + waived AND charged >= 0 AND waived >= 0", name="told"),
)
_index("one_open_call_a_caller", calls.c.caller_id, unique=True, where="closed IS NULL")
_index("one_open_call_a_node", calls.c.node, unique=True, where="closed IS NULL AND away = 0")
_index("calls_of_a_caller", calls.c.caller_id, calls.c.id)

# Hash chains of seeds, sealed in advance (wagers/chains.py); each new shoe takes the next link. All
# remaining seeds of a chain follow from its `root`, which must stay secret.
chains = Table(
    "chains",
    metadata,
    # The hash of the first seed, in hexadecimal.
    Column("anchor", Text, primary_key=True),
    # The caller or table, as in `shoes`.
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text, nullable=False),
    _integer("at_table", "> 0", 1),
    Column("root", LargeBinary, nullable=False),
    _integer("length", "> 0"),
    _integer("used", ">= 0"),
    # The last day on which a shoe may take a link.
    Column("day", Text, nullable=False),
    _integer("opened"),
    Column("closed", Integer),
    CheckConstraint("used <= length", name="no_more_links"),
    sqlite_with_rowid=False,
)
_index(
    "one_open_chain_a_game", chains.c.caller_id, chains.c.game, unique=True, where="closed IS NULL"
)
_index(
    "one_open_chain_a_table",
    chains.c.game,
    chains.c.at_table,
    unique=True,
    where="closed IS NULL AND caller_id IS NULL",
)

shoes = _numbered_table(
    "shoes",
    # NULL for a table that callers share.
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text, nullable=False),
    _integer("decks", "> 0"),
    Column("seed", LargeBinary, nullable=False),
    Column("seal", Text, nullable=False),
    # The caller's cut, '' for none; NULL until the first hand is dealt.
    Column("cut", Text),
    _integer("opened"),
    Column("closed", Integer),
    # The table of the game; 1 if a caller plays alone. A round belongs to its shoe's table.
    _integer("at_table", "> 0", 1),
    # The chain of its seed, and the link's number from 1; NULL for a seed without a chain.
    Column("anchor", Text),
    Column("link", Integer),
    # The round of drand that release 1.0 shuffled it with, as JSON; its `signature` decides the
    # order of the cards (docs/fairness.md, version 3). NULL for later shoes.
    Column("beacon", Text),
)
_index("one_shoe_a_link", shoes.c.anchor, shoes.c.link, unique=True, where="anchor IS NOT NULL")
_index("one_open_shoe_a_game", shoes.c.caller_id, shoes.c.game, unique=True, where="closed IS NULL")
_index(
    "one_open_shoe_a_table",
    shoes.c.game,
    shoes.c.at_table,
    unique=True,
    where="closed IS NULL AND caller_id IS NULL",
)

rounds = _numbered_table(
    "rounds",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("game", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("call_id", ForeignKey("calls.id"), nullable=False),
    Column("shoe_id", ForeignKey("shoes.id")),
    # How many cards of the shoe were dealt before this hand.
    _integer("start_position"),
    _integer("bet", "> 0"),
    # The value of a coin when the hand was dealt.
    _integer("coin"),
    Column("rules", Text, nullable=False),
    _integer("dealt"),
    # The amounts settled so far; they equal the sums of the hand's transfers.
    _integer("lost"),
    _integer("returned"),
    _integer("won"),
    Column("settled", Integer),
    # 'void' if the caller was deleted during the hand, or the books were restored (`result`).
    Column("outcome", Text),
    Column("result", Text),
    # The unit of the amounts.
    Column(
        "unit",
        Text,
        CheckConstraint("unit IN ('second', 'usd-cent', 'frf-cent')"),
        server_default=text("'second'"),
        nullable=False,
    ),
    _integer("seat", "> 0", 1),
    # The round of the first seat, whose journal is shared by all seats; NULL for that seat itself,
    # and for a caller who plays alone.
    Column("lead", ForeignKey("rounds.id")),
    CheckConstraint("(settled IS NULL) = (outcome IS NULL)", name="settled_with_an_outcome"),
)
_index("one_round_in_play", rounds.c.caller_id, unique=True, where="settled IS NULL")
_index("turns_of_a_day", rounds.c.caller_id, rounds.c.day, rounds.c.unit, rounds.c.game)
_index("rounds_of_a_shoe", rounds.c.shoe_id)
_index("one_round_a_seat", rounds.c.lead, rounds.c.seat, unique=True, where="lead IS NOT NULL")

# Running totals of hands that ended and are not void (callers/hand_totals.py), so that a ranking
# need not read millions of hands: by caller, game and `unit`, for each day and for all time.


def _totals(name: str, *days: Column[str], ever: tuple[Column[int], ...] = ()) -> Table:
    """Define a table of hand totals; `days` are more key columns, `ever` more columns."""
    return Table(
        name,
        metadata,
        *days,
        Column("caller_id", ForeignKey("callers.id"), primary_key=True),
        Column("game", Text, primary_key=True),
        Column("unit", Text, primary_key=True),
        _integer("hands"),
        _integer("lost"),
        _integer("won"),
        # Hands with a net win, and hands that broke even; all others were lost.
        _integer("hands_won"),
        _integer("hands_even"),
        # Hands paid as a natural or as a Charlie, by their outcomes.
        _integer("naturals"),
        _integer("charlies"),
        # The greatest net win of one hand; 0 without any.
        _integer("best"),
        *ever,
        sqlite_with_rowid=False,
    )


results = _totals("results", Column("day", Text, primary_key=True))
results_ever = _totals(
    "results_ever",
    # The current streak (positive for wins, negative for losses), and the longest streaks of wins
    # and of losses. A hand that breaks even neither counts nor ends a streak.
    ever=(_integer("streak"), _integer("longest_won"), _integer("longest_lost")),
)

# The awards of callers, each once (callers/awards.py). An award for a hand names it.
awards = Table(
    "awards",
    metadata,
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    # A word, or "won " and a game.
    Column("award", Text, primary_key=True),
    _integer("at"),
    Column("round_id", ForeignKey("rounds.id")),
    # When the caller saw it; NULL until then.
    Column("told", Integer),
    sqlite_with_rowid=False,
)
_index("awards_by_time", awards.c.at)
_index("awards_to_tell", awards.c.caller_id, where="told IS NULL")

actions = Table(
    "actions",
    metadata,
    Column("round_id", ForeignKey("rounds.id"), primary_key=True),
    Column("sequence", Integer, CheckConstraint("sequence >= 0"), primary_key=True),
    Column("action", Text, nullable=False),
    _integer("cards_used"),
    Column("call_id", ForeignKey("calls.id")),
    _integer("at"),
    sqlite_with_rowid=False,
)

transfers = _numbered_table(
    "transfers",
    # The row is number `place` of the `size` consecutive rows of its entry.
    _integer("place"),
    _integer("size"),
    Column("entry", Integer, Computed("id - place + 1", persisted=False)),
    _integer("at"),
    Column("kind", Text, nullable=False),
    _integer("amount", "> 0"),
    Column("source", ForeignKey("accounts.id"), nullable=False),
    Column("target", ForeignKey("accounts.id"), nullable=False),
    # The reason as a JSON object (reasons.py).
    Column("facts", Text, nullable=False),
    Column("call_id", ForeignKey("calls.id")),
    Column("round_id", ForeignKey("rounds.id")),
    # SHA-256 over the row and the digest before it (chain.py).
    Column("digest", Text, CheckConstraint("length(digest) = 64"), nullable=False),
    CheckConstraint("source <> target", name="two_accounts"),
    CheckConstraint("place BETWEEN 1 AND size", name="place_in_entry"),
    # Numbers are never reused, so a removed last row leaves a gap.
)
_index("transfers_from", transfers.c.source)
_index("transfers_to", transfers.c.target)
_index("transfers_of_a_round", transfers.c.round_id, where="round_id IS NOT NULL")
# Transfers joined with both accounts, for queries.
source, target = accounts.alias("source_account"), accounts.alias("target_account")
transfers_with_accounts = transfers.join(source, source.c.id == transfers.c.source).join(
    target, target.c.id == transfers.c.target
)

days = Table(
    "days",
    metadata,
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    Column("day", Text, primary_key=True),
    # The last transfer before the caller's day; earned time is counted from here (reading.EARNED).
    _integer("after"),
    # The transfer of the day's grant; NULL if the board grants nothing.
    Column("grant_id", ForeignKey("transfers.id"), unique=True),
    # Seconds on the table that were an earlier day's minutes; they are forfeited when they return.
    _integer("standing", ">= 0", 0),
    # Seconds to add to the earnings of the day's transfers. First, earlier earnings that were on
    # the table when the day began, or stayed in the purse of a frozen account. Second, all time
    # that has left `standing` since: this day's transfers lost or forfeited it, though it was not
    # earned on this day.
    _integer("carried", ">= 0", 0),
    # The loan in seconds when the day began, before the grant paid its share.
    _integer("owed", ">= 0", nullable=True),
    # Uncharged seconds given on the day, counted before they are used (calls/grace.py).
    _integer("grace", ">= 0", 0),
    sqlite_with_rowid=False,
)

# Days that a wrong clock began and that were cancelled, with the grants that they had.
mended_days = _numbered_table(
    "mended_days",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("day", Text, nullable=False),
    Column("grant_id", ForeignKey("transfers.id"), unique=True),
    # When it was cancelled.
    _integer("mended"),
    key="number",
)

# What is known of the wall clock, one row for each boot of the machine (clock.Belief).
clocks = _numbered_table(
    "clocks",
    Column("boot", Text, nullable=False, unique=True),
    Column("zero", Float, nullable=False),
    Column("since", Float, nullable=False),
    _integer("certain", "IN (0, 1)"),
    Column("sure", Float, nullable=False),
    Column("leap", Float),
    Column("agreed", Float),
    Column("noted", Float),
    Column("after", Integer),
    key="number",
)

outbox = Table(
    "outbox",
    metadata,
    # The number of the record, which is that of its transfer to `external`.
    Column("number", ForeignKey("transfers.id"), primary_key=True),
    Column("name", Text, nullable=False),
    _integer("minutes", "> 0"),
    Column("source", Text, nullable=False),
    _integer("at"),
    # waiting -> appending -> appended, or -> doubtful, which the sysop must settle.
    _state_column("waiting", "appending", "appended", "doubtful"),
    # The state of the file before the append, in the form of thebank/outbox.py.
    Column("mark", Text),
    Column("appended", Integer),
)
_index("outbox_to_do", outbox.c.number, where="state <> 'appended'")

notices = _numbered_table(
    "notices",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    _integer("at"),
    Column("text", Text, nullable=False),
    Column("shown", Integer),
)
_index("notices_to_show", notices.c.caller_id, where="shown IS NULL")
_index("notices_of_a_caller", notices.c.caller_id, notices.c.id)

# Messages between callers (messages.py).
messages = _numbered_table(
    "messages",
    Column("sender_id", ForeignKey("callers.id"), nullable=False),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    _integer("at"),
    Column("text", Text, nullable=False),
    Column("shown", Integer),
)
_index("messages_to_show", messages.c.caller_id, where="shown IS NULL")
_index("messages_of_a_caller", messages.c.caller_id, messages.c.id)
_index("messages_by_a_caller", messages.c.sender_id, messages.c.at)

# Lines on the wall of the menu, one a call (messages.py).
one_liners = _numbered_table(
    "one_liners",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("call_id", ForeignKey("calls.id"), nullable=False, unique=True),
    _integer("at"),
    Column("text", Text, nullable=False),
)

sysop_log = _numbered_table(
    "sysop_log",
    _integer("at"),
    # A sysop's name, or the source: "jane (command line)", "import".
    Column("by", Text, nullable=False),
    # The affected caller.
    Column("caller_id", ForeignKey("callers.id")),
    Column("what", Text, nullable=False),
)

imports = _numbered_table(
    "imports",
    # The file's path with links resolved, its unique name after renaming, and its .BAK file.
    Column("path", Text, nullable=False),
    Column("taken", Text, nullable=False),
    Column("kept", Text),
    _state_column("reading", "taking", "taken", "keeping", "kept", "closed"),
    # How far it was read, in bytes and in line ends, and the last of these bytes.
    _integer("bytes", ">= 0"),
    _integer("lines", ">= 0"),
    Column("recent", Text, nullable=False),
    _integer("changed"),
)
_index("imports_to_do", imports.c.path, where="state <> 'closed'")
_index("imports_kept", imports.c.kept)

import_lines = Table(
    "import_lines",
    metadata,
    Column("import_id", ForeignKey("imports.id"), primary_key=True),
    # The line's offset in the file, in bytes.
    Column("start", Integer, CheckConstraint("start >= 0"), primary_key=True),
    # The line's number, from 1.
    _integer("line", "> 0"),
    # The line's transfer; or the reason for its refusal, and its printable text. `told` is 0 only
    # for refused lines that are missing from the .ERR file of release 1.0.
    Column("transfer_id", ForeignKey("transfers.id"), unique=True),
    Column("reason", Text),
    Column("text", Text),
    _integer("told", "IN (0, 1)"),
    CheckConstraint("(transfer_id IS NULL) <> (reason IS NULL)", name="applied_or_refused"),
    sqlite_with_rowid=False,
)
_index("import_lines_to_tell", import_lines.c.import_id, where="told = 0")

# A restore begins a new generation of the books; the first generation has no row.
generations = Table(
    "generations",
    metadata,
    Column("number", Integer, CheckConstraint("number > 1"), primary_key=True),
    _integer("at"),
    # When the restored copy was made; NULL if unknown.
    Column("copied", Integer),
    # The last transfer of the generation before, and the first of this one.
    _integer("after"),
    _integer("first"),
    # The first row numbers of this generation by table, as a JSON object.
    Column("numbers", Text, nullable=False),
    # The number of open shoes, hands and calls that the restore closed.
    _integer("shoes"),
    _integer("hands"),
    _integer("calls"),
    # The user at the "(command line)", or "the board" for a file that was replaced by hand.
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    # SHA-256 over the row and the digest before it; the first transfer continues the chain.
    Column("digest", Text, CheckConstraint("length(digest) = 64"), nullable=False),
    CheckConstraint("first > after", name="past_any_before"),
)
# Distinguishes the books from a copy that was put in their place (live_mark.py).
identity = Table(
    "identity",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True),
    Column("mark", Text, nullable=False),
    # When this copy was made; NULL in the books themselves.
    Column("copied", Integer),
    # The number of transactions, by which lost ones are noticed (high_water.py).
    _integer("commits", otherwise=0),
)

# The visits of other boards' callers. Amounts are seconds. See `visit.HostSession`.
visits = _numbered_table(
    "visits",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    # NULL if a hand was settled for a caller who was not on a call.
    Column("call_id", ForeignKey("calls.id"), unique=True),
    # The day whose debts the visit adds to and pays.
    Column("day", Text, nullable=False),
    # The time left on the host's clock at the entry, NULL for a host without one. `clock` has the
    # rest of the day's allowance then.
    Column("shown", Integer),
    _integer("clock", ">= 0"),
    # The host's next event, or the time by which the caller must be back.
    Column("until", Integer),
    # The file by which gains return to the host, NULL for none; whether its clock can show losses.
    Column("way", Text),
    _integer("shows_losses", "IN (0, 1)"),
    # The debt of the day that was subtracted.
    _integer("debt", ">= 0"),
    # On the table at the entry: the whole stake, the host's part, and the caller's own.
    _integer("staked"),
    _integer("standing"),
    _integer("standing_own"),
    # external -> online; and time from bank and loan, less time moved there.
    _integer("brought", ">= 0"),
    _integer("own"),
    # At the exit: the instant, the used time, and winnings less losses.
    Column("closed", Integer),
    Column("elapsed", Integer),
    Column("result", Integer),
    # The debt of the day at the exit, how much of it the gain paid, and how much was added.
    _integer("owed", ">= 0", nullable=True),
    _integer("debt_paid", ">= 0", nullable=True),
    _integer("debt_added", ">= 0", nullable=True),
    # external -> online again: time that the host's clock counted beyond the brought time.
    _integer("also_brought", ">= 0", nullable=True),
    # The loan at the exit, and the caller's own time that paid it.
    _integer("loan", ">= 0", nullable=True),
    _integer("loan_paid", ">= 0", nullable=True),
    # The gain; the time returned to the bank; the time taken home.
    _integer("gain", ">= 0", nullable=True),
    _integer("put_back", ">= 0", nullable=True),
    _integer("taken_home", ">= 0", nullable=True),
    # Still on the table: the whole stake, the host's part, and the caller's own.
    Column("left_staked", Integer),
    Column("left_standing", Integer),
    Column("left_own", Integer),
)
_index("visits_of_a_caller", visits.c.caller_id)
_index("visits_of_a_day", visits.c.caller_id, visits.c.day)

given_back = _numbered_table(
    "given_back",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    # The transfer of the gain to `external`; NULL for a loss.
    Column("transfer_id", ForeignKey("transfers.id"), unique=True),
    # Negative for a loss of `day` that the host's clock should show.
    _integer("minutes", "<> 0"),
    Column("day", Text, nullable=False),
    # The file that it is or will be written to.
    Column("way", Text, nullable=False),
    # waiting -> writing -> written, or -> kept here, or -> doubtful, which the sysop must settle.
    _state_column("waiting", "writing", "written", "kept", "doubtful"),
    _integer("at"),
    # Rows that are written together have the same claim.
    Column("claim", Text),
    _integer("changed"),
    # The transfer that moved it back, if it is kept here.
    Column("kept_id", ForeignKey("transfers.id"), unique=True),
    # Why it is doubtful or kept.
    Column("why", Text),
    CheckConstraint("(transfer_id IS NULL) = (minutes < 0)", name="gains_were_moved"),
    key="number",
)
Index("given_back_of_a_caller", given_back.c.caller_id, given_back.c.state)

# The limits that callers set for themselves (own_limits.OwnLimits).
own_limits = Table(
    "own_limits",
    metadata,
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    _integer("most_lost", "> 0", nullable=True),
    _integer("later_lost", ">= 0", nullable=True),
    Column("later_from", Integer),
    Column("paused_until", Integer),
    _integer("hourly", "IN (0, 1)", 0),
    Column("hourly_until", Integer),
    Column("told", Integer),
    CheckConstraint("(later_lost IS NULL) = (later_from IS NULL)", name="later_at_some_time"),
    sqlite_with_rowid=False,
)

# Events that the sysop started early (schedule.EarlyEvent). A row is deleted when its event is
# cancelled, and some time after its end.
early_events = Table(
    "early_events",
    metadata,
    Column("starts", Integer, primary_key=True),
    _integer("ends"),
    Column("name", Text, nullable=False),
    Column("instead_of", Integer),
    CheckConstraint("ends > starts", name="it_lasts"),
    sqlite_with_rowid=False,
)

# The shoes of contests (wagers/contests.py): of daily deals, tournaments and duels. The seed of an
# open shoe tells every card.
deals = Table(
    "deals",
    metadata,
    # The hash of the seed, in hexadecimal; the name of a world's deal, such as world/1/2026-11-28.
    Column("seal", Text, primary_key=True),
    Column("day", Text, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    # The rules of the deal as JSON, which changes of the house's rules do not affect.
    Column("rules", Text, nullable=False),
    _integer("opened"),
    Column("closed", Integer),
    _integer("daily", "IN (0, 1)", 1),
    sqlite_with_rowid=False,
)
_index("one_open_deal_a_day", deals.c.day, unique=True, where="closed IS NULL AND daily = 1")
_index("deals_closed", deals.c.closed, where="closed IS NOT NULL")

# A caller's one try at a deal.
deal_tries = Table(
    "deal_tries",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    _integer("begun"),
    # The decisions so far, words with spaces between, from which the hands are replayed.
    Column("acts", Text, server_default=text("''"), nullable=False),
    # When the last hand ended, and the result in the unit of the stakes.
    Column("finished", Integer),
    Column("score", Integer),
    # The cost of the decisions against the book, in ten-thousandths of a bet; NULL until computed.
    Column("cost", Integer),
    CheckConstraint("(finished IS NULL) = (score IS NULL)", name="finished_with_a_score"),
    CheckConstraint("cost IS NULL OR finished IS NOT NULL", name="weighed_when_finished"),
    sqlite_with_rowid=False,
)

# Tournaments (wagers/tournaments.py): deals played for minutes. Amounts are seconds.
tournaments = Table(
    "tournaments",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    # The game whose rules are played, and the number of hands.
    Column("game", Text, nullable=False),
    _integer("hands", "> 0"),
    _integer("starts"),
    _integer("ends"),
    # The fee of a caller who can win a prize.
    _integer("entry", ">= 0"),
    # The house's prizes by place, without shares of the fees: a JSON list. All are put up already.
    Column("prizes", Text, nullable=False),
    # The house's money for prizes, the transfer that put it in, and the one that took it back.
    _integer("put_in", ">= 0"),
    Column("put_in_id", ForeignKey("transfers.id"), unique=True),
    Column("taken_back_id", ForeignKey("transfers.id"), unique=True),
    # 1 until it has an outcome, so that only one tournament runs at a time; then NULL.
    Column("running", Integer, CheckConstraint("running = 1"), unique=True),
    # How it ended: 'settled'; 'empty', if no caller finished it; 'called off' by the sysop;
    # 'restored', if the books were restored while it ran.
    Column(
        "outcome",
        Text,
        CheckConstraint("outcome IN ('settled', 'empty', 'called off', 'restored')"),
    ),
    CheckConstraint("ends > starts", name="it_is_open_for_a_while"),
    CheckConstraint("(running IS NULL) = (outcome IS NOT NULL)", name="ended_somehow"),
    CheckConstraint("(put_in = 0) = (put_in_id IS NULL)", name="put_in_by_a_transfer"),
    CheckConstraint("taken_back_id IS NULL OR put_in_id IS NOT NULL", name="taken_back_of_that"),
    sqlite_with_rowid=False,
)

_index("tournaments_settled", tournaments.c.ends, where="outcome = 'settled'")

# Duels (wagers/duels.py): two callers play a shoe, and each pays the stake in seconds. The
# challenger enters first. The rival's entry accepts the duel.
duels = Table(
    "duels",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("challenger_id", ForeignKey("callers.id"), nullable=False),
    Column("rival_id", ForeignKey("callers.id"), nullable=False),
    Column("game", Text, nullable=False),
    *(_integer("hands", "> 0"), _integer("stake", "> 0"), _integer("ends")),
    # NULL while it is open. All but 'won' give the stakes back: 'even', equal results; 'declined',
    # by the rival or withdrawn; 'expired', not played in time; 'called off', by the board;
    # 'restored', if the books were restored.
    Column(
        "outcome",
        Text,
        CheckConstraint(
            "outcome IN ('won', 'even', 'declined', 'expired', 'called off', 'restored')"
        ),
    ),
    CheckConstraint("challenger_id <> rival_id", name="between_two"),
    sqlite_with_rowid=False,
)
_index("open_duels", duels.c.ends, where="outcome IS NULL")
_index("duels_of_a_challenger", duels.c.challenger_id)
_index("duels_of_a_rival", duels.c.rival_id)

# The entries of callers in tournaments and duels. In a tournament the caller also has a row in
# `deal_tries`.
contest_entries = Table(
    "contest_entries",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    _integer("at"),
    # The caller's day, on which the fee counts as lost against the caller's own limit.
    Column("day", Text, nullable=False),
    # Whether the caller can win a prize.
    _integer("for_prize", "IN (0, 1)"),
    _integer("paid", ">= 0"),
    Column("paid_id", ForeignKey("transfers.id"), unique=True),
    # The transfer that paid the fee back.
    Column("back_id", ForeignKey("transfers.id"), unique=True),
    # The final place, and whether the prize passed on because the account could not take it.
    Column("place", Integer, CheckConstraint("place > 0")),
    _integer("passed", "IN (0, 1)", 0),
    _integer("prize", ">= 0", 0),
    Column("prize_id", ForeignKey("transfers.id"), unique=True),
    CheckConstraint("(paid = 0) = (paid_id IS NULL)", name="paid_by_a_transfer"),
    CheckConstraint("(prize = 0) = (prize_id IS NULL)", name="won_by_a_transfer"),
    CheckConstraint("paid = 0 OR for_prize = 1", name="paid_for_a_prize"),
    CheckConstraint("prize = 0 OR (for_prize = 1 AND passed = 0)", name="won_by_one_who_can"),
    CheckConstraint("back_id IS NULL OR (paid > 0 AND prize = 0)", name="given_back_once"),
    sqlite_with_rowid=False,
)
_index("entries_of_a_caller", contest_entries.c.caller_id, contest_entries.c.day)

# The servers that serve from these books, and their leases (timebank/servers). Instants are by the
# database's clock. Both tables are left out of a move, and emptied by a restore.
servers = _numbered_table(
    "servers",
    # Its name for people, unique among living servers.
    Column("name", Text, nullable=False),
    # The name of its process, as in `calls`.
    Column("process", Text, nullable=False),
    # The settings that must be equal on all servers, as a JSON object.
    Column("settings", Text, nullable=False),
    # The version of the program.
    Column("version", Text, nullable=False),
    _integer("started"),
    _integer("renewed"),
    # The server accepts no new calls.
    _integer("draining", "IN (0, 1)", 0),
)
leases = Table(
    "leases",
    metadata,
    # The name of the lease: "jobs", "vegas/1".
    Column("name", Text, primary_key=True),
    # The number of the holder; NULL after its release.
    Column("server", Integer),
    # Grows by one with each new holder only, so that late writes of an earlier holder are refused.
    _integer("fence", ">= 0"),
    # When it expires, unless it is renewed.
    _integer("until"),
    sqlite_with_rowid=False,
)
# Tables that belong to one place and are not copied elsewhere.
LOCAL_TABLES = frozenset({identity, servers, leases})


def definitions(dialect: Dialect, excluding: Container[Any] = ()) -> list[str]:
    """Return the SQL of the tables and indexes, without the indexes named in `excluding`.

    The order is fixed, so that equal books are equal files.
    """
    elements: list[ExecutableDDLElement] = []
    for table in metadata.sorted_tables:
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        elements.append(CreateTable(table))
        elements += [CreateIndex(index) for index in indexes if index.name not in excluding]
    return [str(element.compile(dialect=dialect)) for element in elements]


def open_system_accounts(connection: Connection) -> None:
    connection.execute(
        accounts.insert(),
        [
            {"id": number, "kind": kind, "unit": "second", "balance": 0}
            for number, kind in SYSTEM_ACCOUNTS.items()
        ],
    )


def stamp(at: datetime) -> int:
    return int(at.timestamp() // 1)


def instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
