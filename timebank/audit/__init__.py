"""The books checked: accounts, callers, days, chain, rounds, guests, loans, tournaments.

Uses `callers` and `ledger`.
"""
