"""The books in a file of SQLite: its transactions, its SQL, and what the file has been through.

No other room says a PRAGMA, names `sqlite_master` or reads an error code of SQLite's.
"""
