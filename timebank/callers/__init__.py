"""The callers, and each caller's notices, history, standings, powers, limits and keys.

Uses `ledger` and the rooms below it.
"""
