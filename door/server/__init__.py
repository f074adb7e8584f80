"""The server: listeners, leases, housekeeping and the sysop's commands. Uses `session`."""
