"""The tables of the books, and the triggers that keep them honest.

Three rules are held by the database itself, so that no program that opens it can break them:

- a transfer is only ever added: triggers refuse UPDATE and DELETE;
- a balance follows its rows: the trigger that sees a transfer come in moves both balances;
- signs hold: a CHECK refuses a balance that its kind of account may not have.

An instant is stored as whole seconds since 1970 in UTC, a day as `YYYY-MM-DD` in the zone of the
board, an amount as an integer in the unit of its accounts (seconds, or cents of play money).
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    CheckConstraint,
    Column,
    Computed,
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

SCHEMA_VERSION = 1

# "BJ4T" in ASCII, so that `file` and we ourselves can tell these books from any other database.
APPLICATION_ID = 0x424A3454
# "BJFT", of ledgers of before the first release, whose versions were 1 to 4: those are refused.
BEFORE_RELEASE = 0x424A4654


# The accounts of the system: one each, with numbers that never change.
SYSTEM_ACCOUNTS = {
    1: "allotment",
    2: "elapsed",
    3: "forfeit",
    4: "external",
    5: "adjustment",
}
# The accounts that every caller has from the day he registers.
CALLER_ACCOUNTS = ("online", "held", "bank", "stake", "loan")
# Those that he gets, for each unit of play money, with his first wager of it. What he owns there;
# the bank that he alone faces; and what has been won and lost by one who never pays.
PLAY_ACCOUNTS = ("bankroll", "stake", "casino", "tab")
# Where the money of a unit comes from and goes to, opened when it is first needed.
MINT = "mint"

# What each kind of account may hold; audit reads the same table as the CHECK below.
NEVER_NEGATIVE = frozenset(
    {"online", "held", "bank", "stake", "elapsed", "forfeit", "bankroll", "casino"}
)
NEVER_POSITIVE = frozenset({"loan"})

metadata = MetaData()

callers = Table(
    "callers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    # names.fold(name): two living callers may not look alike.
    Column("fold", Text, nullable=False),
    # What the name looks like, behind the version of the tables that say so (look_alikes.py).
    Column("skeleton", Text, server_default=text("''"), nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("locked", Integer, CheckConstraint("locked IN (0, 1)"), nullable=False),
    Column("created", Integer, nullable=False),
    Column("last_call", Integer),
    Column("deleted", Integer),
    # The day last seen on a call; it only goes forward.
    Column("day", Text),
    # The end and the name of the closed period that the account `held` waits behind.
    Column("held_until", Integer),
    Column("held_behind", Text),
    Column("preferences", Text, nullable=False),
    # The sysop lets nothing in or out of his account but what a clamp puts there.
    Column(
        "frozen",
        Integer,
        CheckConstraint("frozen IN (0, 1)"),
        server_default=text("0"),
        nullable=False,
    ),
    # For a caller of another board: its name, and what it knows him by. Both NULL for our own.
    Column("board", Text),
    Column("board_key", Text, CheckConstraint("(board IS NULL) = (board_key IS NULL)")),
    # The caller has the sysop's powers (powers.py); nobody has who is deleted, or another board's.
    Column(
        "powers",
        Integer,
        CheckConstraint("powers = 0 OR (powers = 1 AND deleted IS NULL AND board IS NULL)"),
        server_default=text("0"),
        nullable=False,
    ),
    # Of the recovery code that works: see recovery.py.
    Column("recovery_digest", Text),
    # The last round that ended for this caller, until it is known that they were told how
    # (notices.py).
    Column("untold_round", Integer),
    # Numbers are never used twice: the history of a deleted caller stays his.
    sqlite_autoincrement=True,
)
Index(
    "one_living_caller_a_name",
    callers.c.fold,
    unique=True,
    sqlite_where=text("deleted IS NULL"),
)
Index("callers_by_skeleton", callers.c.skeleton, sqlite_where=text("deleted IS NULL"))
Index(
    "one_living_caller_a_key",
    callers.c.board,
    callers.c.board_key,
    unique=True,
    sqlite_where=text("deleted IS NULL AND board IS NOT NULL"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text),
    Column("unit", Text, nullable=False),
    Column("balance", Integer, nullable=False),
    CheckConstraint("unit IN ('second', 'usd-cent', 'frf-cent')", name="known_unit"),
    CheckConstraint(
        "kind NOT IN ('online', 'held', 'bank', 'stake', 'elapsed', 'forfeit', 'bankroll',"
        " 'casino') OR balance >= 0",
        name="never_negative",
    ),
    CheckConstraint("kind <> 'loan' OR balance <= 0", name="never_positive"),
    UniqueConstraint("caller_id", "unit", "kind", name="one_account_a_kind"),
    # Exports and noted digests name accounts by their numbers: none is used twice.
    sqlite_autoincrement=True,
)
Index(
    "one_house_a_game",
    accounts.c.game,
    accounts.c.unit,
    unique=True,
    sqlite_where=text("kind = 'house'"),
)
Index(
    "banks_by_balance",
    accounts.c.balance,
    sqlite_where=text("kind = 'bank' AND unit = 'second'"),
)
Index("one_mint_a_unit", accounts.c.unit, unique=True, sqlite_where=text("kind = 'mint'"))

calls = Table(
    "calls",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("node", Integer, nullable=False),
    # Which process renews the lease; any text that no other process uses.
    Column("process", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("opened", Integer, nullable=False),
    Column("closed", Integer),
    Column("reason", Text),
    # Seconds since log-on that are accounted for = charged + waived (there was nothing left).
    Column("ticked", Integer, nullable=False),
    Column("charged", Integer, nullable=False),
    Column("waived", Integer, nullable=False),
    Column("renewed", Integer, nullable=False),
    Column("ticked_at_renewal", Integer, nullable=False),
    Column("note", Text),
    # Of the machine that renews the lease: which boot it is, and for how many seconds of it the
    # machine had been awake at the last renewal.
    Column("boot", Text),
    Column("awake", Float),
    CheckConstraint("ticked = charged + waived AND charged >= 0 AND waived >= 0", name="told"),
    sqlite_autoincrement=True,
)
Index(
    "one_open_call_a_caller",
    calls.c.caller_id,
    unique=True,
    sqlite_where=text("closed IS NULL"),
)

shoes = Table(
    "shoes",
    metadata,
    Column("id", Integer, primary_key=True),
    # NULL for the shoe of a table that several callers share.
    Column("caller_id", ForeignKey("callers.id")),
    Column("game", Text, nullable=False),
    Column("decks", Integer, CheckConstraint("decks > 0"), nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("seal", Text, nullable=False),
    # NULL until the first hand is dealt from it, then what the caller said, '' for nothing.
    Column("cut", Text),
    Column("opened", Integer, nullable=False),
    Column("closed", Integer),
    sqlite_autoincrement=True,
)
Index(
    "one_open_shoe_a_game",
    shoes.c.caller_id,
    shoes.c.game,
    unique=True,
    sqlite_where=text("closed IS NULL"),
)
Index(
    "one_open_shoe_a_table",
    shoes.c.game,
    unique=True,
    sqlite_where=text("closed IS NULL AND caller_id IS NULL"),
)

rounds = Table(
    "rounds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("game", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("call_id", ForeignKey("calls.id"), nullable=False),
    Column("shoe_id", ForeignKey("shoes.id")),
    # How many cards of the shoe were gone before this hand.
    Column("start_position", Integer, nullable=False),
    Column("bet", Integer, CheckConstraint("bet > 0"), nullable=False),
    # What a coin was worth when the hand was dealt.
    Column("coin", Integer, nullable=False),
    Column("rules", Text, nullable=False),
    Column("dealt", Integer, nullable=False),
    # What was settled so far; the transfers of the hand must add up to these.
    Column("lost", Integer, nullable=False),
    Column("returned", Integer, nullable=False),
    Column("won", Integer, nullable=False),
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
    Column("seat", Integer, CheckConstraint("seat > 0"), server_default=text("1"), nullable=False),
    # The round of the first seat at a table of several, which keeps the journal for all of them;
    # NULL in that one itself, and where one plays alone.
    Column("lead", ForeignKey("rounds.id")),
    CheckConstraint("(settled IS NULL) = (outcome IS NULL)", name="settled_with_an_outcome"),
    sqlite_autoincrement=True,
)
Index(
    "one_round_in_play",
    rounds.c.caller_id,
    unique=True,
    sqlite_where=text("settled IS NULL"),
)
Index("turns_of_a_day", rounds.c.caller_id, rounds.c.day, rounds.c.unit, rounds.c.game)
Index("rounds_of_a_shoe", rounds.c.shoe_id)
Index(
    "one_round_a_seat",
    rounds.c.lead,
    rounds.c.seat,
    unique=True,
    sqlite_where=text("lead IS NOT NULL"),
)

# Running totals of hands that are over, those apart that are void: a trigger adds each hand to
# both, so that who won most is known without reading a million hands. What a caller won and lost at
# a game in a day, and ever, in `unit`.


def _totals(name: str, *days: Column[str]) -> Table:
    """Lay a table of how many hands somebody has played of what, and what they lost and won."""
    return Table(
        name,
        metadata,
        *days,
        Column("caller_id", ForeignKey("callers.id"), primary_key=True),
        Column("game", Text, primary_key=True),
        Column("unit", Text, primary_key=True),
        Column("hands", Integer, nullable=False),
        Column("lost", Integer, nullable=False),
        Column("won", Integer, nullable=False),
        sqlite_with_rowid=False,
    )


results = _totals("results", Column("day", Text, primary_key=True))
results_ever = _totals("results_ever")

actions = Table(
    "actions",
    metadata,
    Column("round_id", ForeignKey("rounds.id"), primary_key=True),
    Column("sequence", Integer, CheckConstraint("sequence >= 0"), primary_key=True),
    Column("action", Text, nullable=False),
    Column("cards_used", Integer, nullable=False),
    Column("call_id", ForeignKey("calls.id")),
    Column("at", Integer, nullable=False),
    sqlite_with_rowid=False,
)

transfers = Table(
    "transfers",
    metadata,
    Column("id", Integer, primary_key=True),
    # The row is number `place` of the `size` rows of its entry, which follow one another.
    Column("place", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("entry", Integer, Computed("id - place + 1", persisted=False)),
    Column("at", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("amount", Integer, CheckConstraint("amount > 0"), nullable=False),
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
    sqlite_autoincrement=True,
)
Index("transfers_from", transfers.c.source)
Index("transfers_to", transfers.c.target)
Index(
    "transfers_of_a_round",
    transfers.c.round_id,
    sqlite_where=text("round_id IS NOT NULL"),
)

days = Table(
    "days",
    metadata,
    Column("caller_id", ForeignKey("callers.id"), primary_key=True),
    Column("day", Text, primary_key=True),
    # The last transfer before the day began for this caller: what he won is counted from here.
    Column("after", Integer, nullable=False),
    # The day's grant; NULL when the board grants nothing.
    Column("grant_id", ForeignKey("transfers.id"), unique=True),
    # Seconds on the table since before the day: what of them is left of an earlier day's minutes,
    # and is forfeited when it comes back.
    Column(
        "standing",
        Integer,
        CheckConstraint("standing >= 0"),
        server_default=text("0"),
        nullable=False,
    ),
    # Seconds that count as earned on the day beside its transfers: what was earned before it and
    # stood on the table when it began, and what has left `standing` since (to its owner that is
    # neither a gain nor a loss, and the transfers say it is one).
    Column(
        "carried",
        Integer,
        CheckConstraint("carried >= 0"),
        server_default=text("0"),
        nullable=False,
    ),
    # Seconds that were owed on a loan when the day began, before its grant paid any of it. NULL for
    # days of before the first release, on which more was lent whatever was owed.
    Column("owed", Integer, CheckConstraint("owed >= 0")),
    sqlite_with_rowid=False,
)

# Days that a wrong clock began, and that were taken back: their grants are accounted for here.
mended_days = Table(
    "mended_days",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("day", Text, nullable=False),
    Column("grant_id", ForeignKey("transfers.id"), unique=True),
    # When it was taken back.
    Column("mended", Integer, nullable=False),
    sqlite_autoincrement=True,
)

# What is believed of the wall clock, a row for each boot of the machine: see clock.Belief.
clocks = Table(
    "clocks",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("boot", Text, nullable=False, unique=True),
    Column("zero", Float, nullable=False),
    Column("since", Float, nullable=False),
    Column("certain", Integer, CheckConstraint("certain IN (0, 1)"), nullable=False),
    Column("sure", Float, nullable=False),
    Column("leap", Float),
    Column("agreed", Float),
    Column("noted", Float),
    Column("after", Integer),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    # The number of the record: that of the transfer to `external` which it tells of.
    Column("number", ForeignKey("transfers.id"), primary_key=True),
    Column("name", Text, nullable=False),
    Column("minutes", Integer, CheckConstraint("minutes > 0"), nullable=False),
    Column("source", Text, nullable=False),
    Column("at", Integer, nullable=False),
    # waiting -> appending -> appended, or -> doubtful when only the sysop can tell.
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('waiting', 'appending', 'appended', 'doubtful')"),
        nullable=False,
    ),
    # What the file looked like before the append, as thebank/outbox.py wants to find it again.
    Column("mark", Text),
    Column("appended", Integer),
)
Index("outbox_to_do", outbox.c.number, sqlite_where=text("state <> 'appended'"))

notices = Table(
    "notices",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("caller_id", ForeignKey("callers.id"), nullable=False),
    Column("at", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("shown", Integer),
    sqlite_autoincrement=True,
)
Index("notices_to_show", notices.c.caller_id, sqlite_where=text("shown IS NULL"))

sysop_log = Table(
    "sysop_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Integer, nullable=False),
    # Who did it, or what: a co-sysop's name, "the command line", "import".
    Column("by", Text, nullable=False),
    # Whom it was done to.
    Column("caller_id", ForeignKey("callers.id")),
    Column("what", Text, nullable=False),
    sqlite_autoincrement=True,
)

imports = Table(
    "imports",
    metadata,
    Column("id", Integer, primary_key=True),
    # Where other programs write the file, every link followed; the name it was taken over under,
    # which no other file ever had; and that of its .BAK.
    Column("path", Text, nullable=False),
    Column("taken", Text, nullable=False),
    Column("kept", Text),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('reading', 'taking', 'taken', 'keeping', 'kept', 'closed')"),
        nullable=False,
    ),
    # How far it was read: bytes, ends of lines, and what the last of these bytes were.
    Column("bytes", Integer, CheckConstraint("bytes >= 0"), nullable=False),
    Column("lines", Integer, CheckConstraint("lines >= 0"), nullable=False),
    Column("recent", Text, nullable=False),
    Column("changed", Integer, nullable=False),
    sqlite_autoincrement=True,
)
Index("imports_to_do", imports.c.path, sqlite_where=text("state <> 'closed'"))
Index("imports_kept", imports.c.kept)

import_lines = Table(
    "import_lines",
    metadata,
    Column("import_id", ForeignKey("imports.id"), primary_key=True),
    # The byte of the file at which the line begins.
    Column("start", Integer, CheckConstraint("start >= 0"), primary_key=True),
    # Lines count from 1, as an editor shows them.
    Column("line", Integer, CheckConstraint("line > 0"), nullable=False),
    # What it moved; or why it was refused, the line made fit for reading, and whether the .ERR
    # file is known to have it.
    Column("transfer_id", ForeignKey("transfers.id"), unique=True),
    Column("reason", Text),
    Column("text", Text),
    Column("told", Integer, CheckConstraint("told IN (0, 1)"), nullable=False),
    CheckConstraint("(transfer_id IS NULL) <> (reason IS NULL)", name="applied_or_refused"),
    sqlite_with_rowid=False,
)
Index("import_lines_to_tell", import_lines.c.import_id, sqlite_where=text("told = 0"))

# A restore begins a new generation of the books; the first one has no row.
generations = Table(
    "generations",
    metadata,
    Column("number", Integer, CheckConstraint("number > 1"), primary_key=True),
    Column("at", Integer, nullable=False),
    # When the copy was taken that was restored; NULL where nobody knows.
    Column("copied", Integer),
    # The last number that was given to a transfer before, and the first of this generation.
    Column("after", Integer, nullable=False),
    Column("first", Integer, nullable=False),
    # The first number of this generation in every table that has numbers: a JSON object.
    Column("numbers", Text, nullable=False),
    # How many open shoes, hands and calls were closed.
    Column("shoes", Integer, nullable=False),
    Column("hands", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    # Who restored: "the command line", or "the board" where a file was put in place by hand.
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
    Column("commits", Integer, server_default=text("0"), nullable=False),
)

GENERATION_TRIGGERS = {
    "generations_are_never_changed": """
        CREATE TRIGGER generations_are_never_changed BEFORE UPDATE ON generations BEGIN
            SELECT RAISE(ABORT, 'generations are only ever added, never changed');
        END""",
    "generations_are_never_deleted": """
        CREATE TRIGGER generations_are_never_deleted BEFORE DELETE ON generations BEGIN
            SELECT RAISE(ABORT, 'generations are only ever added, never deleted');
        END""",
}


TRIGGERS = {
    "transfers_move_balances": """
        CREATE TRIGGER transfers_move_balances AFTER INSERT ON transfers BEGIN
            UPDATE accounts SET balance = balance - NEW.amount WHERE id = NEW.source;
            UPDATE accounts SET balance = balance + NEW.amount WHERE id = NEW.target;
        END""",
    "transfers_keep_to_one_unit": """
        CREATE TRIGGER transfers_keep_to_one_unit BEFORE INSERT ON transfers
        WHEN (SELECT unit FROM accounts WHERE id = NEW.source)
             <> (SELECT unit FROM accounts WHERE id = NEW.target)
        BEGIN
            SELECT RAISE(ABORT, 'units never mix in one transfer');
        END""",
    "transfers_are_never_changed": """
        CREATE TRIGGER transfers_are_never_changed BEFORE UPDATE ON transfers BEGIN
            SELECT RAISE(ABORT, 'transfers are only ever added, never changed');
        END""",
    "transfers_are_never_deleted": """
        CREATE TRIGGER transfers_are_never_deleted BEFORE DELETE ON transfers BEGIN
            SELECT RAISE(ABORT, 'transfers are only ever added, never deleted');
        END""",
}

_ADD_A_HAND = """
    INSERT INTO results (day, caller_id, game, unit, hands, lost, won)
    VALUES (NEW.day, NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (day, caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won;
    INSERT INTO results_ever (caller_id, game, unit, hands, lost, won)
    VALUES (NEW.caller_id, NEW.game, NEW.unit, 1, NEW.lost, NEW.won)
    ON CONFLICT (caller_id, game, unit) DO UPDATE SET
        hands = hands + 1, lost = lost + excluded.lost, won = won + excluded.won;"""
RESULT_TRIGGERS = {
    "rounds_settled_at_once_count": f"""
        CREATE TRIGGER rounds_settled_at_once_count AFTER INSERT ON rounds
        WHEN NEW.settled IS NOT NULL AND NEW.outcome <> 'void'
        BEGIN {_ADD_A_HAND}
        END""",
    "rounds_that_are_settled_count": f"""
        CREATE TRIGGER rounds_that_are_settled_count AFTER UPDATE OF settled ON rounds
        WHEN OLD.settled IS NULL AND NEW.settled IS NOT NULL AND NEW.outcome <> 'void'
        BEGIN {_ADD_A_HAND}
        END""",
}


def stamp(at: datetime) -> int:
    """Turn an aware instant into whole seconds since 1970, rounded down."""
    return int(at.timestamp() // 1)


def instant(seconds: int) -> datetime:
    """Turn stored seconds since 1970 back into an aware UTC instant."""
    return datetime.fromtimestamp(seconds, UTC)


# The tables of the visits of other boards' callers. With them `metadata` is whole.
#
# Amounts are seconds. What the columns of a visit are, `hosts_visit` says.

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
    # What was owed on a loan then, and what of the caller's own paid it. NULL in visits of
    # before the first release: loans were not paid at the exit.
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
