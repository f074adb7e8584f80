"""What an entry in the making asks of the database, ready beforehand: see posting.py."""

from __future__ import annotations

from timebank.chain import HEAD_COLUMNS

# All that an operation must know, in one row and, as JSON, in one column: SQLAlchemy looks at every
# column of every result anew, which for these two dozen took longer than SQLite took to find them.
_READ = f"""
SELECT json_array(
    c.id, {{call}}, c.name, c.day, c.held_until, c.held_behind,
    online.id, online.balance, held.id, held.balance, bank.id, bank.balance,
    stake.id, stake.balance, loan.id, loan.balance,
    r.id, r.game, (SELECT max(sequence) FROM actions WHERE round_id = coalesce(r.lead, r.id)),
    (SELECT id FROM accounts WHERE kind = 'house' AND game = r.game AND unit = r.unit), r.unit,
    coalesce(r.lead, (SELECT lead FROM rounds WHERE lead = r.id)) IS NOT NULL,
    (SELECT json_group_object(game, turns) FROM
        (SELECT game, sum(hands) AS turns FROM
            (SELECT game, hands FROM results
             WHERE day = c.day AND caller_id = c.id AND unit = 'second'
             UNION ALL SELECT r.game, 1 WHERE r.day = c.day AND r.unit = 'second')
         GROUP BY game)),
    {HEAD_COLUMNS}, c.board, coalesce(
        (SELECT standing FROM days WHERE caller_id = c.id AND day = c.day), 0))
FROM {{start}}
JOIN accounts online ON online.caller_id = c.id AND online.unit = 'second'
    AND online.kind = 'online'
JOIN accounts held ON held.caller_id = c.id AND held.unit = 'second' AND held.kind = 'held'
JOIN accounts bank ON bank.caller_id = c.id AND bank.unit = 'second' AND bank.kind = 'bank'
JOIN accounts stake ON stake.caller_id = c.id AND stake.unit = 'second' AND stake.kind = 'stake'
JOIN accounts loan ON loan.caller_id = c.id AND loan.unit = 'second' AND loan.kind = 'loan'
LEFT JOIN rounds r ON r.caller_id = c.id AND r.settled IS NULL
"""
READ_CALL = (
    _READ.format(
        call="k.node, k.ticked, k.charged, k.waived",
        start="calls k JOIN callers c ON c.id = k.caller_id",
    )
    + "WHERE k.id = ? AND k.closed IS NULL"
)
READ_CALLER = (
    _READ.format(call="NULL, 0, 0, 0", start="callers c") + "WHERE c.id = ? AND c.deleted IS NULL"
)

# What the day brought to online, held and stake together, apart from the grant and the time used.
# The grant is what a loan left of it: the share that follows it was not paid out of earnings. ?6 is
# the last transfer before the day, ?7 what counts beside its transfers (model.days.carried).
EARNED = """
SELECT ?7 + (SELECT coalesce(sum(amount), 0) FROM transfers
        WHERE target IN (?1, ?2, ?3) AND source NOT IN (?1, ?2, ?3, ?4) AND id > ?6)
     - (SELECT coalesce(sum(amount), 0) FROM transfers
        WHERE source IN (?1, ?2, ?3) AND target NOT IN (?1, ?2, ?3, ?5) AND id > ?6
        AND (kind <> 'loan share' OR id - 1 NOT IN (SELECT grant_id FROM days
                                                    WHERE grant_id IS NOT NULL)))
"""
