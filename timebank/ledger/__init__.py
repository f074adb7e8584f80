"""The books: tables, chain, entries, transfers, the single writer, and the two database engines.

Only `transfers.transfer` moves time. This room uses `names` and `settings`.
"""
