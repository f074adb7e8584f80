"""Who serves from these books, and what one server has for itself for a while.

The rows are the truth, and the database's clock is the one that counts; messages between servers
only make things quick.
"""
