"""A simulator of the whole board: many callers, seeded faults, and the books checked at every step.

It runs the real server - board, sessions, tables, writer, a SQLite file - with everything that is
not the program replaced by something that one seed decides: clocks (`clock`), lines and what is at
their other end (`wire`, `people`), and the disk (`disk`). `story` is one seed's evening; `books`,
`shown` and `told` are what must hold after every step of it. After TigerBeetle's simulator.
"""
