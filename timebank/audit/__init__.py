"""The audit of the books: accounts, callers, days, chain, rounds, guests, loans, tournaments.

Uses `callers` and `ledger`.
"""
