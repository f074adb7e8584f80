"""UNIX bj, to the letter of its teletype."""
