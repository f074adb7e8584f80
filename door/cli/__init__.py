"""The `door` command. Uses every room; loads each command when it is called."""
