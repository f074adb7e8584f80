"""Minutes as money: a double-entry ledger of online time over SQLite; no network, no asyncio."""
