"""A simulator of the whole board: many callers, seeded faults, and checked books at every step.

It runs the real server: board, sessions, tables, writer and a SQLite file. One seed decides
everything outside the program: clocks (`clock`), lines and their other ends (`wire`, `people`),
and the disk (`disk`). `story` is one seed's evening. `books`, `shown` and `told` hold the
invariants after every step. Modelled on TigerBeetle's simulator.
"""
