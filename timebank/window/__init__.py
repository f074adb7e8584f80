"""The operations of the bank and their limits. Uses `callers` and `ledger`."""
