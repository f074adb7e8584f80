"""The board: who calls, how their bytes arrive, the lobby and the tables."""
