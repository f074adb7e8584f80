"""The `door` command. Uses every room; each command is loaded when it is asked for."""
