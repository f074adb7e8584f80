"""How fast the board is, as ratios against bare asyncio and raw sqlite3 in the same run."""
