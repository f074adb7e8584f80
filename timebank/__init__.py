"""Minutes as money: a double-entry ledger of online time over SQLite.

No network, no asyncio, and no game by name. Rooms, each using only those before it: `names`,
`settings`, `ledger`, `callers`, `audit`, `window`, `guests`, `calls`, `wagers`, `thebank`,
`reports`, `keeping`, `cli`; below them `errors.py`, `words.py`, `files.py` and `serving.py`. Every
operation is a plain function. Its first argument is a `Desk`, an open transaction, which the code
that opened it commits.
"""
