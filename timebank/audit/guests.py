"""The audit of the visits of other boards' callers, and of what their hosts were given back.

Every visit is reckoned anew from what it was given, and compared with the transfers of its call. As
in the rest of the audit, nothing that the schema promises is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from timebank.audit.finding import Finding
from timebank.ledger.database import Desk
from timebank.ledger.visit import Parting, Visit
from timebank.words import MINUTE


def check_hosts(desk: Desk) -> Iterator[Finding]:
    """Name every visit, debt, claim and caller of a board that is not as it should be."""
    yield from _check_callers(desk)
    yield from _check_calls(desk)
    yield from _check_transfers(desk)
    yield from _check_without_call(desk)
    yield from _check_order(desk)
    yield from _check_given(desk)
    yield from _check_kept(desk)
    yield from _check_shown(desk)


# Callers of boards who could log on by themselves, or have time while they are on no call.
CALLERS = """
SELECT c.id, c.name, c.password_hash <> '', instr(c.name, '@') = 0, (
    SELECT coalesce(sum(a.balance), 0) FROM accounts a
    WHERE a.caller_id = c.id AND a.unit = 'second' AND a.kind IN ('online', 'held')
        AND NOT EXISTS (SELECT 1 FROM calls k WHERE k.caller_id = c.id AND k.closed IS NULL))
FROM callers c WHERE c.board IS NOT NULL
"""
GRANTED = """
SELECT t.id FROM transfers t
JOIN accounts a ON a.id IN (t.source, t.target) JOIN callers c ON c.id = a.caller_id
WHERE (t.kind IN ('grant', 'forfeit', 'carry') AND c.board IS NOT NULL)
    OR (t.kind IN ('brought', 'taken home', 'gain', 'given back', 'put back', 'kept', 'loan paid')
        AND c.board IS NULL)
"""


def _check_callers(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for number, name, password, plain, left in run(CALLERS):
        where = f"caller {number}"
        if password:
            yield Finding(where, f"{name} is of another board, and has a password here.")
        if plain:
            yield Finding(where, f"{name} is of another board, and has the name of one of ours.")
        if left:
            yield Finding(where, f"{name} is of another board and on no call, and has {left} left.")
    for number in run(GRANTED).scalars():
        yield Finding(f"transfer {number}", "It is of a kind that its caller can have none of.")


CALLS = """
SELECT k.id, v.id, k.closed IS NOT NULL, v.closed IS NOT NULL
FROM calls k JOIN callers c ON c.id = k.caller_id LEFT JOIN visits v ON v.call_id = k.id
WHERE (v.id IS NULL) <> (c.board IS NULL)
    OR (v.id IS NOT NULL AND (v.closed IS NULL) <> (k.closed IS NULL))
    OR v.caller_id <> k.caller_id
"""


def _check_calls(desk: Desk) -> Iterator[Finding]:
    for call, visit, over, left in desk.connection.exec_driver_sql(CALLS):
        if visit is None:
            yield Finding(f"call {call}", "It is of another board's caller, and no visit.")
        elif over != left:
            which = "is over, and the visit is" if over else "is open, and the visit is"
            yield Finding(f"visit {visit}", f"Its call {call} {which} not.")
        else:
            yield Finding(f"visit {visit}", f"Call {call} is not that of its caller.")


# What the rows of each call add up to, beside what the visit says.
PURSE = "('online', 'held', 'stake')"
SAVINGS = "('bank', 'loan')"
OWN = "t.kind NOT IN ('gain', 'put back', 'kept', 'loan paid')"
TRANSFERS = f"""
SELECT v.id, v.closed IS NOT NULL, v.brought + coalesce(v.also_brought, 0), v.own, v.elapsed,
    v.result, coalesce(v.loan_paid, 0), v.gain, v.put_back, v.taken_home, v.left_staked - v.staked,
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'brought'), 0),
    coalesce(sum(t.amount) FILTER (WHERE s.kind IN {SAVINGS} AND g.kind IN {PURSE} AND {OWN}), 0)
    - coalesce(sum(t.amount) FILTER (WHERE s.kind IN {PURSE} AND g.kind IN {SAVINGS} AND {OWN}), 0),
    coalesce(sum(t.amount) FILTER (WHERE g.kind = 'elapsed'), 0),
    coalesce(sum(t.amount) FILTER (WHERE s.kind = 'house' AND s.unit = 'second'), 0)
    - coalesce(sum(t.amount) FILTER (WHERE g.kind = 'house' AND g.unit = 'second'), 0)
    - coalesce(sum(t.amount) FILTER (WHERE g.kind = 'forfeit' AND {OWN}), 0),
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'loan paid' AND s.kind IN {PURSE}), 0),
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'gain'), 0),
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'put back'), 0),
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'taken home'), 0),
    coalesce(sum(t.amount) FILTER (WHERE g.kind = 'stake' AND g.unit = 'second'), 0)
    - coalesce(sum(t.amount) FILTER (WHERE s.kind = 'stake' AND s.unit = 'second'), 0)
