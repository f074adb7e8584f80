"""Reports on the books as text, as sums and for other programs. They only read.

Uses `guests` and `ledger`.
"""
