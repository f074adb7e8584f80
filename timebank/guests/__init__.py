"""Callers of other boards: what they take home, what their hosts are given, claims in doubt.

Uses `ledger`; the minutes that are the host's are reckoned there (`ledger/visit.py`).
"""
