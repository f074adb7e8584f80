"""The board's speed, as ratios to bare asyncio and raw sqlite3 in the same run."""
