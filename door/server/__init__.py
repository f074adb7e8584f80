"""The server: listeners, leases, housekeeping, and the sysop's hand on it. Uses `session`."""
