"""Who the callers are, and what is kept for each: notices, history, standings, powers.

Uses `ledger` and the rooms below it.
"""
