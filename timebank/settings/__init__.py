"""The time bank's part of sysop.toml, and days and events in the board's zone. Uses `names`."""
