"""Calls and their leases, arrivals from other boards, and the board's clock.

Uses `guests`, `window`, `callers` and `ledger`.
"""