FROM visits v LEFT JOIN transfers t ON t.call_id = v.call_id
LEFT JOIN accounts s ON s.id = t.source LEFT JOIN accounts g ON g.id = t.target
WHERE v.call_id IS NOT NULL GROUP BY v.id
"""
COLUMNS = (
    *("brought", "of his own", "used", "won", "paid on the loan", "gained", "put back"),
    *("taken home", "more on the table"),
)


def _check_transfers(desk: Desk) -> Iterator[Finding]:
    """Compare every visit with the transfers of its call."""
    for number, over, *amounts in desk.connection.exec_driver_sql(TRANSFERS):
        said, moved = amounts[: len(COLUMNS)], amounts[len(COLUMNS) :]
        # While it is open, only what came in is known.
        for what, says, moves in list(zip(COLUMNS, said, moved, strict=True)):
            if not over and what not in COLUMNS[:2]:
                continue
            if says != moves:
                yield Finding(
                    f"visit {number}", f"{says} is {what}, its transfers add up to {moves}."
                )


WITHOUT_CALL = """
SELECT c.id, coalesce(v.home, 0), coalesce(v.saved, 0), coalesce(t.home, 0), coalesce(t.saved, 0)
FROM callers c
LEFT JOIN (SELECT caller_id, sum(taken_home) AS home,
        sum(coalesce(loan_paid, 0) + gain + put_back) AS saved FROM visits
    WHERE call_id IS NULL GROUP BY caller_id) v ON v.caller_id = c.id
LEFT JOIN (SELECT s.caller_id, sum(t.amount) FILTER (WHERE t.kind = 'taken home') AS home,
        sum(t.amount) FILTER (WHERE t.kind <> 'taken home') AS saved
    FROM transfers t JOIN accounts s ON s.id = t.source
    WHERE t.call_id IS NULL AND s.kind IN ('online', 'held')
        AND t.kind IN ('taken home', 'gain', 'put back', 'loan paid')
    GROUP BY s.caller_id) t ON t.caller_id = c.id
WHERE coalesce(v.home, 0) <> coalesce(t.home, 0) OR coalesce(v.saved, 0) <> coalesce(t.saved, 0)
"""


def _check_without_call(desk: Desk) -> Iterator[Finding]:
    """Compare what hands brought to callers on no call with their visits, all together."""
    for caller_id, *amounts in desk.connection.exec_driver_sql(WITHOUT_CALL):
        yield Finding(
            f"caller {caller_id}",
            "What hands brought while he was on no call should be {} taken home and {} saved, and"
            " its transfers add up to {} and {}.".format(*amounts),
        )


# A debt as it may have been when a visit began or ended: what was shown to the host since is left
# open, for claims are not told apart from visits of the same second.
ORDER = f"""
SELECT v.*, c.board,
    (SELECT coalesce(sum(b.debt_added - b.debt_paid), 0) FROM visits b WHERE b.id < v.id
        AND b.caller_id = v.caller_id AND b.day = v.day AND b.closed IS NOT NULL) AS debts,
    (SELECT coalesce(-sum(g.minutes), 0) * {MINUTE} FROM given_back g
        WHERE g.caller_id = v.caller_id AND g.day = v.day AND g.minutes < 0
        AND g.state = 'written') AS shown_since
