"""The rules of the games, pure: no I/O, no clock, no database, no purse, no randomness."""
