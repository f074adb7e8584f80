"""A call from the first byte to the last: log-on, menu, the evening, the goodbye.

Uses the tables, `lobby` and `call`.
"""
