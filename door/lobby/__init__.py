"""Log-on, menu, the bank's window, who is online."""
