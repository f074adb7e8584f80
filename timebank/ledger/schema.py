"""The tables of the books, and the triggers that keep them honest.

Three rules are held by the database itself, so that no program that opens it can break them:

- a transfer is only ever added: triggers refuse UPDATE and DELETE;
- a balance follows its rows: the trigger that sees a transfer come in moves both balances;
- signs hold: a CHECK refuses a balance that its kind of account may not have.

An instant is stored as whole seconds since 1970 in UTC, a day as `YYYY-MM-DD` in the zone of the
board, an amount as an integer in the unit of its accounts (seconds, or cents of play money).
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

# "BJ4T" in ASCII, so that `file` and we ourselves can tell these books from any other database.
APPLICATION_ID = 0x424A3454
# Books that `timebank move` has not put there as a whole yet ("BJ4+"), and those that it has taken
# elsewhere ("BJ4-"): nobody serves from either.
MOVING_IN = 0x424A342B
MOVED_AWAY = 0x424A342D


# The accounts of the system: one each, with numbers that never change.
SYSTEM_ACCOUNTS = {
    1: "allotment",
    2: "elapsed",
    3: "forfeit",
    4: "external",
    5: "adjustment",
}
# The accounts that every caller has from the day they register.
CALLER_ACCOUNTS = ("online", "held", "bank", "stake", "loan")
# Those that they get, for each unit of play money, with the first wager of it. What they own there;
# the bank that they alone face; and what has been won and lost by one who never pays.
PLAY_ACCOUNTS = ("bankroll", "stake", "casino", "tab")
# Where the money of a unit comes from and goes to, opened when it is first needed.
MINT = "mint"

# What is put up for tournaments, and has not been won yet: opened when it is first needed.
PRIZES = "prizes"
# The stakes of open duels: opened when it is first needed.
DUELS = "duels"

# What each kind of account may hold; audit reads the same table as the CHECK below.
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
    """Index a table, or those of its rows that meet a condition, in every dialect."""
    Index(name, *columns, unique=unique, sqlite_where=None if where is None else text(where))


@compiles(CreateIndex, "postgresql")
def _in_postgresql(create: CreateIndex, compiler: DDLCompiler, **how: Any) -> str:
    """Index the same rows as in SQLite; to say so beforehand would import the dialect."""
    options = create.element.dialect_options
    options["postgresql"]["where"] = options["sqlite"]["where"]
    written: str = compiler.visit_create_index(create, **how)  # type: ignore[no-untyped-call]
    return written


def _integer(
    name: str, check: str = "", otherwise: int | None = None, *, nullable: bool = False
) -> Column[int]:
    """Lay a column of whole numbers, `check` what holds of them: ">= 0"."""
    checks = [CheckConstraint(f"{name} {check}")] if check else []
    default = None if otherwise is None else text(str(otherwise))
    return Column(name, Integer, *checks, server_default=default, nullable=nullable)


def _state_column(*states: str) -> Column[str]:
    known = ", ".join(f"'{state}'" for state in states)
    return Column("state", Text, CheckConstraint(f"state IN ({known})"), nullable=False)


def _numbered_table(name: str, *parts: SchemaItem, key: str = "id") -> Table:
    """Lay a table whose rows have numbers, none of which is ever used twice."""
    number = Column(key, Integer, primary_key=True)
    return Table(name, metadata, number, *parts, sqlite_autoincrement=True)


callers = _numbered_table(
    "callers",
    Column("name", Text, nullable=False),
    # names.fold(name): two living callers may not look alike.
    Column("fold", Text, nullable=False),
    # What the name looks like, behind the version of the tables that say so (look_alikes.py).
    Column("skeleton", Text, server_default=text("''"), nullable=False),
    Column("password_hash", Text, nullable=False),
    _integer("locked", "IN (0, 1)"),
    _integer("created"),
    Column("last_call", Integer),
    Column("deleted", Integer),
    # The day last seen on a call; it only goes forward.
    Column("day", Text),
    # The end and the name of the closed period that the account `held` waits behind.
    Column("held_until", Integer),
    Column("held_behind", Text),
    Column("preferences", Text, nullable=False),
    # The sysop lets nothing in or out of their account but what an event cutoff puts there.
    _integer("frozen", "IN (0, 1)", 0),
    # For a caller of another board: its name, and what it knows them by. Both NULL for our own.
    Column("board", Text),
    Column("board_key", Text, CheckConstraint("(board IS NULL) = (board_key IS NULL)")),
    # The caller has the sysop's powers (powers.py); nobody has who is deleted, or another board's.
    _integer("powers", "= 0 OR (powers = 1 AND deleted IS NULL AND board IS NULL)", 0),
    # Of the recovery code that works: see recovery.py.
    Column("recovery_digest", Text),
    # The last round that ended for this caller, until it is known that they were told how
    # (notices.py).
    Column("untold_round", Integer),
    # Since when the sysop lets them say nothing to others; NULL while they may (messages.py).
    Column("muted", Integer),
    # Numbers are never used twice: the history of a deleted caller stays theirs.
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
    # Exports and noted digests name accounts by their numbers: none is used twice.
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
    # Which process serves it; any text that no other process uses.
    Column("process", Text, nullable=False),
    Column("address", Text, nullable=False),
    _integer("opened"),
    Column("closed", Integer),
    Column("reason", Text),
    # Seconds since log-on that are accounted for = charged + waived (there was nothing left).
    _integer("ticked"),
    _integer("charged"),
    _integer("waived"),
    _integer("renewed"),
    _integer("ticked_at_renewal"),
    Column("note", Text),
    # When its server renewed it last, by the clock of the server that the books are on; NULL for
    # books in a file.
    Column("seen", Integer),
    # The node is none of ours: another board has given its number, or the sysop calls by no line.
    _integer("away", "IN (0, 1)", 0),
    CheckConstraint("ticked = charged + waived AND charged >= 0 AND waived >= 0", name="told"),
)
_index("one_open_call_a_caller", calls.c.caller_id, unique=True, where="closed IS NULL")
_index("one_open_call_a_node", calls.c.node, unique=True, where="closed IS NULL AND away = 0")
_index("calls_of_a_caller", calls.c.caller_id, calls.c.id)

# Hash chains that seeds come from, sealed ahead (wagers/chains.py): a shoe opened takes the next
# link. Whoever reads `root` knows every seed that is left in the chain.
chains = Table(
    "chains",
    metadata,
    # What the first seed hashes to, in hexadecimal.
    Column("anchor", Text, primary_key=True),
    # As of a shoe: whose it is, or which table's.
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text, nullable=False),
    _integer("at_table", "> 0", 1),
    Column("root", LargeBinary, nullable=False),
    _integer("length", "> 0"),
    _integer("used", ">= 0"),
    # The last day on which a shoe may be opened from it.
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
    # NULL for the shoe of a table that several callers share.
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text, nullable=False),
    _integer("decks", "> 0"),
    Column("seed", LargeBinary, nullable=False),
    Column("seal", Text, nullable=False),
    # NULL until the first hand is dealt from it, then what the caller said, '' for nothing.
    Column("cut", Text),
    _integer("opened"),
    Column("closed", Integer),
    # Which of the game's tables shares it; 1 where a caller plays alone. A round is of the table
    # that its shoe is of.
    _integer("at_table", "> 0", 1),
    # The chain that its seed is of, and which of its links, from 1; NULL for a seed by itself.
    Column("anchor", Text),
    Column("link", Integer),
    # The round of drand that release 1.0 shuffled it with, as JSON whose `signature` the order of
    # its cards comes from (docs/fairness.md, version 3); NULL for every shoe opened since.
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
    # How many cards of the shoe were gone before this hand.
    _integer("start_position"),
    _integer("bet", "> 0"),
    # What a coin was worth when the hand was dealt.
    _integer("coin"),
    Column("rules", Text, nullable=False),
    _integer("dealt"),
    # What was settled so far; the transfers of the hand must add up to these.
    _integer("lost"),
    _integer("returned"),
    _integer("won"),
    Column("settled", Integer),
    # 'void' when the caller was deleted with the hand still open, or the books were restored.
    Column("outcome", Text),
    Column("result", Text),
    # What the amounts are in.
    Column(
        "unit",
        Text,
        CheckConstraint("unit IN ('second', 'usd-cent', 'frf-cent')"),
        server_default=text("'second'"),
        nullable=False,
    ),
    _integer("seat", "> 0", 1),
    # The round of the first seat at a table of several, which keeps the journal for all of them;
    # NULL in that one itself, and where one plays alone.
    Column("lead", ForeignKey("rounds.id")),
    CheckConstraint("(settled IS NULL) = (outcome IS NULL)", name="settled_with_an_outcome"),
)
_index("one_round_in_play", rounds.c.caller_id, unique=True, where="settled IS NULL")
_index("turns_of_a_day", rounds.c.caller_id, rounds.c.day, rounds.c.unit, rounds.c.game)
_index("rounds_of_a_shoe", rounds.c.shoe_id)
_index("one_round_a_seat", rounds.c.lead, rounds.c.seat, unique=True, where="lead IS NOT NULL")

# Running totals of hands that are over and not void (callers/hand_totals.py): a ranking reads no
# million hands. What a caller won and lost at a game in a day, and ever, in `unit`.


def _totals(name: str, *days: Column[str], ever: tuple[Column[int], ...] = ()) -> Table:
    """Lay a table of how many hands somebody has played of what, and what they lost and won."""
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
        # Hands that won more than they lost, and those that won as much; all others were lost.
        _integer("hands_won"),
        _integer("hands_even"),
        # Hands with a natural, and with a Charlie, that were paid as such: by the words of their
        # outcomes.
        _integer("naturals"),
        _integer("charlies"),
        # The most that one hand won beyond what it lost; 0 without any.
        _integer("best"),
        *ever,
        sqlite_with_rowid=False,
    )


results = _totals("results", Column("day", Text, primary_key=True))
results_ever = _totals(
    "results_ever",
    # Hands in a row, won if above 0, lost if below: those of now, the most that were won, and the
    # most that were lost. One that comes out even neither counts nor ends a row.
    ever=(_integer("streak"), _integer("longest_won"), _integer("longest_lost")),
)

# What callers have done for the first time, each once (callers/awards.py). An award that a hand
# earned names it.
awards = Table(
    "awards",
    metadata,
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    # A word, or "won " and a game.
    Column("award", Text, primary_key=True),
    _integer("at"),
    Column("round_id", ForeignKey("rounds.id")),
    # When their caller was told; NULL until then.
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
    # The row is number `place` of the `size` rows of its entry, which follow one another.
    _integer("place"),
    _integer("size"),
    Column("entry", Integer, Computed("id - place + 1", persisted=False)),
    _integer("at"),
    Column("kind", Text, nullable=False),
    _integer("amount", "> 0"),
    Column("source", ForeignKey("accounts.id"), nullable=False),
    Column("target", ForeignKey("accounts.id"), nullable=False),
    # Why, as a JSON object (reasons.py); the sentence is made of it when it is shown.
    Column("facts", Text, nullable=False),
    Column("call_id", ForeignKey("calls.id")),
    Column("round_id", ForeignKey("rounds.id")),
    # SHA-256 over the row and the digest before it (chain.py).
    Column("digest", Text, CheckConstraint("length(digest) = 64"), nullable=False),
    CheckConstraint("source <> target", name="two_accounts"),
    CheckConstraint("place BETWEEN 1 AND size", name="place_in_entry"),
    # A removed last row leaves a gap that the next one cannot fill.
)
_index("transfers_from", transfers.c.source)
_index("transfers_to", transfers.c.target)
_index("transfers_of_a_round", transfers.c.round_id, where="round_id IS NOT NULL")
# Transfers with the two accounts of each, for queries.
source, target = accounts.alias("source_account"), accounts.alias("target_account")
moved = transfers.join(source, source.c.id == transfers.c.source).join(
    target, target.c.id == transfers.c.target
)

days = Table(
    "days",
    metadata,
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    Column("day", Text, primary_key=True),
    # The last transfer before the day began for this caller: what they earn is counted from here
    # (entry.EARNED).
    _integer("after"),
    # The day's grant; NULL when the board grants nothing.
    Column("grant_id", ForeignKey("transfers.id"), unique=True),
    # Seconds on the table since before the day: what of them is left of an earlier day's minutes,
    # and is forfeited when it comes back.
    _integer("standing", ">= 0", 0),
    # Seconds to add to what the day's transfers earned: what was earned before the day and stood on
    # the table when it began, or stayed online or held as the account was frozen; and all that has
    # left `standing` since, which transfers of this day lost or forfeited, though it was no loss of
    # this day's earnings.
    _integer("carried", ">= 0", 0),
    # Seconds that were owed on a loan when the day began, before its grant paid any of it.
    _integer("owed", ">= 0", nullable=True),
    # Seconds of grace that were given on it, counted before they are used (calls/grace.py).
    _integer("grace", ">= 0", 0),
    sqlite_with_rowid=False,
)

# Days that a wrong clock began, and that were taken back: their grants are accounted for here.
mended_days = _numbered_table(
    "mended_days",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("day", Text, nullable=False),
    Column("grant_id", ForeignKey("transfers.id"), unique=True),
    # When it was taken back.
    _integer("mended"),
    key="number",
)

# What is believed of the wall clock, a row for each boot of the machine: see clock.Belief.
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
    # The number of the record: that of the transfer to `external` which it tells of.
    Column("number", ForeignKey("transfers.id"), primary_key=True),
    Column("name", Text, nullable=False),
    _integer("minutes", "> 0"),
    Column("source", Text, nullable=False),
    _integer("at"),
    # waiting -> appending -> appended, or -> doubtful when only the sysop can tell.
    _state_column("waiting", "appending", "appended", "doubtful"),
    # What the file looked like before the append, as thebank/outbox.py wants to find it again.
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

# What callers write to each other (messages.py).
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

# What callers wrote on the wall of the menu, a line a call (messages.py).
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
    # Who did it, or what: a co-sysop's name, "jane (command line)", "import".
    Column("by", Text, nullable=False),
    # The caller it was done to.
    Column("caller_id", ForeignKey("callers.id")),
    Column("what", Text, nullable=False),
)

imports = _numbered_table(
    "imports",
    # Where other programs write the file, every link followed; the name it was taken over under,
    # which no other file ever had; and that of its .BAK.
    Column("path", Text, nullable=False),
    Column("taken", Text, nullable=False),
    Column("kept", Text),
    _state_column("reading", "taking", "taken", "keeping", "kept", "closed"),
    # How far it was read: bytes, ends of lines, and what the last of these bytes were.
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
    # The byte of the file at which the line begins.
    Column("start", Integer, CheckConstraint("start >= 0"), primary_key=True),
    # Lines count from 1, as an editor shows them.
    _integer("line", "> 0"),
    # What it moved; or why it was refused, and the line made fit for reading. `told` is 1, but for
    # refused lines that the .ERR file of release 1.0 lacked.
    Column("transfer_id", ForeignKey("transfers.id"), unique=True),
    Column("reason", Text),
    Column("text", Text),
    _integer("told", "IN (0, 1)"),
    CheckConstraint("(transfer_id IS NULL) <> (reason IS NULL)", name="applied_or_refused"),
    sqlite_with_rowid=False,
)
_index("import_lines_to_tell", import_lines.c.import_id, where="told = 0")

# A restore begins a new generation of the books; the first one has no row.
generations = Table(
    "generations",
    metadata,
    Column("number", Integer, CheckConstraint("number > 1"), primary_key=True),
    _integer("at"),
    # When the copy was taken that was restored; NULL where nobody knows.
    Column("copied", Integer),
    # The last number that was given to a transfer before, and the first of this generation.
    _integer("after"),
    _integer("first"),
    # The first number of this generation in every table that has numbers: a JSON object.
    Column("numbers", Text, nullable=False),
    # How many open shoes, hands and calls were closed.
    _integer("shoes"),
    _integer("hands"),
    _integer("calls"),
    # Who restored: a user at "(command line)", or "the board" for a file put there by hand.
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    # SHA-256 over the row and the digest before it; the first transfer continues it (chain.py).
    Column("digest", Text, CheckConstraint("length(digest) = 64"), nullable=False),
    CheckConstraint("first > after", name="past_any_before"),
)
# By which a file that was put in the place of the books is told from the books (live_mark.py).
identity = Table(
    "identity",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True),
    Column("mark", Text, nullable=False),
    # When this file was copied from the books; NULL in the books themselves.
    Column("copied", Integer),
    # How many transactions were written into the books, by which lost ones are noticed
    # (high_water.py).
    _integer("commits", otherwise=0),
)

# The visits of other boards' callers. Amounts are seconds; ledger/visit.py says what the columns
# are.
visits = _numbered_table(
    "visits",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    # NULL where a hand was settled for one who is on no call.
    Column("call_id", ForeignKey("calls.id"), unique=True),
    # The day whose debts it is charged and pays.
    Column("day", Text, nullable=False),
    # The time left that the host's clock showed at the entry, NULL for a host without one; and
    # what counts as such.
    Column("shown", Integer),
    _integer("clock", ">= 0"),
    # When the host's next event is, or must have them back.
    Column("until", Integer),
    # How gains can be given back to the host, NULL for not at all; its clock can show losses.
    Column("way", Text),
    _integer("shows_losses", "IN (0, 1)"),
    # The debt of the day that was taken off.
    _integer("debt", ">= 0"),
    # What was on the table at the entry: all of it, the host's part of it, and the caller's own.
    _integer("staked"),
    _integer("standing"),
    _integer("standing_own"),
    # external -> online; and what came out of bank and loan less what went there.
    _integer("brought", ">= 0"),
    _integer("own"),
    # At the exit: when, what was won less what was lost, and what became of it.
    Column("closed", Integer),
    Column("elapsed", Integer),
    Column("result", Integer),
    # The debt of the day then, what of it the gain paid, and what was added to it.
    _integer("owed", ">= 0", nullable=True),
    _integer("debt_paid", ">= 0", nullable=True),
    _integer("debt_added", ">= 0", nullable=True),
    # external -> online once more: what the host's clock counted beyond what was brought.
    _integer("also_brought", ">= 0", nullable=True),
    # What was owed on a loan then, and what of the caller's own paid it.
    _integer("loan", ">= 0", nullable=True),
    _integer("loan_paid", ">= 0", nullable=True),
    # The gain, whoever keeps it for them; what went back to their bank; what went home.
    _integer("gain", ">= 0", nullable=True),
    _integer("put_back", ">= 0", nullable=True),
    _integer("taken_home", ">= 0", nullable=True),
    # What is on the table still: all of it, the host's part, and the caller's own.
    Column("left_staked", Integer),
    Column("left_standing", Integer),
    Column("left_own", Integer),
)
_index("visits_of_a_caller", visits.c.caller_id)
_index("visits_of_a_day", visits.c.caller_id, visits.c.day)

given_back = _numbered_table(
    "given_back",
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    # The transfer to `external` that it tells of; NULL for a loss.
    Column("transfer_id", ForeignKey("transfers.id"), unique=True),
    # Below zero for a loss that the host's clock is to show, which is of this day.
    _integer("minutes", "<> 0"),
    Column("day", Text, nullable=False),
    # How it was written, or is to be.
    Column("way", Text, nullable=False),
    # waiting -> writing -> written, or -> kept here; or -> doubtful when only the sysop can tell.
    _state_column("waiting", "writing", "written", "kept", "doubtful"),
    _integer("at"),
    # Those that are written as one have the same claim.
    Column("claim", Text),
    _integer("changed"),
    # The transfer by which it came back, when it is kept here.
    Column("kept_id", ForeignKey("transfers.id"), unique=True),
    # Why it is doubtful, or kept.
    Column("why", Text),
    CheckConstraint("(transfer_id IS NULL) = (minutes < 0)", name="gains_were_moved"),
    key="number",
)
Index("given_back_of_a_caller", given_back.c.caller_id, given_back.c.state)

# Limits that callers have set for themselves: see own_limits.OwnLimits.
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

# Events that the sysop has started early: see schedule.EarlyEvent. A row goes when its event is
# taken back, and some time after it is over.
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
    # What the seed hashes to, in hexadecimal.
    Column("seal", Text, primary_key=True),
    Column("day", Text, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    # Those under which it is played, as JSON, whatever becomes of the house's.
    Column("rules", Text, nullable=False),
    _integer("opened"),
    Column("closed", Integer),
    _integer("daily", "IN (0, 1)", 1),
    sqlite_with_rowid=False,
)
_index("one_open_deal_a_day", deals.c.day, unique=True, where="closed IS NULL AND daily = 1")
_index("deals_closed", deals.c.closed, where="closed IS NOT NULL")

# The one try that a caller has at a deal.
deal_tries = Table(
    "deal_tries",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    _integer("begun"),
    # Their decisions so far, words with a space between: the hands are dealt again from these.
    Column("acts", Text, server_default=text("''"), nullable=False),
    # When the last hand was over, and what they had won then, in the unit of the stakes.
    Column("finished", Integer),
    Column("score", Integer),
    # What their decisions cost against the book, in ten-thousandths of a bet; NULL until somebody
    # has worked it out.
    Column("cost", Integer),
    CheckConstraint("(finished IS NULL) = (score IS NULL)", name="finished_with_a_score"),
    CheckConstraint("cost IS NULL OR finished IS NOT NULL", name="weighed_when_finished"),
    sqlite_with_rowid=False,
)

# Tournaments (wagers/tournaments.py): deals that are played for minutes. Amounts are seconds.
tournaments = Table(
    "tournaments",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    # The table whose rules are played, and for how many hands.
    Column("game", Text, nullable=False),
    _integer("hands", "> 0"),
    _integer("starts"),
    _integer("ends"),
    # What a caller pays who can win something.
    _integer("entry", ">= 0"),
    # What each place wins besides its share of the entries: a JSON list, all of it put up already.
    Column("prizes", Text, nullable=False),
    # What the house has put in for it, by which transfer; and by which it took that back.
    _integer("put_in", ">= 0"),
    Column("put_in_id", ForeignKey("transfers.id"), unique=True),
    Column("taken_back_id", ForeignKey("transfers.id"), unique=True),
    # 1 while it is open, or over and not settled: there is one alone.
    Column("running", Integer, CheckConstraint("running = 1"), unique=True),
    # How it ended: 'settled'; 'empty', when nobody had played it to its end; 'called off' by the
    # sysop; 'restored', when the books were put back while it ran.
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
    # 'restored', when the books were put back.
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

# Who entered a tournament or a duel, once. In a tournament they have a row in `deal_tries` as well.
contest_entries = Table(
    "contest_entries",
    metadata,
    Column("seal", ForeignKey("deals.seal"), primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    _integer("at"),
    # The caller's day: what they paid is lost on it, for their own limit.
    Column("day", Text, nullable=False),
    # Whether they can win a prize.
    _integer("for_prize", "IN (0, 1)"),
    _integer("paid", ">= 0"),
    Column("paid_id", ForeignKey("transfers.id"), unique=True),
    # What gave them back what they had paid.
    Column("back_id", ForeignKey("transfers.id"), unique=True),
    # Where they stood at the end, and whether their account could take in no prize then.
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

# Passwords that were tried at the pages and were not right: what stands for the address, and for
# the name (door/desk/pages/access.py). They go when nothing is owed for them any more.
page_tries = Table(
    "page_tries",
    metadata,
    # Nobody can guess it.
    Column("number", Text, primary_key=True),
    _integer("at"),
    Column("address", Text, nullable=False),
    Column("name", Text, nullable=False),
    sqlite_with_rowid=False,
)
_index("page_tries_from", page_tries.c.address)
_index("page_tries_for", page_tries.c.name)

# The servers that serve from these books, and what one of them has for itself for a while. Instants
# are by the database's clock (timebank/servers). Neither is any part of what the books tell: both
# stay behind when they are moved, and are emptied when they are restored.
servers = _numbered_table(
    "servers",
    # Its name among those that live, for people.
    Column("name", Text, nullable=False),
    # What its process calls itself in `calls`.
    Column("process", Text, nullable=False),
    # Those that must be equal on all: a JSON object.
    Column("settings", Text, nullable=False),
    # Of the program.
    Column("version", Text, nullable=False),
    _integer("started"),
    _integer("renewed"),
    # It lets nobody in any more.
    _integer("draining", "IN (0, 1)", 0),
)
leases = Table(
    "leases",
    metadata,
    # What is held: "jobs", "vegas/1".
    Column("name", Text, primary_key=True),
    # Who holds it; NULL for nobody, since it was let go.
    Column("server", Integer),
    # Grows by one with each new holder, and never else: what an earlier one still writes is refused
    # by it.
    _integer("fence", ">= 0"),
    # When it has run out, unless it is renewed.
    _integer("until"),
    sqlite_with_rowid=False,
)
# What is of this place alone.
LOCAL_TABLES = frozenset({identity, servers, leases})


def definitions(dialect: Dialect, excluding: Container[Any] = ()) -> list[str]:
    """Return what makes the tables and their indexes, except those that are named.

    They are in order, so that the same books are the same file.
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
