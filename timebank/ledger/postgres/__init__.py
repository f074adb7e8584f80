"""The books on a server of PostgreSQL: its transactions, its SQL, and what its COMMITs became.

psycopg is an extra (`postgres`), and is imported only where such books are opened.
"""
