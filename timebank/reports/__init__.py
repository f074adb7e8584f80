"""The books as text, summed up, and for other programs. Reads only.

Uses `guests` and `ledger`.
"""
