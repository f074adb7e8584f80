"""The audit of the hands: their transfers, their stakes, their journals, and who sits together.

As in the rest of the audit, nothing that the schema promises is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator

from timebank.audit.finding import Finding
from timebank.callers.standings import differing
from timebank.ledger.database import Desk


def check_rounds(desk: Desk) -> Iterator[Finding]:
    """Name every hand whose transfers, stake, journal or table are not as they should be."""
    checks = (_check_transfers, _check_stakes, _check_actions, _check_seats, _check_shoes)
    wrong = [finding for check in checks for finding in check(desk)]
    yield from wrong
    if not wrong:  # totals of hands that are wrong would be wrong as well
        yield from _check_totals(desk)


# What callers stake out of, and what they play against.
PURSES = ("online", "bankroll", "tab")
BANKS = ("house", "casino")
# What the rows of each hand add up to, beside what the hand says of itself.
ROUNDS = f"""
SELECT r.id, r.bet, r.lost, r.returned, r.won, r.settled IS NOT NULL, r.outcome,
    coalesce(sum(t.amount) FILTER (WHERE g.kind = 'stake' AND t.kind = 'stake'), 0),
    coalesce(sum(t.amount) FILTER (WHERE g.kind = 'stake'), 0),
    coalesce(sum(t.amount) FILTER (WHERE s.kind = 'stake' AND g.kind IN {BANKS}), 0),
    coalesce(sum(t.amount) FILTER (WHERE s.kind = 'stake' AND g.kind IN {PURSES}), 0),
    coalesce(sum(t.amount) FILTER (WHERE s.kind IN {BANKS} AND g.kind IN {PURSES}), 0),
    coalesce(sum(t.amount) FILTER (WHERE s.kind = 'stake' AND g.kind IN ('forfeit', 'mint')), 0),
    count(*) FILTER (WHERE coalesce(s.caller_id, g.caller_id) <> r.caller_id),
    count(*) FILTER (WHERE coalesce(s.game, g.game, r.game) <> r.game),
    count(*) FILTER (WHERE s.unit <> r.unit OR g.unit <> r.unit)
FROM rounds r
LEFT JOIN transfers t ON t.round_id = r.id
LEFT JOIN accounts s ON s.id = t.source
LEFT JOIN accounts g ON g.id = t.target
GROUP BY r.id
"""


def _check_transfers(desk: Desk) -> Iterator[Finding]:
    """Compare every hand's transfers with its result."""
    for row in desk.connection.exec_driver_sql(ROUNDS):
        number, bet, lost, returned, won, settled, outcome = row[:7]
        first, staked, paid_lost, paid_returned, paid_won, forfeited, *foreign = row[7:]
        where = f"hand {number}"
        if first != bet:
            yield Finding(where, f"Its bet is {bet}, the transfers of the bet add up to {first}.")
        for word, said, moved in (
            ("lost", lost, paid_lost),
            ("returned", returned, paid_returned),
            ("won", won, paid_won),
        ):
            if said != moved:
                yield Finding(where, f"{said} was {word}, its transfers add up to {moved}.")
        standing = staked - paid_lost - paid_returned - forfeited
        if settled and standing:
            yield Finding(where, f"It is settled, and {standing} still stands on the table.")
        if not settled and standing <= 0:
            yield Finding(where, f"It is in play with a stake of {standing}.")
        if forfeited and outcome != "void":
            yield Finding(where, f"{forfeited} of its stake was forfeited, and it is not void.")
        strangers, others, units = foreign
        if strangers or others:
            yield Finding(where, "Some of its transfers are another caller's or another game's.")
        if units:
            yield Finding(where, "Some of its transfers are in another unit.")


STAKES = """
SELECT a.caller_id, a.balance, (
    SELECT coalesce(sum(CASE WHEN t.target = a.id THEN t.amount ELSE -t.amount END), 0)
    FROM rounds r JOIN transfers t ON t.round_id = r.id AND a.id IN (t.source, t.target)
    WHERE r.caller_id = a.caller_id AND r.settled IS NULL) AS standing
FROM accounts a WHERE a.kind = 'stake' AND a.balance <> standing
"""


def _check_stakes(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for caller_id, balance, standing in run(STAKES):
        yield Finding(
            f"caller {caller_id}",
            f"The stake account holds {balance}, the hands in play have {standing} on the table.",
        )
    for number in run(
        "SELECT t.id FROM transfers t JOIN accounts a ON a.id IN (t.source, t.target)"
        " WHERE a.kind = 'stake' AND t.round_id IS NULL"
    ).scalars():
        yield Finding(f"transfer {number}", "It moves a stake and names no hand.")


def _check_actions(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for number, count, last in run(
        "SELECT r.id, count(a.sequence) AS taken, coalesce(max(a.sequence), -1) AS last"
        " FROM rounds r LEFT JOIN actions a ON a.round_id = r.id"
        " WHERE r.lead IS NULL GROUP BY r.id HAVING taken = 0 OR taken <> last + 1"
    ):
        yield Finding(f"hand {number}", f"Its journal has {count} actions, the last is {last}.")
    for number, lead in run(
        "SELECT DISTINCT r.id, r.lead FROM rounds r JOIN actions a ON a.round_id = r.id"
        " WHERE r.lead IS NOT NULL"
    ):
        yield Finding(f"hand {number}", f"It has a journal, and that of hand {lead} is its own.")


# What all who sit together have in common; each has a seat behind that of the lead.
STRANGERS = """
SELECT r.id, r.lead, r.seat <= l.seat FROM rounds r JOIN rounds l ON l.id = r.lead
WHERE r.seat <= l.seat OR l.lead IS NOT NULL OR r.caller_id = l.caller_id OR (
    r.game, r.unit, r.coin, r.rules, r.dealt, r.start_position, coalesce(r.shoe_id, 0))
    <> (l.game, l.unit, l.coin, l.rules, l.dealt, l.start_position, coalesce(l.shoe_id, 0))
ORDER BY r.id
"""
# Tables that are over for some of their seats only, those apart whose callers were deleted.
UNEVEN = """
SELECT coalesce(lead, id) AS first FROM rounds WHERE outcome IS NOT 'void'
GROUP BY first HAVING count(DISTINCT coalesce(settled, -1)) > 1 ORDER BY first
"""


def _check_seats(desk: Desk) -> Iterator[Finding]:
    """Compare the rounds of each table with the one that keeps their journal."""
    run = desk.connection.exec_driver_sql
    for number, lead, before in run(STRANGERS):
        if before:
            yield Finding(f"hand {number}", f"Its seat is not behind that of hand {lead}.")
        else:
            yield Finding(f"hand {number}", f"It cannot be played together with hand {lead}.")
    for number in run(UNEVEN).scalars():
        yield Finding(f"hand {number}", "It is not over for all who sit at it at the same time.")


def _check_shoes(desk: Desk) -> Iterator[Finding]:
    for number, shoe in desk.connection.exec_driver_sql(
        "SELECT r.id, s.id FROM rounds r JOIN shoes s ON s.id = r.shoe_id"
        " WHERE s.game <> r.game OR s.caller_id <> r.caller_id ORDER BY r.id"
    ):
        yield Finding(f"hand {number}", f"Shoe {shoe}, from which it was dealt, is not its own.")


def _check_totals(desk: Desk) -> Iterator[Finding]:
    for total in differing(desk):
        yield Finding(
            str(total), "Not what its hands add up to: `timebank maintain` counts them anew."
        )
