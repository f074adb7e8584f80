"""The servers of some books, and the leases that they hold.

The rows in the books decide, by the database's clock. Messages between servers only save time.
"""
