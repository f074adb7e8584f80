"""The books checked: accounts, chain, rounds, guests, loans, tournaments.

Uses `callers` and `ledger`.
"""
