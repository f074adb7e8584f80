"""THEBANK.EXT: records in files from other programs, and our records for theirs.

Uses `callers` and `ledger`.
"""
