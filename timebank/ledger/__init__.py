"""The books: tables, chain, entries and transfers, the one writer, and the file they are in.

The only function that moves time is `transfers.transfer`. Uses `names` and `settings`.
"""
