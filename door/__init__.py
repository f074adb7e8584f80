"""The board: who calls, how their bytes arrive, the lobby and the tables.

Rooms, each using only those before it: `lines` and `dropfiles`; `games/engine` and the rules of
each game; `config`; `defence`; `call`; `lobby`; the tables of `games`; `session`; `server`; `run`;
`cli`. Below them `clock.py` and `wording.py`.
"""
