"""The books checked: accounts, chain, rounds, guests, loans. Uses `callers` and `ledger`."""
