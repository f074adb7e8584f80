"""Callers of other boards: the end of a visit, payments to hosts, and claims in doubt.

Uses `ledger`, which computes the host's share of the time (`ledger/visit.py`).
"""
