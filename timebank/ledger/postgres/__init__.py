"""The books on a PostgreSQL server: transactions, SQL, and the look-up of broken COMMITs.

psycopg is an extra (`postgres`), imported only if such books are opened.
"""
