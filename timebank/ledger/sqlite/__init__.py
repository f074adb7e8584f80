"""The books in a SQLite file: transactions, SQL, and checks that the file is the right one.

Only this room uses PRAGMAs, `sqlite_master` and SQLite's error codes.
"""
