"""The entry of an operation: the caller's state, the rules in their order, and the writer.

`reading.py` reads the caller, and `state.py` is the state that the rules see. `day.py` and
`cutoff.py` are the rules, which need no database. `posting.py` applies them and writes the entry.
"""
