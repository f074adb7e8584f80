"""THEBANK.EXT: records that other programs write for us, and ours for them.

Uses `callers` and `ledger`.
"""
