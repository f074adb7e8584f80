"""`door run`: one caller whom a host board hands over, served by a process of his own.

What stands here before `process` is light: it is loaded before the first screen, so it knows no
books. `process` and what it imports come while the caller looks at that screen.
"""
