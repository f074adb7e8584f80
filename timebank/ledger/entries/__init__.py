"""The entry of an operation: the state of its caller, the rules in their order, and its writer.

`reading.py` reads the caller, `state.py` is what the rules know, `day.py` and `cutoff.py` are the
rules, which need no database, and `posting.py` applies them and writes the entry.
"""
