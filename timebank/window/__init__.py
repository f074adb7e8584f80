"""What a caller or the sysop may do at the bank, and why not. Uses `callers` and `ledger`."""
