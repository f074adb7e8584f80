"""Calls and their leases, arrivals from other boards, and how far the clock is believed.

Uses `guests`, `window`, `callers` and `ledger`.
"""