FROM visits v JOIN callers c ON c.id = v.caller_id ORDER BY v.caller_id, v.id
"""


BEGUN = ("clock", "debt", "staked", "standing", "standing_own", "brought", "own")
ENDED = ("elapsed", "result", "owed", *Parting._fields[2:])
LOAN = ("loan", "loan_paid")


def _ended(row: Any) -> list[object]:
    """Give the amounts that a visit has when it is over."""
    if row["closed"] is None:
        return []
    ended: tuple[str, ...] = ENDED
    if row["loan"] is None and row["loan_paid"] is None:  # over before they were written down
        ended = tuple(name for name in ENDED if name not in LOAN)
    return [row[name] for name in ended]


def _check_order(desk: Desk) -> Iterator[Finding]:
    """Reckon every visit anew, and see that each goes on where the one before it ended."""
    before: Any = None
    for row in desk.connection.exec_driver_sql(ORDER).mappings():
        where = f"visit {row['id']}"
        first = before is None or before["caller_id"] != row["caller_id"]
        left = (0, 0) if first else (before["left_standing"], before["left_own"])
        if (row["standing"], row["standing_own"]) != left:
            yield Finding(where, "It does not begin with what stood on the table before it.")
        before = row
        begun = [row[name] for name in BEGUN]
        if not all(isinstance(amount, int) for amount in (*begun, *_ended(row))):
            yield Finding(where, "Some of its amounts are no numbers.")
            continue
        if row["brought"] > max(0, row["clock"] - row["debt"] - row["standing"]):
            yield Finding(where, f"{row['brought']} was brought, and so much was not there.")
        if row["closed"] is None:
            continue
        lowest = max(0, row["debts"] - row["shown_since"])
        if not lowest <= row["owed"] <= max(0, row["debts"]):
            yield Finding(where, f"The debt of {row['day']} was {row['debts']}, not {row['owed']}.")
        if any(row[name] != value for name, value in _reckoned(row).items()):
            yield Finding(where, "What became of it is not what its amounts come to.")


def _reckoned(row: Any) -> dict[str, int]:
    """Part a visit again, by the names of its columns."""
    given = ("caller_id", "call_id", "board", "staked", "standing", "standing_own")
    more = ("clock", "brought", "own")
    visit = Visit(*(row[name] for name in given), **{name: row[name] for name in more})
    parts = ("loan_paid", "gain", "put_back", "taken_home", "left_staked")
    left = sum(row[name] or 0 for name in parts)
    parting = visit.part(
        *(left - row["also_brought"], row["left_staked"], row["elapsed"], row["owed"]),
        row["loan"] or 0,
    )
    result = parting.gained - (visit.staked - visit.standing - visit.standing_own)
    names: tuple[str, ...] = parting._fields[1:]
    if row["loan"] is None:  # over before it was written down
        names = tuple(name for name in names if name not in LOAN)
    return {"result": result, **{name: getattr(parting, name) for name in names}}


GIVEN = f"""
SELECT t.id, t.amount, b.number, b.minutes FROM transfers t
LEFT JOIN given_back b ON b.transfer_id = t.id
WHERE t.kind = 'given back' AND t.amount IS NOT b.minutes * {MINUTE}
"""
STRANGE = """
SELECT b.number FROM given_back b LEFT JOIN transfers t ON t.id = b.transfer_id
LEFT JOIN accounts s ON s.id = t.source
WHERE b.transfer_id IS NOT NULL AND (t.kind IS NOT 'given back' OR s.caller_id <> b.caller_id)
"""


def _check_given(desk: Desk) -> Iterator[Finding]:
    """Compare what hosts are owed with the transfers that say so."""
    run = desk.connection.exec_driver_sql
    for number, amount, row, minutes in run(GIVEN):
        if row is None:
            yield Finding(f"transfer {number}", "No row tells that it is to be given back.")
        else:
            yield Finding(
                f"given back {row}",
                f"It says {minutes} minutes, transfer {number} {amount} seconds.",
            )
    for number in run(STRANGE).scalars():
        yield Finding(f"given back {number}", "It does not belong to its transfer.")


KEPT = f"""
SELECT t.id, b.number FROM transfers t LEFT JOIN given_back b ON b.kept_id = t.id
WHERE t.kind = 'kept' AND t.amount IS NOT b.minutes * {MINUTE}
"""
NOT_KEPT = """
SELECT b.number FROM given_back b LEFT JOIN transfers t ON t.id = b.kept_id
WHERE (b.state = 'kept' AND b.minutes > 0) <> (t.kind IS 'kept')
"""


def _check_kept(desk: Desk) -> Iterator[Finding]:
    """Compare what came back from hosts that could not be given it with its transfers."""
    run = desk.connection.exec_driver_sql
    for number, row in run(KEPT):
        told = "no row tells why" if row is None else f"row {row} says another amount"
        yield Finding(f"transfer {number}", f"It came back from a host, and {told}.")
    for number in run(NOT_KEPT).scalars():
        yield Finding(f"given back {number}", "Whether it is kept here, its transfer does not say.")


SHOWN = f"""
SELECT b.caller_id, b.day, -sum(b.minutes) * {MINUTE} AS shown, (
    SELECT coalesce(sum(debt_added), 0) FROM visits v
    WHERE v.caller_id = b.caller_id AND v.day = b.day) AS lost
FROM given_back b WHERE b.minutes < 0 AND b.state <> 'kept'
GROUP BY b.caller_id, b.day HAVING shown > lost
"""


def _check_shown(desk: Desk) -> Iterator[Finding]:
    for caller_id, day, shown, lost in desk.connection.exec_driver_sql(SHOWN):
        yield Finding(
            f"caller {caller_id}", f"On {day} he lost {lost}, and his host was shown {shown}."
        )
